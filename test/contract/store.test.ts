import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Chunk } from '../../src/core/manifest.js';
import type { Blob, ChunkPlace, Store } from '../../src/ports/store.js';
import { checkResult, chunkOf, decisionOf, event, openingOf, packOf } from '../support/evidence.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { shardedAdapter, storeAdapters } from '../support/stores.js';

const NOW = 1_700_000_000_000;
const CAP = 12;

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

const adapters = [...storeAdapters(() => redis, CAP), shardedAdapter(() => redis, CAP)];

const subjectBlobs = (chunk: Chunk): Blob[] =>
  [...new Set(chunk.evaluations.flatMap((e) => [e.subject, e.scenario]))].map((digest) => ({
    digest,
    content: `content of ${digest}`,
  }));

describe.each(adapters)('the store on $name', ({ name, open }) => {
  // Several shards have each an outbox, with its share of the cap and a leader of its own.
  const ofOneShard = it.skipIf(name === 'three shards');
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  const accept = (chunk: Chunk, events = [event(`${chunk.id}-accepted`)], checkAt = NOW) =>
    store.evaluations.accept(chunk, subjectBlobs(chunk), events, checkAt, NOW + 3_600_000);
  const openBatch = (id = 'b') => store.batches.openBatch(openingOf(id, []));
  const commit = (chunk: Chunk, stage: string, decisions: ReturnType<typeof decisionOf>[], mark = 'r') =>
    store.evaluations.commit(chunk, stage, `results ${mark}`, decisions, NOW, 3_600_000);
  const outboxIds = async () => (await store.outbox.events('', 1000, 0)).map(({ event: e }) => e.id);

  describe('batches', () => {
    it('opens once: the opening that stands is returned untouched', async () => {
      const first = await store.batches.openBatch(openingOf('b', []));
      const again = await store.batches.openBatch({ ...openingOf('b', []), retentionMs: 1, createdAt: 5 });
      expect(again).toEqual(first);
      expect(first).toMatchObject({ state: 'open', total: null, accepted: 0, decided: 0 });
      expect(await store.batches.batch('other')).toBeUndefined();
    });

    it('keeps the first seal', async () => {
      await openBatch();
      expect((await store.batches.sealBatch('b', 3))?.total).toBe(3);
      expect((await store.batches.sealBatch('b', 9))?.total).toBe(3);
      expect(await store.batches.sealBatch('nobody', 1)).toBeUndefined();
    });

    it('counts what others had accepted by the time that it was sealed', async () => {
      await openBatch();
      await accept(chunkOf('b', 'c', 2));
      expect((await store.batches.sealBatch('b', 1))?.total).toBe(2);
    });

    it('completes once, and only when sealed and decided', async () => {
      await openBatch();
      const chunk = chunkOf('b', 'c', 1);
      await accept(chunk);
      expect(await store.batches.completeBatch('b', NOW, event('done'))).toBe(false);
      await store.batches.sealBatch('b', 1);
      expect(await store.batches.completeBatch('b', NOW, event('done'))).toBe(false);
      await commit(chunk, 's', [decisionOf(chunk, 0, 'passed')]);
      expect(await store.batches.unfinishedBatches()).toEqual(['b']);
      expect(await store.batches.completeBatch('b', NOW, event('done'))).toBe(true);
      expect(await store.batches.completeBatch('b', NOW + 1, event('done'))).toBe(false);
      expect(await store.batches.unfinishedBatches()).toEqual([]);
      expect(await store.batches.batch('b')).toMatchObject({ state: 'completed', completedAt: NOW });
      expect((await outboxIds()).filter((id) => id === 'done')).toEqual(['done']);
      expect(await store.batches.completeBatch('nobody', NOW, event('x'))).toBe(false);
    });

    it('reports each step of progress once, never a lower one, and none after the end', async () => {
      await openBatch();
      expect(await store.batches.progressBatch('b', 3, event('p3'))).toBe(true);
      expect(await store.batches.progressBatch('b', 3, event('p3'))).toBe(false);
      expect(await store.batches.progressBatch('b', 2, event('p2'))).toBe(false);
      await store.batches.sealBatch('b', 0);
      await store.batches.completeBatch('b', NOW, event('done'));
      expect(await store.batches.progressBatch('b', 9, event('p9'))).toBe(false);
      expect(await outboxIds()).toEqual(['p3', 'done']);
    });

    it('lists its chunks by input position, whenever they were accepted', async () => {
      await openBatch();
      const late = chunkOf('b', 'late', 1);
      (late.evaluations[0] as { index: number }).index = 50;
      await accept(late);
      await accept(chunkOf('b', 'early', 2));
      expect(await store.batches.chunksOf('b')).toEqual([
        { id: 'early-0', firstIndex: 0 },
        { id: 'late-0', firstIndex: 50 },
      ]);
    });

    it('lists chunks page by page, also those of the same index', async () => {
      await openBatch();
      for (const name of ['d', 'a', 'c', 'b']) await accept(chunkOf('b', name, 1));
      const last = chunkOf('b', 'aa', 1);
      (last.evaluations[0] as { index: number }).index = 7;
      await accept(last);
      const pages: string[][] = [];
      for (let after: ChunkPlace | undefined; ; ) {
        const page = await store.batches.chunksOf('b', { after, count: 2 });
        if (page.length === 0) break;
        pages.push(page.map(({ id }) => id));
        after = page.at(-1);
      }
      expect(pages).toEqual([['a-0', 'b-0'], ['c-0', 'd-0'], ['aa-0']]);
    });

    it('keeps what the runs of an open batch will need, whoever opens it', async () => {
      const blob = (digest: string) => ({ digest, content: `content of ${digest}` });
      await store.batches.openBatch(openingOf('b', []), { blobs: [blob('x')], leaseMs: 60_000 });
      await store.batches.openBatch(openingOf('b', []), { blobs: [blob('x'), blob('y')], leaseMs: 90_000 });
      expect(await store.evaluations.blobs(['x', 'y', 'z'])).toEqual([
        'content of x',
        'content of y',
        undefined,
      ]);
    });

    it('logs what was decided in order, from any cursor', async () => {
      await openBatch();
      const [a, b] = [chunkOf('b', 'a', 2), chunkOf('b', 'z', 1)];
      await accept(a);
      await accept(b);
      await commit(a, 's1', [decisionOf(a, 1, 'passed')]);
      const first = await store.batches.decidedSince('b', '', 0);
      expect(first.entries).toEqual([{ chunk: 'a-0', positions: [1] }]);
      await commit(b, 's2', [decisionOf(b, 0, 'failed')]);
      await commit(a, 's3', [decisionOf(a, 0, 'passed'), decisionOf(a, 1, 'failed')]);
      const rest = await store.batches.decidedSince('b', first.cursor, 0);
      expect(rest.entries).toEqual([
        { chunk: 'z-0', positions: [0] },
        { chunk: 'a-0', positions: [0] },
      ]);
      expect((await store.batches.decidedSince('b', rest.cursor, 20)).entries).toEqual([]);
    });

    it('wakes who waits for a decision', async () => {
      await openBatch();
      const chunk = chunkOf('b', 'c', 1);
      await accept(chunk);
      const waiting = store.batches.decidedSince('b', '', 20_000);
      await commit(chunk, 's', [decisionOf(chunk, 0, 'passed')]);
      expect((await waiting).entries).toEqual([{ chunk: 'c-0', positions: [0] }]);
    });
  });

  describe('accept', () => {
    it('writes manifest, place, blobs and events in one step', async () => {
      await openBatch();
      const chunk = chunkOf('b', 'c', 2);
      expect(await accept(chunk)).toEqual({ accepted: true });
      expect(await store.evaluations.chunk('c-0')).toEqual({ chunk, generation: 1 });
      expect(await store.evaluations.locate(['c-1', 'nobody', 'c-0'])).toEqual([
        { chunk: 'c-0', position: 1 },
        undefined,
        { chunk: 'c-0', position: 0 },
      ]);
      const [blob] = subjectBlobs(chunk);
      expect(await store.evaluations.blobs([blob?.digest ?? '', 'gone'])).toEqual([blob?.content, undefined]);
      expect(await outboxIds()).toEqual(['c-0-accepted']);
      expect((await store.batches.batch('b'))?.accepted).toBe(2);
    });

    ofOneShard(
      'refuses a chunk with evaluations that stand, names them, and stores nothing of it',
      async () => {
        await openBatch();
        await accept(chunkOf('b', 'c', 2));
        const overlapping = chunkOf('b', 'd', 2);
        (overlapping.evaluations[1] as { id: string }).id = 'c-1';
        expect(await accept(overlapping)).toEqual({ accepted: false, reason: 'standing', standing: ['c-1'] });
        expect(await store.evaluations.chunk('d-0')).toBeUndefined();
        expect(await store.evaluations.locate(['d-0'])).toEqual([undefined]);
        expect((await store.batches.batch('b'))?.accepted).toBe(2);
        expect(await outboxIds()).toEqual(['c-0-accepted']);
        expect(await store.evaluations.dueChunks(NOW + 1, 10)).toEqual(['c-0']);
      },
    );

    it('refuses new evaluations of a sealed, unknown or completed batch, but says which stand', async () => {
      expect(await accept(chunkOf('nobody', 'n', 1))).toEqual({ accepted: false, reason: 'batch_closed' });
      await openBatch();
      const chunk = chunkOf('b', 'c', 1);
      await accept(chunk);
      await store.batches.sealBatch('b', 1);
      expect(await accept(chunkOf('b', 'd', 1))).toEqual({ accepted: false, reason: 'batch_closed' });
      expect(await accept(chunk)).toEqual({ accepted: false, reason: 'standing', standing: ['c-0'] });
      await commit(chunk, 's', [decisionOf(chunk, 0, 'passed')]);
      await store.batches.completeBatch('b', NOW, event('done'));
      expect(await accept(chunk)).toEqual({ accepted: false, reason: 'standing', standing: ['c-0'] });
      expect(await accept(chunkOf('b', 'd', 1))).toEqual({ accepted: false, reason: 'batch_closed' });
    });

    it('takes an evaluation that is of no batch, once, and counts it nowhere', async () => {
      const single = { correlation: 'c', retentionMs: 1000 };
      const chunk = chunkOf('', 'one', 1, { actor: 'ann', single });
      expect(await accept(chunk)).toEqual({ accepted: true });
      expect(await accept(chunk)).toEqual({ accepted: false, reason: 'standing', standing: ['one-0'] });
      expect(await store.evaluations.chunk('one-0')).toEqual({ chunk, generation: 1 });
      expect(await store.evaluations.locate(['one-0'])).toEqual([{ chunk: 'one-0', position: 0 }]);
      expect(await store.evaluations.dueChunks(NOW, 10)).toEqual(['one-0']);
      expect(await outboxIds()).toEqual(['one-0-accepted']);
      expect(await store.batches.batch('')).toBeUndefined();
      expect(await store.batches.chunksOf('')).toEqual([]);
    });

    ofOneShard('takes nothing in while the outbox is full, and goes on when it is not', async () => {
      await openBatch();
      const many = Array.from({ length: CAP }, (_, i) => event(`e${i}`));
      await accept(chunkOf('b', 'c', 1), many);
      const next = chunkOf('b', 'd', 1);
      expect(await accept(next)).toEqual({ accepted: false, reason: 'outbox_full' });
      expect(await store.evaluations.chunk('d-0')).toBeUndefined();
      await store.outbox.trim(Date.now(), 3_600_000, 2);
      expect(await accept(next)).toEqual({ accepted: true });
    });
  });

  describe('many subjects', () => {
    it('are stored with their chunk, or not at all', async () => {
      await openBatch();
      const [taken, refused] = ['c', 'd'].map((mark): Chunk => {
        const chunk = chunkOf('b', mark, 6);
        const evaluations = chunk.evaluations.map((e) => ({ ...e, subject: `subject of ${e.id}` }));
        return { ...chunk, evaluations };
      }) as [Chunk, Chunk];
      const read = ({ evaluations }: Chunk) => store.evaluations.blobs(evaluations.map((e) => e.subject));
      expect(await accept(taken)).toEqual({ accepted: true });
      expect(await accept(taken)).toMatchObject({ reason: 'standing' });
      await store.batches.sealBatch('b', 6);
      expect(await accept(refused)).toEqual({ accepted: false, reason: 'batch_closed' });
      expect(await read(taken)).toEqual(taken.evaluations.map((e) => `content of ${e.subject}`));
      expect(await read(refused)).toEqual(Array(6).fill(undefined));
    });
  });

  describe('results and decisions', () => {
    it('keeps all that packs record side by side, each once, and tells each whether it came in time', async () => {
      await openBatch();
      await accept(chunkOf('b', 'c', 2));
      await accept(chunkOf('b', 'd', 2));
      const packs = [0, 1, 0, 1].map((position, n) => packOf(position, n, [checkResult('pass')]));
      const record = (chunk: string) => packs.map((pack) => store.evaluations.record(chunk, pack));
      const answers = await Promise.all([...record('c-0'), ...record('nobody'), ...record('d-0')]);
      expect(answers).toEqual([
        ...Array(4).fill('stored'),
        ...Array(4).fill('late'),
        ...Array(4).fill('stored'),
      ]);
      expect(await store.evaluations.recorded('c-0')).toMatchObject(packs);
      expect(await store.evaluations.recorded('d-0')).toMatchObject(packs);
    });

    it('gives back what was recorded in order, and keeps late results apart', async () => {
      await openBatch();
      const chunk = chunkOf('b', 'c', 2);
      await accept(chunk);
      const packs = [packOf(1, 0, [checkResult('pass')]), packOf(0, 0, [checkResult('fail'), undefined])];
      for (const pack of packs) expect(await store.evaluations.record('c-0', pack)).toBe('stored');
      expect(await store.evaluations.recorded('c-0')).toMatchObject(packs);
      await commit(chunk, 's', [decisionOf(chunk, 0, 'passed')]);
      expect(await store.evaluations.record('c-0', packs[0] as never)).toBe('stored');
      await commit(chunk, 's', [decisionOf(chunk, 1, 'passed')]);
      expect(await store.evaluations.record('c-0', packs[0] as never)).toBe('late');
      expect(await store.evaluations.record('nobody', packs[0] as never)).toBe('late');
      expect(await store.evaluations.recorded('c-0')).toEqual([]);
    });

    it('lets the first decision win: it never changes, counts once, and its events leave once', async () => {
      await openBatch();
      const chunk = chunkOf('b', 'c', 3);
      await accept(chunk, []);
      const one = { ...decisionOf(chunk, 0, 'passed', 'first'), vacuousPasses: 2 };
      expect(await commit(chunk, 's1', [one, decisionOf(chunk, 1, 'errored', 'first')], 'one')).toMatchObject(
        {
          fresh: [0, 1],
          chunkDone: false,
          batch: { decided: 2, passed: 1, errored: 1, failed: 0, vacuousPasses: 2 },
        },
      );
      const all = [0, 1, 2].map((p) => decisionOf(chunk, p, 'failed', 'second'));
      expect(await commit(chunk, 's2', all, 'two')).toMatchObject({
        fresh: [2],
        chunkDone: true,
        batch: { decided: 3, passed: 1, errored: 1, failed: 1, vacuousPasses: 2 },
      });
      expect(await commit(chunk, 's3', all, 'three')).toMatchObject({ fresh: [], chunkDone: true });
      const stored = await store.evaluations.decisions('c-0');
      expect(stored.map(({ decision, results }) => [JSON.parse(decision).mark, results])).toEqual([
        ['first', 'results one'],
        ['first', 'results one'],
        ['second', 'results two'],
      ]);
      expect(await outboxIds()).toEqual(['c-0-decided', 'c-1-decided', 'c-2-decided']);
      expect((await store.evaluations.decisions('c-0', [2, 0])).map((d) => d.position)).toEqual([2, 0]);
    });

    it('lets what one pack recorded by itself stand as the results, and the others go', async () => {
      await openBatch();
      const chunk = chunkOf('b', 'alone', 1);
      await accept(chunk);
      const long = packOf(0, 0, [checkResult('pass', { text: 'x'.repeat(9000) })]);
      for (const pack of [long, long]) await store.evaluations.record('alone-0', pack);
      const [first] = await store.evaluations.recorded('alone-0');
      const { stage, json } = first?.stored ?? { stage: '', json: '' };
      expect(JSON.parse(json)).toEqual(long);
      const decide = () =>
        store.evaluations.commit(chunk, stage, null, [decisionOf(chunk, 0, 'passed')], NOW, 3_600_000);
      expect(await decide()).toMatchObject({ fresh: [0], chunkDone: true });
      expect(await decide()).toMatchObject({ fresh: [], chunkDone: true });
      expect((await store.evaluations.decisions('alone-0'))[0]?.results).toBe(json);
      expect(await store.evaluations.record('alone-0', long)).toBe('late');
      if (name === 'memory') return;
      const client = new Redis(redis.url);
      const left = await client.keys('*:alone-0*');
      const results = left.filter((key) => /:(rs|res|alone):/.test(key));
      expect(results).toHaveLength(1);
      expect(await client.pttl(results[0] as string)).toBeGreaterThan(0);
      await client.del(left);
      client.disconnect();
    });

    it('keeps the results when a commit is sent again after its answer was lost', async () => {
      await openBatch();
      const chunk = chunkOf('b', 'c', 1);
      await accept(chunk);
      const decisions = [decisionOf(chunk, 0, 'passed')];
      await commit(chunk, 'same', decisions);
      expect(await commit(chunk, 'same', decisions)).toMatchObject({ fresh: [], chunkDone: true });
      expect((await store.evaluations.decisions('c-0'))[0]?.results).toBe('results r');
    });

    it('decides once what is of no batch', async () => {
      const chunk = chunkOf('', 'one', 1, { single: { correlation: 'c', retentionMs: 1000 } });
      await accept(chunk, []);
      const decisions = [decisionOf(chunk, 0, 'passed')];
      expect(await commit(chunk, 's1', decisions)).toEqual({ fresh: [0], chunkDone: true, batch: undefined });
      expect(await commit(chunk, 's2', decisions)).toEqual({ fresh: [], chunkDone: true, batch: undefined });
      expect(await store.evaluations.decisions('one-0')).toHaveLength(1);
      expect(await outboxIds()).toEqual(['one-0-decided']);
      expect(await store.evaluations.dueChunks(NOW * 2, 10)).toEqual([]);
      expect(await store.batches.batch('')).toBeUndefined();
      expect((await store.batches.decidedSince('', '', 0)).entries).toEqual([]);
    });

    it('decides nothing for a chunk that does not exist', async () => {
      const chunk = chunkOf('b', 'c', 1);
      expect(await commit(chunk, 's', [decisionOf(chunk, 0, 'passed')])).toMatchObject({
        fresh: [],
        chunkDone: false,
      });
      expect(await store.evaluations.decisions('c-0')).toEqual([]);
      expect(await outboxIds()).toEqual([]);
    });

    it('decides once when many commit at the same time', async () => {
      await openBatch();
      const chunk = chunkOf('b', 'c', 4);
      await accept(chunk, []);
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          commit(
            chunk,
            `s${n}`,
            [0, 1, 2, 3].map((p) => decisionOf(chunk, p, n % 2 ? 'passed' : 'failed', String(n))),
            `${n}-`,
          ),
        ),
      );
      expect(answers.flatMap(({ fresh }) => fresh).sort()).toEqual([0, 1, 2, 3]);
      expect((await outboxIds()).sort()).toEqual([0, 1, 2, 3].map((p) => `c-${p}-decided`));
      for (const { decision, results } of await store.evaluations.decisions('c-0')) {
        expect(results).toBe(`results ${JSON.parse(decision).mark}-`);
      }
      const batch = await store.batches.batch('b');
      expect(batch?.decided).toBe(4);
      expect((batch?.passed ?? 0) + (batch?.failed ?? 0)).toBe(4);
    });
  });

  describe('what the sweeper needs', () => {
    it('raises a generation by compare-and-set, never for what is decided', async () => {
      await openBatch();
      const chunk = chunkOf('b', 'c', 1);
      await accept(chunk);
      const raised = await Promise.all([1, 2, 3].map(() => store.evaluations.raiseGeneration('c-0', 1, NOW)));
      expect(raised.filter((g) => g !== undefined)).toEqual([2]);
      expect((await store.evaluations.chunk('c-0'))?.generation).toBe(2);
      expect(await store.evaluations.raiseGeneration('nobody', 1, NOW)).toBeUndefined();
      await commit(chunk, 's', [decisionOf(chunk, 0, 'passed')]);
      expect(await store.evaluations.raiseGeneration('c-0', 2, NOW)).toBeUndefined();
    });

    it('finds undecided chunks whose time has come, the most overdue first', async () => {
      await openBatch();
      const [a, b, c] = ['a', 'b', 'c'].map((name) => chunkOf('b', name, 1)) as [Chunk, Chunk, Chunk];
      await accept(a, [], NOW + 20);
      await accept(b, [], NOW + 10);
      await accept(c, [], NOW + 30);
      expect(await store.evaluations.dueChunks(NOW + 9, 10)).toEqual([]);
      expect(await store.evaluations.dueChunks(NOW + 20, 10)).toEqual(['b-0', 'a-0']);
      expect(await store.evaluations.dueChunks(NOW + 99, 1)).toEqual(['b-0']);
      await store.evaluations.deferCheck('b-0', NOW + 50);
      await store.evaluations.raiseGeneration('c-0', 1, NOW + 60);
      expect(await store.evaluations.dueChunks(NOW + 55, 10)).toEqual(['a-0', 'b-0']);
      await commit(a, 's', [decisionOf(a, 0, 'passed')]);
      await store.evaluations.deferCheck('a-0', NOW);
      expect(await store.evaluations.dueChunks(NOW + 99, 10)).toEqual(['b-0', 'c-0']);
    });
  });

  describe('the outbox', () => {
    /** Fills the outbox by one decision with these events: many of them in the same millisecond. */
    const emit = async (...ids: string[]) => {
      await store.batches.openBatch(openingOf('emit', []));
      const chunk = chunkOf('emit', `emit-${ids[0]}`, 1);
      await store.evaluations.accept(chunk, [], [], NOW, NOW + 1000);
      const decision = { ...decisionOf(chunk, 0, 'passed'), events: ids.map((id) => event(id)) };
      await store.evaluations.commit(chunk, 's', '{}', [decision], NOW, 1000);
    };
    const numbered = (n: number, from = 0) => Array.from({ length: n }, (_, i) => `e${from + i}`);
    const claim = (count = 100, reclaimMs = 60_000, consumer = 'one') =>
      store.outbox.claim('r', consumer, count, 1, reclaimMs);
    const positionsOf = (entries: { position: string }[]) => entries.map(({ position }) => position);

    it('reads in order from any position, and waits for what is new', async () => {
      expect(await store.outbox.lastEvent()).toBe('');
      await emit('e0', 'e1', 'e2');
      const [first] = await store.outbox.events('', 1, 0);
      expect(first?.event).toEqual(event('e0'));
      const rest = await store.outbox.events(first?.position ?? '', 10, 0);
      expect(rest.map((e) => e.event.id)).toEqual(['e1', 'e2']);
      const last = await store.outbox.lastEvent();
      expect(last).toBe(rest.at(-1)?.position);
      const waiting = store.outbox.events(last, 10, 20_000);
      await emit('e3');
      expect((await waiting).map((e) => e.event.id)).toEqual(['e3']);
      expect((await store.outbox.eventsAt([first?.position ?? '', last])).map((e) => e.event.id)).toEqual([
        'e0',
        'e2',
      ]);
      expect(await store.outbox.eventsAt([])).toEqual([]);
    });

    it('starts a reader after its position, and a reader that exists keeps its place', async () => {
      await emit('e0');
      await store.outbox.openReader('r', await store.outbox.lastEvent());
      await emit('e1');
      expect((await claim()).map((e) => e.event.id)).toEqual(['e1']);
      await store.outbox.openReader('r', '');
      expect(await claim()).toEqual([]);
      await store.outbox.openReader('all', '');
      const all = await store.outbox.claim('all', 'x', 10, 1, 60_000);
      expect(all.map((e) => e.event.id)).toEqual(['e0', 'e1']);
    });

    it('claims each entry for one consumer, and again once its consumer is taken for dead', async () => {
      await store.outbox.openReader('r', '');
      await emit(...numbered(4));
      const mine = await claim(2);
      expect((await claim(100, 60_000, 'two')).map((e) => e.event.id)).toEqual(['e2', 'e3']);
      await store.outbox.acknowledge('r', positionsOf(mine).slice(0, 1));
      expect((await claim(100, 0, 'three')).map((e) => e.event.id)).toEqual(['e1', 'e2', 'e3']);
    });

    it('counts as outstanding what waits, is claimed, or is held back', async () => {
      await store.outbox.openReader('r', '');
      expect(await store.outbox.outstanding('r')).toBe(0);
      await emit('e0');
      expect(await store.outbox.outstanding('r')).toBeGreaterThan(0);
      const positions = positionsOf(await claim());
      expect(await store.outbox.outstanding('r')).toBe(1);
      await store.outbox.holdBack('r', positions);
      await store.outbox.acknowledge('r', positions);
      expect(await store.outbox.outstanding('r')).toBe(1);
      await store.outbox.letGo('r', positions);
      expect(await store.outbox.outstanding('r')).toBe(0);
      expect(await store.outbox.outstanding('nobody')).toBe(0);
    });

    ofOneShard('trims beyond a count, and what is older than it is kept for', async () => {
      await emit(...numbered(10));
      expect(await store.outbox.trim(Date.now(), 3_600_000, 4)).toBe(6);
      expect(await outboxIds()).toEqual(['e6', 'e7', 'e8', 'e9']);
      expect(await store.outbox.trim(Date.now(), 3_600_000, Number.POSITIVE_INFINITY)).toBe(0);
      expect(await store.outbox.trim(Date.now() + 10_000, 5_000, Number.POSITIVE_INFINITY)).toBe(4);
      await emit('e10');
      expect(await outboxIds()).toEqual(['e10']);
      expect(await store.outbox.trim(Date.now(), 3_600_000, 0)).toBe(1);
    });

    it.each([
      ['unread', 0],
      ['claimed', 1],
      ['held back', 2],
    ] as const)('never trims an entry that is %s', async (_state, stage) => {
      await store.outbox.openReader('r', '');
      await emit(...numbered(30));
      const first = positionsOf(await claim(9));
      await store.outbox.acknowledge('r', first);
      const open = stage > 0 ? positionsOf(await claim(4)) : [];
      if (stage > 1) {
        await store.outbox.holdBack('r', open);
        await store.outbox.acknowledge('r', open);
        const rest = positionsOf(await claim());
        await store.outbox.acknowledge('r', rest);
      }
      await store.outbox.trim(Date.now() + 10_000, 1_000, 0);
      const kept = await outboxIds();
      expect(kept).toEqual(expect.arrayContaining(numbered(21, 9)));
      if (stage < 2) return;
      await store.outbox.letGo('r', open.slice(0, 2));
      await store.outbox.trim(Date.now() + 10_000, 1_000, 0);
      expect((await store.outbox.eventsAt(open.slice(2))).map((e) => e.event.id)).toEqual(['e11', 'e12']);
      await store.outbox.letGo('r', open.slice(2));
      await store.outbox.trim(Date.now() + 10_000, 1_000, 0);
      expect((await outboxIds()).length).toBeLessThanOrEqual(1);
    });

    it('never trims behind the slowest reader, until that reader is closed', async () => {
      await store.outbox.openReader('slow', '');
      await store.outbox.openReader('r', '');
      await emit(...numbered(10));
      await store.outbox.acknowledge('r', positionsOf(await claim()));
      await store.outbox.trim(Date.now() + 10_000, 1_000, 0);
      expect(await outboxIds()).toEqual(numbered(10));
      await store.outbox.closeReader('slow');
      await store.outbox.trim(Date.now() + 10_000, 1_000, 0);
      expect((await outboxIds()).length).toBeLessThanOrEqual(1);
    });

    it('closes a reader that never was without complaint', async () => {
      await store.outbox.closeReader('nobody');
      await emit('e0');
      await store.outbox.closeReader('nobody');
      expect(await outboxIds()).toEqual(['e0']);
    });

    it('tells when each entry was written', async () => {
      const before = Date.now() - 1;
      await emit('e0');
      const [entry] = await store.outbox.events('', 1, 0);
      expect(entry?.at).toBeGreaterThanOrEqual(before);
      expect(entry?.at).toBeLessThanOrEqual(Date.now() + 1);
    });

    it('finds entries at positions in any order', async () => {
      await emit(...numbered(5));
      const positions = positionsOf(await store.outbox.events('', 10, 0));
      const wanted = [positions[3], positions[1]].map(String);
      expect((await store.outbox.eventsAt(wanted)).map((e) => e.event.id)).toEqual(['e1', 'e3']);
    });

    it('tells since when the oldest waits that a reader has not claimed', async () => {
      await store.outbox.openReader('r', '');
      expect(await store.outbox.waitingSince('nobody')).toBeUndefined();
      expect(await store.outbox.waitingSince('r')).toBeUndefined();
      await emit('e0', 'e1');
      const [first, second] = await store.outbox.events('', 2, 0);
      expect(await store.outbox.waitingSince('r')).toBe(first?.at);
      await claim(1);
      expect(await store.outbox.waitingSince('r')).toBe(second?.at);
      await claim(1);
      expect(await store.outbox.waitingSince('r')).toBeUndefined();
    });

    const inOrder = async (consumer: string, count = 10, leadMs = 60_000) =>
      (await store.outbox.claimInOrder('r', consumer, count, 1, leadMs))?.map(({ event: e }) => e.id);

    ofOneShard(
      'lets one consumer at a time claim in order; the next begins with what that one held',
      async () => {
        await store.outbox.openReader('r', '');
        await emit(...numbered(6));
        expect(await inOrder('one', 2)).toEqual(['e0', 'e1']);
        expect(await inOrder('two', 2)).toBeUndefined();
        const [first] = await store.outbox.events('', 1, 0);
        await store.outbox.acknowledge('r', positionsOf([first as never]));
        expect(await inOrder('one', 3)).toEqual(['e1']);
        await store.outbox.endLead('r', 'two');
        expect(await inOrder('two')).toBeUndefined();
        await store.outbox.endLead('r', 'one');
        expect(await inOrder('two')).toEqual(['e1']);
        expect(await inOrder('one')).toBeUndefined();
      },
    );

    it('gives the lead to another when it was not used for its time', async () => {
      await store.outbox.openReader('r', '');
      await emit('e0');
      expect(await inOrder('one', 1, 1)).toEqual(['e0']);
      await expect.poll(() => inOrder('two', 1)).toEqual(['e0']);
    });

    it('waits for something new to claim in order', async () => {
      await store.outbox.openReader('r', '');
      await emit('e0');
      await store.outbox.acknowledge('r', positionsOf(await claim()));
      const waiting = store.outbox.claimInOrder('r', 'one', 10, 20_000, 60_000);
      await emit('e1');
      expect((await waiting)?.map(({ event: e }) => e.id)).toEqual(['e1']);
    });
  });
});
