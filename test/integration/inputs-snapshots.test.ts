import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../src/core/problem.js';
import { readEvidence, readSnapshots, type SnapshotsNamed } from '../../src/inputs/snapshots.js';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-snapshots-'));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

const file = (name: string) => join(dir, name);
const write = (name: string, content: string | Buffer) => writeFile(file(name), content);

async function evidenceOf(what: string): Promise<unknown> {
  const read = await readEvidence(what);
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return read.value;
}

async function problemOf(what: string): Promise<Problem | undefined> {
  const read = await readEvidence(what);
  if ('value' in read) throw new Error('was read');
  expect(read.problems).toHaveLength(1);
  return read.problems[0];
}

describe('evidence', () => {
  it('is inline JSON, a value, a text, or bytes, by what is named', async () => {
    await write('a.json', '\ufeff{"rows": 3}');
    await write('list.yml', '- 1\n- 2\n');
    await write('log.txt', '{"not": "looked at"}\r\n');
    await write('core', Buffer.from([0xff, 0x00, 0x01]));
    expect(await evidenceOf(' {"a": [1]}')).toEqual({ a: [1] });
    expect(await evidenceOf('"text"')).toBe('text');
    expect(await evidenceOf(file('a.json'))).toEqual({ rows: 3 });
    expect(await evidenceOf(file('list.yml'))).toEqual([1, 2]);
    expect(await evidenceOf(file('log.txt'))).toBe('{"not": "looked at"}\r\n');
    expect(await evidenceOf(file('core'))).toEqual({ base64: '/wAB' });
  });

  it('is refused with one problem each', async () => {
    await write('bad.json', '{"a": 1,}');
    await write('twice.yaml', 'a: 1\na: 2\n');
    await write('two.yaml', 'a: 1\n---\na: 2\n');
    await write('nan.yaml', 'a: .nan\n');
    await write('empty.json', '');
    await write('huge.bin', Buffer.alloc(9 * 2 ** 20));
    expect(await problemOf('{"a": 1')).toMatchObject({ code: 'SYNTAX' });
    expect(await problemOf('{"a": 1, "a": 2}')).toMatchObject({ code: 'DUPLICATE_KEY' });
    expect(await problemOf(file('gone'))).toMatchObject({ code: 'BAD_SNAPSHOT', file: file('gone') });
    expect(await problemOf(file('bad.json'))).toMatchObject({
      code: 'SYNTAX',
      file: file('bad.json'),
      line: 1,
    });
    expect(await problemOf(file('twice.yaml'))).toMatchObject({ code: 'DUPLICATE_KEY', line: 2 });
    expect((await problemOf(file('two.yaml')))?.message).toContain('several YAML documents');
    expect(await problemOf(file('nan.yaml'))).toMatchObject({ code: 'NOT_JSON', path: 'a' });
    expect(await problemOf(file('empty.json'))).toMatchObject({ code: 'SYNTAX' });
    expect((await problemOf(file('huge.bin')))?.message).toContain('larger than 7 MiB');
  });
});

describe('the snapshot of a folder', () => {
  it('holds every file, hidden ones and links within too, whatever they are called', async () => {
    await mkdir(file('src'));
    await mkdir(file('.git'));
    await mkdir(file('node_modules'));
    await write('src/a.txt', 'a\n');
    await write('.env', 'X=1');
    await write('__proto__', 'no trick');
    await write('bom.txt', '\ufeffx');
    await write('raw.bin', Buffer.from([0, 1, 2]));
    await write('.git/HEAD', 'moves');
    await write('node_modules/x.js', 'fetched');
    await symlink('src/a.txt', file('link'));
    await symlink('src', file('folder-link'));
    const { files } = (await evidenceOf(dir)) as { files: Record<string, unknown> };
    expect(Object.entries(files)).toEqual([
      ['.env', 'X=1'],
      ['__proto__', 'no trick'],
      ['bom.txt', '\ufeffx'],
      ['folder-link/a.txt', 'a\n'],
      ['link', 'a\n'],
      ['raw.bin', { base64: 'AAEC' }],
      ['src/a.txt', 'a\n'],
    ]);
  });

  it('is refused for a link that leads out, round, or nowhere', async () => {
    for (const target of [tmpdir(), '..', '/etc/hostname']) {
      await symlink(target, file('link'));
      expect((await problemOf(dir))?.message).toBe('link is a symbolic link that leaves the folder');
      await rm(file('link'));
    }
    await symlink('.', file('link'));
    expect((await problemOf(dir))?.message).toBe('link is a symbolic link to a folder that it lies in');
    await rm(file('link'));
    await symlink('gone', file('link'));
    expect((await problemOf(dir))?.message).toBe('link does not exist');
  });

  it('is refused for a pipe, for too many files and for too many bytes', async () => {
    await promisify(execFile)('mkfifo', [file('pipe')]);
    expect((await problemOf(dir))?.message).toContain('pipe is a device, a pipe or a socket');
    await rm(file('pipe'));
    await write('half', Buffer.alloc(5 * 2 ** 20, 'x'));
    await write('other', Buffer.alloc(5 * 2 ** 20, 'x'));
    expect((await problemOf(dir))?.message).toContain('holds more than 7 MiB');
    await rm(file('half'));
    await mkdir(file('many'));
    for (let n = 0; n <= 10_000; n++) writeFileSync(file(`many/${n}`), '');
    expect((await problemOf(dir))?.message).toContain('holds more than 10000 files');
  });
});

describe('the snapshots of a command', () => {
  async function snapshots(named: SnapshotsNamed, stdin = '') {
    const problems: Problem[] = [];
    const found = await readSnapshots(named, Readable.from([Buffer.from(stdin)]), problems);
    return { found, problems };
  }

  it('come by name, from a file of all of them, or both', async () => {
    await write('all.json', '{"db": {"rows": 1}, "repo/api": "text"}');
    expect(await snapshots({ snapshots: file('all.json'), snapshot: ['log={"a": "b=c"}'] })).toEqual({
      found: { db: { rows: 1 }, 'repo/api': 'text', log: { a: 'b=c' } },
      problems: [],
    });
    expect(await snapshots({ snapshots: '-' }, '{"db": 1}')).toEqual({ found: { db: 1 }, problems: [] });
    expect(await snapshots({})).toEqual({ found: undefined, problems: [] });
  });

  it('are refused with every problem at once, each with its option', async () => {
    await write('list.json', '[1]');
    const { problems } = await snapshots({
      snapshots: file('list.json'),
      snapshot: ['release-7', 'a=', 'db={"x": 1', 'c="1"', 'c="2"', `d=${file('gone')}`],
    });
    expect(problems.map(({ path, code }) => [path, code])).toEqual([
      ['--snapshots', 'BAD_SNAPSHOT'],
      ['--snapshot', 'NOT_NAMED'],
      ['--snapshot', 'NOT_NAMED'],
      ['--snapshot db', 'SYNTAX'],
      ['--snapshot c', 'BAD_SNAPSHOT'],
      ['--snapshot d', 'BAD_SNAPSHOT'],
    ]);
  });
});
