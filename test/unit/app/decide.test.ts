import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Aggregator } from '../../../src/app/decide.js';
import type { Decision } from '../../../src/core/decision.js';
import { sha256 } from '../../../src/core/digest.js';
import type { Chunk } from '../../../src/core/manifest.js';
import type { CheckResult, Outcome } from '../../../src/core/result.js';
import { type PackResults, parseChunkResults, unpackRows } from '../../../src/core/results-codec.js';
import type { Store } from '../../../src/ports/store.js';
import { openMemoryStore } from '../../../src/store/memory/index.js';
import { blobOf, checkResult, chunkOf, openingOf, packOf, sealed } from '../../support/evidence.js';

const NOW = 1_700_000_000_000;
const RULES = 4;
const rule = (label: string, required: boolean) => ({ label, validator: 'task_count', min: 1, required });
const scenario = sealed('mixed', {
  job: [rule('r0', true), rule('i1', false), rule('r2', true), rule('i3', false)],
});
const required = [true, false, true, false];

async function opened(evaluations = 2, digest = scenario.digest): Promise<{ store: Store; chunk: Chunk }> {
  const store = openMemoryStore({ outboxCap: 1000 });
  await store.batches.openBatch(openingOf('b', [scenario]));
  const chunk = chunkOf('b', 'c', evaluations, { scenario: digest });
  await store.evaluations.accept(chunk, [blobOf(scenario)], [], NOW, NOW);
  await store.batches.sealBatch('b', evaluations);
  return { store, chunk };
}

const aggregatorOf = (store: Store) =>
  new Aggregator({
    store,
    clock: { now: () => NOW },
    fleet: 'f',
    events: { perCheck: true },
    plans: { decide: () => Promise.reject(new Error('no plan here')) },
  });

function outcomesAt(json: string, position: number): Outcome[] {
  const { texts, rows } = parseChunkResults(json);
  return (unpackRows(texts, rows[position]) as CheckResult[]).map(({ outcome }) => outcome);
}

async function decided(store: Store): Promise<(Decision & { outcomes: Outcome[] })[]> {
  const stored = await store.evaluations.decisions('c-0');
  return stored.map(({ position, decision, results }) => ({
    ...(JSON.parse(decision) as Decision),
    outcomes: outcomesAt(results, position),
  }));
}

async function decideAfter(records: readonly unknown[], evaluations = 1) {
  const { store } = await opened(evaluations);
  for (const record of records) await store.evaluations.record('c-0', record as PackResults);
  await aggregatorOf(store).decide('c-0');
  return decided(store);
}

const outcome = fc.constantFrom<Outcome>('pass', 'pass', 'fail', 'error');
const outcomes = fc.array(outcome, { minLength: RULES, maxLength: RULES });

/** The same results cut into packs of any width. */
const packs = (all: Outcome[][], widths: number[]): PackResults[] =>
  all.flatMap((checks, position) => {
    const found: PackResults[] = [];
    for (let from = 0, i = 0; from < checks.length; i++) {
      const to = from + (widths[i % widths.length] ?? 1);
      found.push(
        packOf(
          position,
          from,
          checks.slice(from, to).map((each) => checkResult(each)),
        ),
      );
      from = to;
    }
    return found;
  });

const interleaving = fc.record({
  all: fc.array(outcomes, { minLength: 2, maxLength: 2 }),
  widths: fc.array(fc.integer({ min: 1, max: RULES }), { minLength: 1, maxLength: 3 }),
  seed: fc.array(fc.nat(), { minLength: 30, maxLength: 30 }),
  decides: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
});

/** Any order, any duplicates; every pack at least once. */
function shuffled(items: readonly PackResults[], seed: readonly number[]): PackResults[] {
  const doubled = [...items, ...items.filter((_, i) => (seed[i] ?? 0) % 2 === 0)];
  return doubled
    .map((item, i) => ({ item, key: (seed[(i * 7) % seed.length] ?? 0) + i / 1000 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

describe('deciding', () => {
  it('comes to the plain decision in any order, with any duplicates, however often it is called', async () => {
    await fc.assert(
      fc.asyncProperty(interleaving, async ({ all, widths, seed }) => {
        const plain = await decideAfter(packs(all, [RULES]), 2);
        const { store } = await opened(2);
        for (const pack of shuffled(packs(all, widths), seed)) await store.evaluations.record('c-0', pack);
        const aggregator = aggregatorOf(store);
        await Promise.all([aggregator.decide('c-0'), aggregator.decide('c-0')]);
        await aggregator.decide('c-0');
        expect(await decided(store)).toEqual(plain);
        expect(plain.map((d) => d.outcomes)).toEqual(all);
        expect(await store.batches.batch('b')).toMatchObject({ state: 'completed', decided: 2 });
      }),
      { numRuns: 60 },
    );
  });

  it('decides once and for ever, even when called before all results are there', async () => {
    await fc.assert(
      fc.asyncProperty(interleaving, async ({ all, widths, seed, decides }) => {
        const { store } = await opened(2);
        const aggregator = aggregatorOf(store);
        let first: Awaited<ReturnType<typeof decided>> = [];
        for (const [i, pack] of shuffled(packs(all, widths), seed).entries()) {
          await store.evaluations.record('c-0', pack);
          if (decides[i % decides.length]) await aggregator.decide('c-0');
          const now = await decided(store);
          if (first.length > 0) expect(now).toEqual(first);
          first = now;
        }
        await aggregator.decide('c-0');
        if (first.length > 0) expect(await decided(store)).toEqual(first);
        const events = (await store.outbox.events('', 1000, 0)).map(({ event }) => event);
        expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
        expect(events.filter(({ type }) => /evaluation\.(passed|failed)/.test(type))).toHaveLength(2);
        // What had not come by then was an error, and never a pass.
        for (const [e, decision] of (await decided(store)).entries()) {
          decision.outcomes.forEach((each, i) => {
            expect([all[e]?.[i], 'error']).toContain(each);
          });
        }
      }),
      { numRuns: 60 },
    );
  });

  it('never closes the compliance gate for an informational failure or error', async () => {
    await fc.assert(
      fc.asyncProperty(outcomes, outcome, outcome, async (checks, one, three) => {
        const changed = [checks[0], one, checks[2], three] as Outcome[];
        const [a] = await decideAfter(packs([checks], [RULES]));
        const [b] = await decideAfter(packs([changed], [RULES]));
        expect(b?.gates.compliance).toEqual(a?.gates.compliance);
      }),
      { numRuns: 40 },
    );
  });

  it('never opens a gate by an error', async () => {
    await fc.assert(
      fc.asyncProperty(outcomes, fc.nat({ max: RULES - 1 }), async (checks, at) => {
        const [before] = await decideAfter(packs([checks], [RULES]));
        const [after] = await decideAfter(packs([checks.with(at, 'error')], [RULES]));
        for (const gate of ['compliance', 'resolution'] as const) {
          if (after?.gates[gate].passed) expect(before?.gates[gate].passed).toBe(true);
        }
        if (required[at]) expect(after?.gates.compliance.passed).toBe(false);
        expect(after?.score.total).toBe(RULES);
      }),
      { numRuns: 60 },
    );
  });

  it('turns anything malformed in what was recorded into errors, and still decides', async () => {
    const good = packOf(0, 0, [checkResult('pass')]);
    const odd = fc.oneof(
      fc.anything(),
      fc.record({ evaluations: fc.anything() }),
      fc.record({
        texts: fc.anything(),
        evaluations: fc.array(
          fc.oneof(
            fc.anything(),
            fc.record({
              position: fc.oneof(fc.nat(2), fc.anything()),
              firstCheck: fc.anything(),
              rows: fc.oneof(fc.anything(), fc.array(fc.array(fc.anything()))),
            }),
          ),
        ),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(odd, { maxLength: 5 }), async (records) => {
        const [decision] = await decideAfter([...records, good]);
        expect(decision?.status).toBe('errored');
        expect(decision?.outcomes.slice(1)).toEqual(['error', 'error', 'error']);
        expect(decision?.outcomes[0]).not.toBe('fail');
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['is gone', sha256('nobody')],
    ['is not the one that was asked for', sha256('subject')],
  ])('errs when the scenario %s, and its neighbours keep their verdicts', async (_name, digest) => {
    const { store, chunk } = await opened(0);
    const mixed = chunkOf('b', 'm', 2, { scenario: scenario.digest });
    (mixed.evaluations[1] as { scenario: string }).scenario = digest;
    await store.batches.openBatch(openingOf('b2', [scenario]));
    const blobs = [blobOf(scenario), { digest: sha256('subject'), content: '{"not": "a scenario"}' }];
    await store.evaluations.accept({ ...mixed, batch: 'b2' }, blobs, [], NOW, NOW);
    await store.evaluations.record(
      'm-0',
      packOf(
        0,
        0,
        [0, 1, 2, 3].map(() => checkResult('pass')),
      ),
    );
    await aggregatorOf(store).decide('m-0');
    const statuses = (await store.evaluations.decisions('m-0')).map(
      ({ decision }) => JSON.parse(decision).status,
    );
    expect(statuses).toEqual(['passed', 'errored']);
    expect(chunk.evaluations).toEqual([]);
  });

  it('does nothing for a chunk that does not exist', async () => {
    const { store } = await opened();
    await aggregatorOf(store).decide('nobody');
    expect(await store.outbox.lastEvent()).toBe('');
  });
});
