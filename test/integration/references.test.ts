import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openReferences, type ReferenceSettings } from '../../queues/sources/references.js';
import { SluiceError } from '../../src/core/problem.js';
import { makeCertificate, type TestCertificate } from '../support/certificate.js';
import { startHttpServer, type TestRequest, type TestServer } from '../support/http-server.js';

const run = promisify(execFile);
const digestOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const TEXT = '{"id":"run-1","text":"é"}\n';
const NOTHING = digestOf('');

let base: string;
let allowed: string;
let certificate: TestCertificate;
const servers: TestServer[] = [];

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'sluice-references-'));
  allowed = join(base, 'evidence');
  certificate = await makeCertificate(['DNS:evidence.example', 'DNS:*.evidence.example', 'DNS:localhost']);
  await mkdir(join(allowed, 'deep'), { recursive: true });
  await writeFile(join(allowed, 'run.json'), TEXT);
  await writeFile(join(allowed, 'deep', 'a run%.json'), TEXT);
  await writeFile(join(base, 'secret.json'), TEXT);
  await writeFile(join(`${allowed}-not`), TEXT);
  await symlink(join(base, 'secret.json'), join(allowed, 'out'));
  await symlink(base, join(allowed, 'up'));
  await symlink(join(allowed, 'run.json'), join(allowed, 'within'));
  await run('mkfifo', [join(allowed, 'pipe')]);
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
afterAll(async () => {
  await certificate?.remove();
  await rm(base, { recursive: true, force: true });
});

function settings(changed: Partial<ReferenceSettings> = {}): ReferenceSettings {
  return {
    folders: [allowed],
    hosts: [],
    allow_private: false,
    max_bytes: 1000,
    timeout: 5000,
    ...changed,
  };
}

interface Refusal {
  code: string;
  text: string;
}

async function refusal(reading: Promise<string>): Promise<Refusal> {
  try {
    await reading;
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return { code: error.code, text: JSON.stringify([error.message, error.problems]) };
  }
  throw new Error('it was read');
}

const fileUrl = (path: string) => pathToFileURL(join(allowed, path)).href;

describe('a file that a command refers to', () => {
  const read = (uri: string, sha256 = digestOf(TEXT), changed: Partial<ReferenceSettings> = {}) =>
    openReferences(settings(changed)).read({ uri, sha256 });

  it.each(['run.json', 'deep/a run%.json', 'within', 'deep/../run.json'])('is read: %s', async (path) => {
    expect(await read(fileUrl(path))).toBe(TEXT);
  });

  it('is read by a digest in capitals, and through a folder that is a link itself', async () => {
    const link = join(base, 'link');
    await symlink(allowed, link);
    const uri = pathToFileURL(join(link, 'run.json')).href;
    expect(await read(uri, digestOf(TEXT).toUpperCase(), { folders: [link] })).toBe(TEXT);
  });

  it.each([
    ['is a link out', () => fileUrl('out')],
    ['lies behind a link out', () => fileUrl('up/secret.json')],
    ['lies above', () => `file://${allowed}/../secret.json`],
    ['lies above in codes', () => `file://${allowed}/%2e%2e/secret.json`],
    ['lies beside, with a like name', () => `file://${allowed}-not`],
    ['is the folder itself', () => `file://${allowed}`],
    ['is not there', () => fileUrl('none')],
    ['is a device', () => 'file:///dev/zero'],
    ['is of the process', () => 'file:///proc/self/environ'],
  ])('that %s is refused, with the folders that are allowed', async (_, uri) => {
    const { code, text } = await refusal(read(uri()));
    expect(code).toBe('BAD_REFERENCE');
    expect(text).toContain('no such file in the folders that are allowed');
    expect(text).toContain(allowed);
  });

  it.each([
    ['a pipe, without waiting', () => fileUrl('pipe'), /no regular file/],
    ['a folder', () => fileUrl('deep'), /no regular file/],
    ['of another host', () => `file://other${allowed}/run.json`, /another host/],
    ['with a coded slash', () => `file://${allowed}/deep%2Frun.json`, /path of the file is none/],
    ['with a coded zero', () => `file://${allowed}/run.json%00`, /path of the file is none/],
  ])('%s is refused', async (_, uri, message) => {
    const { code, text } = await refusal(read(uri()));
    expect(code).toBe('BAD_REFERENCE');
    expect(text).toMatch(message);
  });

  it('is refused where no folder is allowed', async () => {
    const { code, text } = await refusal(read(fileUrl('run.json'), digestOf(TEXT), { folders: [] }));
    expect([code, text]).toEqual(['BAD_REFERENCE', expect.stringContaining('references.folders')]);
  });

  it('with another digest, too large, or not UTF-8 is refused', async () => {
    expect((await refusal(read(fileUrl('run.json'), NOTHING))).text).toContain('another digest');
    const bytes = Buffer.byteLength(TEXT);
    expect(await read(fileUrl('run.json'), digestOf(TEXT), { max_bytes: bytes })).toBe(TEXT);
    const small = await refusal(read(fileUrl('run.json'), digestOf(TEXT), { max_bytes: bytes - 1 }));
    expect(small.text).toContain('too large');
    const binary = Buffer.from([0xff, 0x00]);
    await writeFile(join(allowed, 'binary'), binary);
    expect((await refusal(read(fileUrl('binary'), digestOf(binary)))).text).toContain('UTF-8');
  });

  it('whose folder becomes a link out in between is never read from there', async () => {
    const [swapped, hidden] = [join(allowed, 'swapped'), join(base, 'hidden')];
    await mkdir(swapped);
    await mkdir(hidden);
    await writeFile(join(swapped, 'x'), 'good');
    await writeFile(join(hidden, 'x'), 'evil');
    let isOver = false;
    const swap = async () => {
      while (!isOver) {
        await rename(swapped, join(allowed, 'aside'));
        await symlink(hidden, swapped);
        await rm(swapped);
        await rename(join(allowed, 'aside'), swapped);
      }
    };
    const swapping = swap();
    const found = new Set<string>();
    for (let n = 0; n < 1_000; n += 1)
      found.add(await read(fileUrl('swapped/x'), digestOf('evil')).catch((error: SluiceError) => error.code));
    isOver = true;
    await swapping;
    expect([...found]).toEqual(['BAD_REFERENCE']);
  });
});

describe('a URL that a command refers to', () => {
  async function serve(
    answer: (request: TestRequest, response: ServerResponse) => void,
  ): Promise<TestServer> {
    const server = await startHttpServer(answer, certificate);
    servers.push(server);
    return server;
  }
  const sendText = (_: TestRequest, response: ServerResponse) => response.end(TEXT);
  const everywhere = async () => [{ address: '127.0.0.1', family: 4 }];

  async function read(uri: string, changed: Partial<ReferenceSettings> = {}, sha256 = digestOf(TEXT)) {
    const connection = { resolve: everywhere, tls: { ca: certificate.cert } };
    const references = openReferences(settings({ allow_private: true, ...changed }), connection);
    try {
      return await references.read({ uri, sha256 });
    } finally {
      references.close();
    }
  }

  it.each([
    ['evidence.example', 'evidence.example'],
    ['EVIDENCE.example', 'evidence.example'],
    ['a.evidence.example', '*.evidence.example'],
  ])('%s is read where %s is allowed', async (host, pattern) => {
    const { port } = await serve(sendText);
    expect(await read(`https://${host}:${port}/run?x=1`, { hosts: [`${pattern}:${port}`] })).toBe(TEXT);
  });

  it.each([
    ['evidence.example', ['*.evidence.example']],
    ['notevidence.example', ['evidence.example', '*.evidence.example']],
    ['evidence.example.other', ['evidence.example']],
    ['evidence.example:8443', ['evidence.example']],
    ['127.0.0.1', ['evidence.example']],
  ])('%s is refused where %j are allowed', async (host, hosts) => {
    const { code, text } = await refusal(read(`https://${host}/run`, { hosts }));
    expect(code).toBe('BAD_REFERENCE');
    for (const each of hosts) expect(text).toContain(each);
  });

  it.each([
    ['http://evidence.example/run', /scheme is not allowed/],
    ['ftp://evidence.example/run', /scheme is not allowed/],
    ['data:text/plain,x', /scheme is not allowed/],
    ['not a url', /no URL/],
    ['https://user:word@evidence.example/run', /no credentials/],
  ])('%s is refused', async (uri, message) => {
    const { code, text } = await refusal(read(uri, { hosts: ['evidence.example'] }));
    expect([code, text]).toEqual(['BAD_REFERENCE', expect.stringMatching(message)]);
    expect(text).not.toContain('user:word');
  });

  it('is refused when its host is of a private network, and not asked', async () => {
    const server = await serve(sendText);
    const hosts = [`evidence.example:${server.port}`];
    const { code, text } = await refusal(
      read(`https://evidence.example:${server.port}/`, { hosts, allow_private: false }),
    );
    expect([code, text]).toEqual(['BAD_REFERENCE', expect.stringContaining('127.0.0.1')]);
    expect(server.connections()).toBe(0);
  });

  it.each([
    [404, 'BAD_REFERENCE'],
    [403, 'BAD_REFERENCE'],
    [429, 'UNAVAILABLE'],
    [500, 'UNAVAILABLE'],
    [503, 'UNAVAILABLE'],
  ])('that answers %i is %s', async (status, code) => {
    const { port } = await serve((_, response) => response.writeHead(status).end());
    const found = await refusal(
      read(`https://localhost:${port}/x?key=hidden`, { hosts: [`localhost:${port}`] }),
    );
    expect(found.code).toBe(code);
    expect(found.text).not.toContain('hidden');
  });

  it('that points elsewhere is not followed', async () => {
    let asked = 0;
    const { port } = await serve((_, response) => {
      asked += 1;
      response.writeHead(302, { location: 'http://169.254.169.254/latest?key=hidden' }).end();
    });
    const { code, text } = await refusal(
      read(`https://localhost:${port}/`, { hosts: [`localhost:${port}`] }),
    );
    expect([code, asked]).toEqual(['BAD_REFERENCE', 1]);
    expect(text).toContain('http://169.254.169.254/latest');
    expect(text).not.toContain('hidden');
  });

  it('that is too large, or never ends, is left', async () => {
    const { port } = await serve((request, response) => {
      response.write('x'.repeat(900));
      if (request.path === '/large') response.write('x'.repeat(200));
    });
    const at = (path: string) =>
      refusal(read(`https://localhost:${port}${path}`, { hosts: [`localhost:${port}`], timeout: 500 }));
    expect(await at('/large')).toMatchObject({
      code: 'BAD_REFERENCE',
      text: expect.stringContaining('too large'),
    });
    expect(await at('/slow')).toMatchObject({
      code: 'UNAVAILABLE',
      text: expect.stringContaining('within 500 ms'),
    });
  });

  it('with another digest is refused', async () => {
    const { port } = await serve(sendText);
    const hosts = [`localhost:${port}`];
    const { code, text } = await refusal(read(`https://localhost:${port}/`, { hosts }, NOTHING));
    expect([code, text]).toEqual(['BAD_REFERENCE', expect.stringContaining('another digest')]);
    expect((await refusal(read(`https://localhost:${port}/`, { hosts }, 'abc'))).text).toContain(
      '64 hex digits',
    );
  });

  it('whose host has gone, or has another certificate, is unavailable', async () => {
    const { port } = await serve(sendText);
    const hosts = [`other.example:${port}`];
    expect((await refusal(read(`https://other.example:${port}/`, { hosts }))).code).toBe('UNAVAILABLE');
    await servers.pop()?.stop();
    const gone = { hosts: [`localhost:${port}`] };
    expect((await refusal(read(`https://localhost:${port}/`, gone))).code).toBe('UNAVAILABLE');
  });
});

describe('the settings of references', () => {
  it('tell every host that is none', () => {
    const open = () =>
      openReferences(settings({ hosts: ['https://a.example', 'a.example', '*', 'a.example/x'] }));
    expect(open).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIG',
        problems: [0, 2, 3].map((n) => expect.objectContaining({ path: `references.hosts[${n}]` })),
      }),
    );
  });
});
