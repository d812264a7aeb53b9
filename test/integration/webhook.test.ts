import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { webhook, webhookKind } from '../../queues/sinks/webhook.js';
import type { OutgoingEvent, Sink, SinkKind } from '../../src/ports/sink.js';
import { verifyWebhook } from '../../src/webhook.js';
import { testEvent, testEvents } from '../support/bus-events.js';
import { makeCertificate, type TestCertificate } from '../support/certificate.js';
import {
  startHttpServer,
  startRawServer,
  type TestRequest,
  type TestServer,
} from '../support/http-server.js';
import { openSink } from '../support/sink-suite.js';

const KEYS = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
const SECRETS = KEYS.map((key) => `whsec_${key.toString('base64')}`);
const LOCAL = { unsigned: true, allow_private: true };

const opened: { close(): Promise<void> }[] = [];
let folder: string;
let certificate: TestCertificate;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-webhooks-'));
  certificate = await makeCertificate();
});
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});
afterAll(async () => {
  await certificate?.remove();
  await rm(folder, { recursive: true, force: true });
});

async function serve(start: Promise<TestServer>): Promise<TestServer> {
  const server = await start;
  opened.push({ close: () => server.stop() });
  return server;
}

const answering = (answer: (request: TestRequest, response: ServerResponse) => void, tls?: TestCertificate) =>
  serve(startHttpServer(answer, tls));
const raw = (talk: (socket: Socket) => void) => serve(startRawServer(talk));

async function open(
  target: string,
  options: Record<string, unknown>,
  kind: SinkKind = webhook,
): Promise<Sink> {
  const sink = await openSink(kind, { target, options });
  opened.push(sink);
  return sink;
}

const to = ({ port }: TestServer, options: Record<string, unknown> = {}) =>
  open(`http://127.0.0.1:${port}/`, { ...LOCAL, ...options });

describe('a signed request', () => {
  it('is what Standard Webhooks says, with a signature for each live secret', async () => {
    const files = SECRETS.map((_, n) => join(folder, `secret-${n}`));
    await Promise.all(files.map((file, n) => writeFile(file, `${SECRETS[n]}\n`)));
    const requests: TestRequest[] = [];
    const server = await answering((request, response) => {
      requests.push(request);
      response.end();
    });
    const sink = await to(server, { unsigned: false, secrets: files.map((file) => ({ file })) });
    const event = testEvent(1);
    expect(await sink.deliver([event])).toEqual([]);
    expect(await sink.deliver([event])).toEqual([]);
    expect(requests).toHaveLength(2);
    for (const { method, headers, body } of requests) {
      const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signature } = headers;
      expect([method, id, body]).toEqual(['POST', event.id, event.json]);
      expect(Math.abs(Number(seconds) - Date.now() / 1000)).toBeLessThan(60);
      const expected = KEYS.map(
        (key) => `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`,
      );
      expect(signature).toBe(expected.join(' '));
      expect(headers['user-agent']).toMatch(/^sluice\/\d+\.\d+\.\d+/);
      for (const secret of SECRETS) {
        expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(
          JSON.parse(event.json),
        );
        expect(verifyWebhook({ body, headers, secrets: secret })).toHaveLength(1);
      }
    }
  });

  it('is signed by a new secret within 30 seconds, without being opened again', async () => {
    const file = join(folder, 'rotated');
    await writeFile(file, SECRETS[0] as string);
    const signed: number[] = [];
    const server = await answering(({ headers, body }, response) => {
      const found = SECRETS.findIndex((secret) => {
        try {
          return verifyWebhook({ headers, body, secrets: secret }).length === 1;
        } catch {
          return false;
        }
      });
      signed.push(found);
      response.end();
    });
    const sink = await to(server, { unsigned: false, secrets: [{ file }] });
    await sink.deliver([testEvent(1)]);
    await writeFile(file, SECRETS[1] as string);
    const clock = vi.spyOn(performance, 'now');
    const now = performance.now();
    clock.mockImplementation(() => now + 30_001);
    await sink.deliver([testEvent(2)]);
    clock.mockRestore();
    expect(signed).toEqual([0, 1]);
  });

  it.each([
    ['whsec_short', /not one of Standard Webhooks/],
    ['not a secret', /not one of Standard Webhooks/],
    ['', /is empty/],
  ])('is not sent with the secret %j, which stays hidden', async (text, message) => {
    const file = join(folder, 'bad');
    await writeFile(file, text);
    const opening = open('https://hooks.example/', { secrets: [{ file }] });
    await expect(opening).rejects.toThrow(message);
    if (text !== '') await expect(opening).rejects.not.toThrow(text);
  });
});

describe('a receiver that answers', () => {
  it('500 a thousand times is away a thousand times, over one connection', async () => {
    const server = await answering((_, response) => response.writeHead(500).end('no'));
    const sink = await to(server);
    for (let n = 0; n < 1000; n += 1) {
      const failures = await sink.deliver([testEvent(n)]);
      expect(failures).toEqual([
        {
          id: testEvent(n).id,
          kind: 'away',
          reason: 'the receiver answered 500',
          response: 'HTTP 500 Internal Server Error\nno',
        },
      ]);
    }
    expect(server.connections()).toBe(1);
  });

  it('away or gone is not asked for the events behind', async () => {
    for (const [status, kind] of [
      [503, 'away'],
      [410, 'gone'],
    ] as const) {
      let requests = 0;
      const server = await answering((_, response) => {
        requests += 1;
        response.writeHead(status).end();
      });
      const failures = await (await to(server)).deliver(testEvents(5));
      expect(failures.map((failure) => failure.kind)).toEqual(Array(5).fill(kind));
      expect(requests).toBe(1);
    }
  });

  it.each([
    ['seconds', () => '90', 90_000],
    ['a date', () => new Date(Date.now() + 90_000).toUTCString(), 90_000],
    ['a week', () => '604800', 86_400_000],
  ])('429 with Retry-After as %s says how long to wait', async (_, header, expected) => {
    const server = await answering((_request, response) =>
      response.writeHead(429, { 'retry-after': header() }).end(),
    );
    const [failure] = await (await to(server)).deliver([testEvent(1)]);
    expect(failure?.kind).toBe('away');
    expect(Math.abs((failure?.retryAfterMs ?? 0) - expected)).toBeLessThan(10_000);
  });

  it('a redirect is never followed', async () => {
    let followed = 0;
    const other = await answering((_, response) => {
      followed += 1;
      response.end();
    });
    for (const location of ['http://169.254.169.254/latest/meta-data', `http://127.0.0.1:${other.port}/x`]) {
      const server = await answering((_, response) => response.writeHead(307, { location }).end());
      const [failure] = await (await to(server)).deliver([testEvent(1)]);
      expect(failure).toMatchObject({ kind: 'refused', reason: expect.stringContaining(location) });
      expect(failure).not.toHaveProperty('final');
    }
    expect(followed).toBe(0);
  });

  it('200 with 50 MB of rubbish has the event, and is not read to the end', async () => {
    let sent = 0;
    const server = await answering((_, response) => {
      const chunk = Buffer.alloc(64 * 1024, 0xff);
      const more = () => {
        while (sent < 50 * 2 ** 20 && !response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const sink = await to(server);
    expect(await sink.deliver([testEvent(1)])).toEqual([]);
    expect(sent).toBeLessThan(40 * 2 ** 20);
  });

  it('with what is not HTTP is away', async () => {
    const server = await raw((socket) => void socket.once('data', () => socket.end('SSH-2.0-rubbish\r\n')));
    expect(await (await to(server)).deliver([testEvent(1)])).toMatchObject([{ kind: 'away' }]);
  });

  it('101 without being asked to has refused', async () => {
    const server = await raw(
      (socket) =>
        void socket.once('data', () =>
          socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
        ),
    );
    expect(await (await to(server)).deliver([testEvent(1)])).toMatchObject([{ kind: 'refused' }]);
  });

  it('with what it was given in secret does not have it shown', async () => {
    const token = join(folder, 'token');
    await writeFile(token, 'Bearer of-an-unusual-shape');
    const server = await answering(({ headers }, response) =>
      response.writeHead(403).end(`no: ${headers.authorization}`),
    );
    const sink = await to(server, {
      headers_secret: { authorization: { file: token } },
      headers: { 'x-team': 'a' },
    });
    const [failure] = await sink.deliver([testEvent(1)]);
    expect(failure?.kind).toBe('refused');
    expect(failure?.response).toContain('[redacted]');
    expect(JSON.stringify(failure)).not.toContain('unusual');
  });
});

describe('a receiver that does not end', () => {
  const FIRST = 'HTTP/1.1 200 OK\r\n';
  const cases: [string, (socket: Socket) => void][] = [
    ['says nothing', () => {}],
    ['sends its headers byte by byte', (socket) => drip(socket, `${FIRST}x-slow: ${'a'.repeat(10_000)}`)],
    [
      'sends its body byte by byte',
      (socket) => drip(socket, 'a'.repeat(10_000), `${FIRST}content-length: 10000\r\n\r\n`),
    ],
    ['only ever says 100', (socket) => repeat(socket, 'HTTP/1.1 102 Processing\r\n\r\n')],
  ];

  function repeat(socket: Socket, text: string): void {
    const timer = setInterval(() => socket.write(text), 10);
    socket.on('close', () => clearInterval(timer));
  }

  function drip(socket: Socket, text: string, first = ''): void {
    socket.write(first);
    let at = 0;
    const timer = setInterval(() => {
      socket.write(text[at] ?? 'a');
      at += 1;
    }, 10);
    socket.on('close', () => clearInterval(timer));
  }

  it.each(cases)('and %s is away when its time is over', async (_, talk) => {
    const server = await raw((socket) => void socket.once('data', () => talk(socket)));
    const sink = await to(server, { timeout: '300ms' });
    const begun = Date.now();
    const failures = await sink.deliver(testEvents(3));
    expect(failures.map(({ kind }) => kind)).toEqual(['away', 'away', 'away']);
    expect(failures[0]?.reason).toMatch(/no whole answer within 300 ms/);
    expect(Date.now() - begun).toBeLessThan(3000);
  });

  it('is left when the delivery is stopped, and when the sink is closed', async () => {
    const server = await raw(() => {});
    const sink = await to(server);
    const stop = new AbortController();
    const stopped = sink.deliver([testEvent(1)], stop.signal);
    stop.abort();
    expect(await stopped).toMatchObject([{ kind: 'away', reason: expect.stringContaining('stopped') }]);
    const closed = sink.deliver([testEvent(1)]);
    await vi.waitUntil(() => server.connections() > 0);
    await sink.close();
    expect(await closed).toMatchObject([{ kind: 'away' }]);
  });
});

describe('a receiver that closes', () => {
  it.each([
    ['at once', ''],
    ['in the middle of the headers', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['in the middle of the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'],
    ['in the middle of a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\nabc'],
  ])('%s is away', async (_, text) => {
    const server = await raw((socket) => void socket.once('data', () => socket.end(text)));
    const [failure] = await (await to(server)).deliver([testEvent(1)]);
    expect(failure).toMatchObject({ kind: 'away', reason: expect.stringMatching(/hang up|closed|reset/i) });
  });

  it('a kept connection gets the event over a new one', async () => {
    let asked = 0;
    const server = await raw((socket) => {
      // One answer for each connection, which then breaks as soon as it is used again.
      socket.once('data', () => {
        asked += 1;
        socket.write('HTTP/1.1 204 No Content\r\n\r\n');
        socket.once('data', () => socket.resetAndDestroy());
      });
    });
    const sink = await to(server);
    for (let n = 0; n < 5; n += 1) expect(await sink.deliver([testEvent(n)])).toEqual([]);
    expect(asked).toBe(5);
  });

  it('its port is away', async () => {
    const server = await startRawServer(() => {});
    await server.stop();
    const failures = await (await to(server)).deliver(testEvents(2));
    expect(failures).toMatchObject([
      { kind: 'away', reason: expect.stringContaining('ECONNREFUSED') },
      { kind: 'away' },
    ]);
  });
});

describe('addresses', () => {
  it('of this machine and of private networks are not connected to, whatever name they have', async () => {
    const server = await answering((_, response) => response.end());
    const options = { unsigned: true, allow_http: true };
    for (const address of ['127.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', '10.0.0.1']) {
      const family = address.includes(':') ? 6 : 4;
      const kind = webhookKind(async () => [{ address, family }]);
      const sink = await open(`http://hooks.example:${server.port}/`, options, kind);
      const [failure] = await sink.deliver([testEvent(1)]);
      expect(failure?.kind).toBe('away');
      expect(failure?.reason).toMatch(/has the address .*allow_private: true allows them/);
    }
    expect(server.connections()).toBe(0);
  });

  it('are connected to as they were checked: the name is looked up once a connection', async () => {
    const server = await answering((_, response) => response.end());
    let looked = 0;
    const kind = webhookKind(async () => {
      looked += 1;
      return [{ address: '127.0.0.1', family: 4 }];
    });
    const sink = await open(`http://hooks.example:${server.port}/`, { ...LOCAL, allow_http: true }, kind);
    expect(await sink.deliver(testEvents(3))).toEqual([]);
    expect([looked, server.connections()]).toEqual([1, 1]);
  });

  it('of a name that is not known make it away', async () => {
    const kind = webhookKind(async () => []);
    const sink = await open('https://hooks.example/', { unsigned: true }, kind);
    expect(await sink.deliver([testEvent(1)])).toMatchObject([
      { kind: 'away', reason: expect.stringContaining('no address is known') },
    ]);
  });
});

describe('large events', () => {
  it('go to the dead letters by themselves, and keep none from arriving', async () => {
    const arrived: string[] = [];
    const server = await answering(({ headers }, response) => {
      arrived.push(String(headers['webhook-id']));
      response.end();
    });
    const sink = await to(server);
    const large = testEvent(7, 'x'.repeat(20 * 2 ** 20));
    expect(await sink.deliver([testEvent(1), large, testEvent(2)])).toEqual([
      { id: large.id, kind: 'refused', final: true, reason: expect.stringContaining('max_bytes is 1048576') },
    ]);
    expect(arrived).toEqual([testEvent(1).id, testEvent(2).id]);
  });

  it('are final as well where the receiver says so', async () => {
    const server = await answering((_, response) => response.writeHead(413).end());
    expect(await (await to(server)).deliver([testEvent(1)])).toMatchObject([
      { kind: 'refused', final: true },
    ]);
  });
});

describe('a batch', () => {
  const refusing = (bad: string, arrived: string[][]) =>
    answering(({ body }, response) => {
      const ids = (JSON.parse(body) as { id: string }[]).map(({ id }) => id);
      if (ids.includes(bad)) response.writeHead(400).end();
      else {
        arrived.push(ids);
        response.end();
      }
    });

  it('that is refused is tried one by one, in order, and then goes on as lists', async () => {
    const events = testEvents(6);
    const [first, bad, ...others] = events.map(({ id }) => id) as [string, string, ...string[]];
    const arrived: string[][] = [];
    const sink = await to(await refusing(bad, arrived), { mode: 'batched', batch: 3 });
    expect(await sink.deliver(events)).toMatchObject([{ id: bad, kind: 'refused' }]);
    expect(arrived).toEqual([[first], others.slice(0, 1), others.slice(1)]);
  });

  it('is no larger than 1 MiB', async () => {
    const sizes: number[] = [];
    const server = await answering(({ body }, response) => {
      sizes.push(Buffer.byteLength(body));
      response.end();
    });
    const sink = await to(server, { mode: 'batched', max_bytes: 8 * 2 ** 20 });
    const events: OutgoingEvent[] = [1, 2, 3, 4].map((n) => testEvent(n, 'x'.repeat(400_000)));
    expect(await sink.deliver([...events, testEvent(5, 'x'.repeat(3_000_000))])).toEqual([]);
    expect(sizes.map((size) => size > 2 ** 20)).toEqual([false, false, true]);
  });
});

describe('a certificate', () => {
  const deliver = async (options: Record<string, unknown>, host = 'localhost') => {
    const server = await answering((_, response) => response.end(), certificate);
    const sink = await open(`https://${host}:${server.port}/`, { ...LOCAL, ...options });
    return sink.deliver([testEvent(1)]);
  };

  it('that nobody has signed is not taken, whatever the environment says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const failures = await deliver({});
    vi.unstubAllEnvs();
    expect(failures).toMatchObject([
      { kind: 'away', reason: expect.stringContaining('self-signed certificate') },
    ]);
  });

  it('is taken when its file is named as ca', async () => {
    expect(await deliver({ tls: { ca: certificate.certFile } })).toEqual([]);
    expect(await deliver({ tls: { ca: certificate.certFile } }, '127.0.0.1')).toEqual([]);
  });

  it('of another host is not taken', async () => {
    const other = await makeCertificate(['DNS:other.example']);
    opened.push({ close: () => other.remove() });
    const server = await answering((_, response) => response.end(), other);
    const sink = await open(`https://localhost:${server.port}/`, { ...LOCAL, tls: { ca: other.certFile } });
    expect(await sink.deliver([testEvent(1)])).toMatchObject([
      { kind: 'away', reason: expect.stringContaining('altnames') },
    ]);
  });

  it('that cannot be read is told at opening', async () => {
    const opening = open('https://hooks.example/', { unsigned: true, tls: { ca: join(folder, 'none.pem') } });
    await expect(opening).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining('tls.ca'),
    });
  });
});
