import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readSecret } from '../../queues/secrets.js';
import { redisStream } from '../../queues/sources/redis-stream.js';
import type { IncomingMessage, Source, Take } from '../../src/ports/source.js';
import { untilSo } from '../support/bus-events.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let redis: TestRedis;
let client: Redis;
const open: Source[] = [];
const errors: Error[] = [];

beforeAll(async () => {
  redis = await startTestRedis();
  client = new Redis(redis.url);
});
afterAll(async () => {
  client?.disconnect();
  await redis?.stop();
});
afterEach(async () => {
  errors.length = 0;
  await Promise.all(open.splice(0).map((source) => source.close(0)));
});

async function sourceOn(key: string, take: Take, given: object = {}, concurrency = 4): Promise<Source> {
  const context = {
    name: 'tested',
    fleet: 'test',
    redisUrl: redis.url,
    concurrency,
    secret: readSecret,
    onError: (error: Error) => errors.push(error),
  };
  const source = await redisStream.open(key, redisStream.options.parse(given), context, take);
  open.push(source);
  return source;
}

const GROUP = 'sluice-test-tested';
const add = (key: string, body: string) => client.xadd(key, '*', 'event', body);
const textOf = ({ body }: IncomingMessage) => Buffer.from(body).toString();
const told = () => errors.map(({ message }) => message).join('\n');
/** Entries that wait for their acknowledgement; -1 while there is no group. */
const pending = (key: string) =>
  client.xpending(key, GROUP).then(
    ([count]) => count as number,
    () => -1,
  );

/** Takes everything, and remembers it. */
function taker() {
  const taken: string[] = [];
  const take: Take = async (message) => {
    taken.push(textOf(message));
    return { kind: 'done' };
  };
  const has = (body: string) =>
    untilSo(
      () => taken.includes(body),
      () => `${taken.join()} ${told()}`,
    );
  return { taken, take, has };
}

describe('the source redis-stream', () => {
  it('reads the fleet’s own Redis where the target is a key alone', async () => {
    await add('own', 'a');
    const { take, has } = taker();
    await sourceOn('own', take);
    await has('a');
  });

  it('takes at once what it was given in an answer that broke off with the connection', async () => {
    const { take, taken } = taker();
    await sourceOn('broken', take);
    await untilSo(
      async () => (await pending('broken')) === 0,
      () => 'no group',
    );
    await add('broken', 'first');
    await untilSo(
      () => taken.length === 1,
      () => told(),
    );
    const [consumer] = (await client.xinfo('CONSUMERS', 'broken', GROUP)) as [[string, string]];
    // Given within one step, before the source that waits: as if its answer had been lost.
    const lost = client.multi();
    for (let n = 0; n < 10; n++) lost.xadd('broken', '*', 'event', `lost-${n}`);
    await lost.call('XREADGROUP', 'GROUP', GROUP, consumer[1], 'STREAMS', 'broken', '>').exec();
    await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await untilSo(
      () => new Set(taken).size === 11,
      () => `${taken.join()} ${told()}`,
      8_000,
    );
    expect(taken).toHaveLength(11);
    expect(await pending('broken')).toBe(0);
  });

  it('takes over what a dead consumer held', async () => {
    await add('dead', 'a');
    await client.xgroup('CREATE', 'dead', GROUP, '0');
    await client.call('XREADGROUP', 'GROUP', GROUP, 'killed', 'STREAMS', 'dead', '>');
    const { take, taken, has } = taker();
    await sourceOn('dead', take, { claim_after: '1s' });
    await add('dead', 'b');
    await has('b');
    expect(taken).toEqual(['b']);
    await has('a');
    await untilSo(
      async () => (await pending('dead')) === 0,
      () => 'it is not acknowledged',
    );
  });

  it('keeps what is in hand or put off for longer than claim_after', async () => {
    await add('kept', 'slow');
    await add('kept', 'later');
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    await sourceOn(
      'kept',
      async (message) => {
        if (textOf(message) === 'later') return { kind: 'later', afterMs: 60_000, reason: 'busy' };
        await finished;
        return { kind: 'done' };
      },
      { claim_after: '1s' },
    );
    await untilSo(
      async () => (await pending('kept')) === 2,
      () => told(),
    );
    const { take, taken } = taker();
    await sourceOn('kept', take, { claim_after: '1s' });
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(taken).toEqual([]);
    finish();
    await untilSo(
      async () => (await pending('kept')) === 1,
      () => 'it is not acknowledged',
    );
  });

  it('makes group and stream anew when they are removed', async () => {
    await add('gone', 'a');
    const { take, has } = taker();
    await sourceOn('gone', take);
    await has('a');
    await client.xgroup('DESTROY', 'gone', GROUP);
    await add('gone', 'b');
    await has('b');
    await client.del('gone');
    await add('gone', 'c');
    await has('c');
  });

  it('removes entries that are done where it is told to', async () => {
    await add('trimmed', 'a');
    await add('left', 'a');
    const { take, has } = taker();
    await sourceOn('trimmed', take, { trim: true });
    await has('a');
    await untilSo(
      async () => (await client.xlen('trimmed')) === 0,
      () => 'it is still there',
    );
    const other = taker();
    await sourceOn('left', other.take);
    await other.has('a');
    await untilSo(
      async () => (await pending('left')) === 0,
      () => 'it is not acknowledged',
    );
    expect(await client.xlen('left')).toBe(1);
  });

  it('hands over bytes as they are, from the field that is named', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    await client.xadd('bytes', '*', 'other', 'x', 'payload', bytes);
    const found: IncomingMessage[] = [];
    await sourceOn(
      'bytes',
      async (message) => {
        found.push(message);
        return { kind: 'done' };
      },
      { field: 'payload' },
    );
    await untilSo(
      () => found.length > 0,
      () => told(),
    );
    expect(Buffer.from(found[0]?.body ?? []).equals(bytes)).toBe(true);
  });

  it('hands over all fields of an entry without the field', async () => {
    await client.xadd('strange', '*', 'a', '1', 'b', 'é');
    const { take, has } = taker();
    await sourceOn('strange', take);
    await has('{"a":"1","b":"é"}');
  });

  it('leaves no consumer behind that holds nothing, and loses nothing of one that does', async () => {
    await add('left-behind', 'a');
    const never: Take = () => new Promise(() => {});
    const holding = await sourceOn('left-behind', never);
    await untilSo(
      async () => (await pending('left-behind')) === 1,
      () => told(),
    );
    await holding.close(0);
    const { take, has } = taker();
    const last = await sourceOn('left-behind', take);
    await has('a');
    await last.close(1_000);
    const consumers = (await client.xinfo('CONSUMERS', 'left-behind', GROUP)) as unknown[];
    expect(consumers).toHaveLength(1);
    expect(await pending('left-behind')).toBe(0);
  });

  it('says that the key is no stream, and goes on trying', async () => {
    await client.set('text', 'x');
    const { take, has } = taker();
    await sourceOn('text', take);
    await untilSo(
      () => told().includes('WRONGTYPE'),
      () => told(),
    );
    await client.del('text');
    await add('text', 'a');
    await has('a');
  });
});

describe('settings of the source redis-stream', () => {
  it.each([
    ['commands', {}, undefined],
    ['redis://h:1#k', { user: 'u', password: { env: 'X' } }, undefined],
    ['commands', { user: 'u' }, /credentials of its own/],
    ['redis://h:1', {}, /lacks the key/],
    ['redis://u:hunter2@h:1', {}, /lacks the key/],
    ['redis://h:1#k', { user: 'u' }, /without its password/],
    ['redis://h:1#k', { tls: {} }, /no TLS/],
    ['http://h:1#k', {}, /no Redis URL/],
  ])('judges %s %j', (target, given, message) => {
    const found = redisStream.problem(target, redisStream.options.parse(given) as never);
    if (message === undefined) expect(found).toBeUndefined();
    else expect(found?.message).toMatch(message);
    expect(JSON.stringify(found ?? '')).not.toContain('hunter2');
  });
});
