import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudEvent } from 'cloudevents';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SinkReader } from '../../src/app/deliver.js';
import { sinkObjectOf } from '../../src/core/endpoints.js';
import type { Sink } from '../../src/ports/sink.js';
import { openSinkReader, startDispatcher } from '../../workers/dispatcher.js';
import {
  type CloudEventJson,
  configWith,
  judgeBatch,
  openTestFleet,
  outboxOf,
  type TestFleet,
} from '../support/fleet.js';
import { mixed, mixedRuns } from '../support/mixed-batch.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { FakeSink, isAway, readerOf, refuses } from '../support/sinks.js';

const settings = { patterns: { deadline: '100ms' }, delivery: { tries: 3 }, events: { per_check: true } };
const COMFORT = { timeout: 30_000, interval: 50 };

let redis: TestRedis;
let client: Redis;
let folder: string;
beforeAll(async () => {
  redis = await startTestRedis();
  client = new Redis(redis.url);
  folder = await mkdtemp(join(tmpdir(), 'sluice-dispatch-'));
});
afterAll(async () => {
  client.disconnect();
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
});

const place = () => ({
  redisUrl: redis.url,
  fleet: 'unused',
  config: configWith(settings).delivery,
  onError: () => {},
});

/** A fleet with a dispatcher for these readers, from the oldest event on. */
async function withDispatcher(readers: readonly SinkReader[], work: (fleet: TestFleet) => Promise<void>) {
  const fleet = await openTestFleet(redis.url, configWith(settings));
  for (const { name } of readers) await fleet.engine.store.outbox.openReader(name, '');
  const dispatcher = await startDispatcher(fleet.engine, readers);
  try {
    await work(fleet);
  } finally {
    await dispatcher.stop();
    await fleet.close();
  }
}

const judge = (fleet: TestFleet, n: number, packing: 'auto' | 'off' = 'auto') =>
  judgeBatch(fleet.engine, { id: 'b', scenarios: [mixed], submissions: mixedRuns(n) }, { packing });
const delivered = (fleet: TestFleet, name: string) =>
  vi.waitFor(async () => expect(await fleet.engine.store.outbox.outstanding(name)).toBe(0), COMFORT);
const ids = (events: readonly { id: string }[]) => [...new Set(events.map(({ id }) => id))].sort();

describe('events on their way out', () => {
  it.each(['auto', 'off'] as const)(
    'are all valid CloudEvents, each once, with packing %s',
    async (packing) => {
      await withDispatcher([], async (fleet) => {
        await judge(fleet, 18, packing);
        const events = await outboxOf(fleet.engine.store);
        for (const event of events) expect(() => new CloudEvent(event, true)).not.toThrow();
        expect(ids(events)).toHaveLength(events.length);
        const types = new Set(events.map(({ type }) => type));
        for (const name of ['evaluation.accepted', 'evaluation.failed', 'advisory.raised', 'batch.completed'])
          expect(types).toContain(`dev.sluice.${name}.v1`);
      });
    },
  );

  it('reach a file and a stream, byte for byte as they were written', async () => {
    const file = join(folder, 'events.ndjson');
    const readers = [
      await openSinkReader(sinkObjectOf(`ndjson=${file}`), place()),
      await openSinkReader(sinkObjectOf('redis-stream=events-of-test'), place()),
    ];
    await withDispatcher(readers, async (fleet) => {
      await judge(fleet, 30);
      for (const { name } of readers) await delivered(fleet, name);
      const expected = (await outboxOf(fleet.engine.store)).map((event) => JSON.stringify(event)).sort();
      const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
      expect([...new Set(lines)].sort()).toEqual(expected);
      const entries = await client.xrange('events-of-test', '-', '+');
      expect([...new Set(entries.map(([, fields]) => fields[5]))].sort()).toEqual(expected);
      for (const [, fields] of entries) {
        const { id, type } = JSON.parse(fields[5] ?? '') as CloudEventJson;
        expect(fields.slice(0, 4)).toEqual(['id', id, 'type', type]);
      }
    });
  });

  it('are tried again by a sink that fails at first, and arrive', async () => {
    const flaky = new FakeSink((call) => (call <= 2 ? refuses : undefined));
    const fallen = new FakeSink((call) => (call <= 2 ? isAway : undefined));
    const throwing: Sink = {
      deliver: vi.fn().mockRejectedValueOnce(new Error('down')).mockResolvedValue([]),
      close: async () => {},
    };
    const readers = [readerOf('flaky', flaky), readerOf('fallen', fallen), readerOf('throwing', throwing)];
    await withDispatcher(readers, async (fleet) => {
      await judge(fleet, 6);
      for (const { name } of readers) await delivered(fleet, name);
      const events = await outboxOf(fleet.engine.store);
      expect(ids(flaky.took)).toEqual(ids(events));
      expect(ids(fallen.took)).toEqual(ids(events));
      expect(events.filter(({ type }) => type.includes('delivery.dead'))).toEqual([]);
      const sent = vi.mocked(throwing.deliver).mock.calls.flatMap(([all]) => all);
      expect(ids(sent)).toEqual(ids(events));
    });
  });

  it('are buried by a sink that never works; others and decisions go on, and no notice follows a notice', async () => {
    const broken = new FakeSink(() => ({ ...refuses, response: '500 no' }));
    const good = new FakeSink();
    const readers = [readerOf('broken', broken), readerOf('good', good)];
    await withDispatcher(readers, async (fleet) => {
      const batch = await judge(fleet, 6);
      expect(batch).toMatchObject({ state: 'completed', decided: 6 });
      for (const { name } of readers) await delivered(fleet, name);
      const events = await outboxOf(fleet.engine.store);
      const [dead, others] = [true, false].map((is) =>
        events.filter(({ type }) => type.includes('delivery.dead') === is),
      ) as [CloudEventJson[], CloudEventJson[]];
      expect(dead.map(({ data }) => data.event).sort()).toEqual(ids(others));
      for (const { data } of dead)
        expect(data).toMatchObject({ sink: 'broken', reason: 'not today', code: 'refused', tries: 3 });
      for (const event of dead) expect(() => new CloudEvent(event, true)).not.toThrow();
      expect(ids(good.took)).toEqual(ids(events));
      const { letters } = await fleet.engine.store.letters.list({ endpoint: 'broken' }, '', 1000);
      expect(ids(letters)).toEqual(ids(events));
      const content = new Map(events.map((event) => [event.id, JSON.stringify(event)]));
      for (const letter of letters) {
        expect(letter).toMatchObject({ code: 'refused', reason: 'not today', response: '500 no', tries: 3 });
        expect(letter.content).toBe(content.get(letter.id));
      }
    });
  });

  it('are buried one by one when a sink takes all but one of them', async () => {
    const picky = new FakeSink((_, { type }) => (type.includes('batch.completed') ? refuses : undefined));
    await withDispatcher([readerOf('picky', picky)], async (fleet) => {
      await judge(fleet, 6);
      await delivered(fleet, 'picky');
      const events = await outboxOf(fleet.engine.store);
      const dead = events.filter(({ type }) => type.includes('delivery.dead'));
      expect(dead).toHaveLength(1);
      expect(dead[0]?.data.event_type).toBe('dev.sluice.batch.completed.v1');
      expect(ids(picky.took)).toHaveLength(events.length - 1);
    });
  });

  it('pass over a sink that does not want them, and are trimmed only once each has arrived', async () => {
    const slow = new FakeSink((call) => (call === 1 ? refuses : undefined));
    const none = new FakeSink(() => refuses);
    const readers = [readerOf('none', none, { wants: () => false }), readerOf('slow', slow)];
    await withDispatcher(readers, async (fleet) => {
      const { outbox } = fleet.engine.store;
      await judge(fleet, 6);
      const all = await outboxOf(fleet.engine.store);
      while ((await outbox.outstanding('slow')) > 0) await outbox.trim(Date.now() + 60_000, 0, 0);
      await delivered(fleet, 'none');
      expect(ids(slow.took)).toEqual(ids(all));
      expect(none.calls).toEqual([]);
    });
  });
});
