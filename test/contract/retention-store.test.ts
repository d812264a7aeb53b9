import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chunk } from '../../src/core/manifest.js';
import type { RetentionRules } from '../../src/ports/retention.js';
import type { Store } from '../../src/ports/store.js';
import { chunkOf, decisionOf, event, openingOf } from '../support/evidence.js';
import { storeAdapters } from '../support/stores.js';
import { useTestRedis } from '../support/use-redis.js';

const NOW = 1_700_000_000_000;
const DAY = 86_400_000;
const ALL: RetentionRules = { evaluations: 1e6, batches: 1e6 };
/** Characters of a text that is stored in pieces. */
const LONG = 600_000;

const redis = useTestRedis();

const adapters = storeAdapters(() => redis, 1e6);

describe.each(adapters)('retention on $name', ({ open }) => {
  let store: Store;
  beforeEach(async () => {
    await redis.client.flushall();
    store = await open();
  });
  afterEach(() => store.close());

  const accept = (chunk: Chunk, more: string[] = []) => {
    const named = chunk.evaluations.flatMap(({ subject, scenario }) => [subject, scenario]);
    const blobs = [...new Set([...named, ...more])].map((digest) => ({
      digest,
      content: `{"of":"${digest}"}`,
    }));
    return store.evaluations.accept(chunk, blobs, [], NOW, NOW + DAY);
  };
  const decide = async (chunk: Chunk) => {
    const decisions = chunk.evaluations.map((_, position) => decisionOf(chunk, position, 'passed'));
    await store.evaluations.commit(chunk, 'stage', 'results', decisions, NOW, 1000);
  };
  /** A batch of so many chunks of one evaluation each, all decided; of 1 s retention. */
  const judged = async (id: string, chunks: number, completedAt: number | null = NOW): Promise<Chunk[]> => {
    await store.batches.openBatch({ ...openingOf(id, []), retentionMs: 1000 });
    const all = Array.from({ length: chunks }, (_, n) => chunkOf(id, `${id}${n}`, 1));
    for (const chunk of all) {
      await accept(chunk);
      await decide(chunk);
    }
    if (completedAt === null) return all;
    await store.batches.sealBatch(id, chunks);
    await store.batches.completeBatch(id, completedAt, event(`${id}-completed`));
    return all;
  };
  const left = async (chunks: readonly Chunk[]) => {
    const found = await store.evaluations.chunks(chunks.map(({ id }) => id));
    return found.filter((record) => record !== undefined).length;
  };
  const isStored = async (digest: string) => (await store.evaluations.blobs([digest]))[0] !== undefined;

  it('keeps a batch whole from its completion on, and nothing of it afterwards', async () => {
    const chunks = await judged('b', 3, NOW + DAY);
    const subject = chunks[0]?.evaluations[0]?.subject ?? '';
    await store.retention.forget(NOW + DAY + 999, ALL);
    expect(await left(chunks)).toBe(3);
    expect(await isStored(subject)).toBe(true);
    const step = await store.retention.forget(NOW + DAY + 1000, ALL);
    expect(step).toEqual({ evaluations: 3, batches: 1, isMore: false });
    expect(await left(chunks)).toBe(0);
    expect(await isStored(subject)).toBe(false);
    expect(await store.batches.batch('b')).toBeUndefined();
    expect(await store.evaluations.locate(chunks.map(({ id }) => id))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('keeps evidence for as long as any evaluation has it', async () => {
    const shared = { ...chunkOf('other', 'o', 1) };
    const chunks = await judged('b', 2);
    const { subject, scenario } = chunks[0]?.evaluations[0] ?? { subject: '', scenario: '' };
    (shared.evaluations[0] as { subject: string }).subject = subject;
    await store.batches.openBatch(openingOf('other', []));
    await accept(shared, ['bundle']);
    await store.retention.forget(NOW + 1000, ALL);
    expect([await isStored(subject), await isStored(scenario), await isStored('bundle')]).toEqual([
      true,
      true,
      true,
    ]);
    await decide(shared);
    await store.batches.sealBatch('other', 1);
    await store.batches.completeBatch('other', NOW, event('other-completed'));
    await store.retention.forget(NOW + 3650 * DAY, ALL);
    expect([await isStored(subject), await isStored(scenario), await isStored('bundle')]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('keeps what somebody reads, until that one is through or silent', async () => {
    const chunks = await judged('b', 2);
    await store.retention.follow('b', 'report', '', NOW, 60_000);
    await store.retention.follow('b', 'other', '', NOW, 30_000);
    await store.retention.forget(NOW + 59_999, { evaluations: 1, batches: 1 });
    expect(await left(chunks)).toBe(2);
    await store.retention.unfollow('b', 'report');
    await store.retention.forget(NOW + 59_999, ALL);
    expect(await left(chunks)).toBe(0);
  });

  it('keeps the newest evaluations of a batch, open or completed, behind those who read it', async () => {
    const chunks = await judged('b', 5, null);
    const { cursor } = await store.batches.decidedSince('b', '', 0);
    await store.retention.follow('b', 'slow', '', NOW, 60_000);
    await store.retention.forget(NOW, { evaluations: 2, batches: 10 });
    expect(await left(chunks)).toBe(5);
    await store.retention.follow('b', 'slow', cursor, NOW, 60_000);
    await store.retention.forget(NOW, { evaluations: 2, batches: 10 });
    expect(await left(chunks.slice(0, 3))).toBe(0);
    expect(await left(chunks.slice(3))).toBe(2);
    expect(await store.batches.chunksOf('b')).toHaveLength(2);
    expect(await store.batches.batch('b')).toMatchObject({ decided: 5, passed: 5 });
    await store.retention.unfollow('b', 'slow');
    await store.batches.sealBatch('b', 5);
    await store.batches.completeBatch('b', NOW, event('done'));
    await store.retention.forget(NOW, { evaluations: 1, batches: 10 });
    expect(await left(chunks)).toBe(1);
  });

  it('keeps so many completed batches, and lets those go first whose time is over first', async () => {
    const batches = [
      await judged('x', 1, NOW + 2),
      await judged('y', 1, NOW + 1),
      await judged('z', 1, NOW + 3),
    ];
    await store.retention.forget(NOW + 3, { evaluations: 10, batches: 2 });
    expect(await Promise.all(batches.map(left))).toEqual([1, 0, 1]);
  });

  it('never takes undecided work away', async () => {
    await store.batches.openBatch(openingOf('b', []));
    const chunk = chunkOf('b', 'c', 2);
    await accept(chunk);
    await store.evaluations.commit(chunk, 's', 'r', [decisionOf(chunk, 0, 'passed')], NOW, 1000);
    await store.retention.forget(NOW + 3650 * DAY, { evaluations: 0, batches: 0 });
    expect(await left([chunk])).toBe(1);
  });

  it('writes events ahead of a decision once each, however often a step is done again', async () => {
    const chunk = chunkOf('', 'c', 1);
    await accept(chunk);
    const events = ['a', 'b', 'c', 'd'].map((id) => event(id));
    await store.evaluations.announce(chunk.id, 0, events.slice(0, 2));
    await store.evaluations.announce(chunk.id, 0, events.slice(0, 3));
    await store.evaluations.announce(chunk.id, 1, events.slice(1, 3));
    await store.evaluations.announce(chunk.id, 3, events.slice(3));
    await decide(chunk);
    await store.evaluations.announce(chunk.id, 4, [event('late')]);
    const found = await store.outbox.events('', 100, 0);
    expect(found.map(({ event: { id } }) => id).filter((id) => id.length === 1)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
    expect(found.some(({ event: { id } }) => id === 'late')).toBe(false);
  });

  it('gives long evidence and long results back whole', async () => {
    const text = JSON.stringify({ text: '🙂'.repeat(LONG / 2) });
    const chunk = chunkOf('', 'c', 1);
    const [entry] = chunk.evaluations;
    const blobs = [{ digest: entry?.subject ?? '', content: text }];
    await store.evaluations.accept(chunk, blobs, [], NOW, NOW + DAY);
    await store.evaluations.accept({ ...chunkOf('', 'd', 1) }, blobs, [], NOW, NOW + 2 * DAY);
    expect(await store.evaluations.blobs(['nothing', entry?.subject ?? ''])).toEqual([undefined, text]);
    await store.evaluations.commit(chunk, 's', text, [decisionOf(chunk, 0, 'passed')], NOW, DAY);
    expect((await store.evaluations.decisions(chunk.id))[0]?.results).toBe(text);
  });
});

describe('retention in Redis', () => {
  it('leaves no key of a batch behind but those that every fleet has', async () => {
    await redis.client.flushall();
    const [adapter] = adapters.filter(({ name }) => name.toLowerCase().includes('redis'));
    const store = await (adapter as (typeof adapters)[number]).open();
    const before = await redis.client.dbsize();
    await store.batches.openBatch(
      { ...openingOf('b', []), retentionMs: 1000 },
      { blobs: [{ digest: 'kept', content: '"x"' }], leaseMs: DAY },
    );
    const chunk = chunkOf('b', 'c', 3);
    const long = [{ digest: 'long', content: 'x'.repeat(LONG) }];
    await store.evaluations.accept(chunk, long, [], NOW, NOW + DAY);
    const decisions = chunk.evaluations.map((_, position) => decisionOf(chunk, position, 'passed'));
    await store.evaluations.commit(chunk, 's', 'y'.repeat(LONG), decisions, NOW, 1000);
    await store.batches.sealBatch('b', 3);
    await store.batches.completeBatch('b', NOW, event('done'));
    const sizes = await Promise.all(
      (await redis.client.keys('*')).map((key) => redis.client.memory('USAGE', key)),
    );
    expect(Math.max(...sizes.map(Number))).toBeLessThan(1_000_000);
    expect(await store.retention.forget(NOW + 1000, ALL)).toMatchObject({ evaluations: 3, batches: 1 });
    const names = (await redis.client.keys('*')).map((key) => key.split(':').at(-1));
    expect(names.filter((name) => name !== 'outbox')).toHaveLength(before);
    await store.close();
  });
});
