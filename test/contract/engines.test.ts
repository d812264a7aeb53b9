import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, openInline } from '../../src/compose.js';
import type { EvaluationOptions } from '../../src/core/manifest.js';
import type { Packing } from '../../src/core/packing.js';
import { DIRECT, sealed, submission } from '../support/evidence.js';
import {
  comparable,
  configWith,
  evaluationsOf,
  eventsByEvaluation,
  judgeBatch,
  openTestFleet,
  outboxOf,
  silent,
  type TestFleet,
} from '../support/fleet.js';
import { bundle, mixed, mixedRuns, playbookRuns, withPlaybook } from '../support/mixed-batch.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const settings = { patterns: { deadline: '200ms' }, events: { per_check: true } };
const scenarios = [mixed, withPlaybook];
const submissions = [...mixedRuns(12), ...playbookRuns(12)];
const nothing = sealed('nothing', { job: [] });
const gatewayOnly = sealed('gateway-only', {
  gateway: [{ label: 'resolved', validator: 'ticket_status', pattern: 'resolved' }],
});

let redis: TestRedis;
let fleet: TestFleet;
beforeAll(async () => {
  redis = await startTestRedis();
  fleet = await openTestFleet(redis.url, configWith(settings));
});
afterAll(async () => {
  await fleet.close();
  await redis.stop();
});

async function judged(engine: Engine, options: EvaluationOptions, packing: Packing) {
  const id = `b-${JSON.stringify(options)}`.replace(/[^a-z]/gi, '') + engine.kind + packing;
  // Playbooks take a second each: once for every engine is enough.
  const given = options === DIRECT ? submissions : submissions.slice(0, 12);
  const input = { id, scenarios, submissions: given, options, bundles: [bundle] };
  const batch = await judgeBatch(engine, input, { packing, expected: given.length });
  const { state, total, passed, failed, errored, vacuousPasses } = batch;
  const evaluations = await evaluationsOf(engine.store, id);
  const runOf = new Map(evaluations.map((evaluation) => [evaluation.id, evaluation.run]));
  const all = (await outboxOf(engine.store)).filter((e) => e.correlationid === id);
  const events = Object.entries(eventsByEvaluation(all)).map(([evaluation, own]) => [
    runOf.get(evaluation),
    own,
  ]);
  return {
    batch: { state, total, passed, failed, errored, vacuousPasses },
    evaluations: comparable(evaluations).map(({ id: _id, ...rest }) => rest),
    events: Object.fromEntries(events) as Record<string, string[]>,
    lastOfBatch: all.at(-1)?.type,
  };
}

describe('the engines', () => {
  it.each<[string, EvaluationOptions]>([
    ['plainly', DIRECT],
    ['through the gateway', { ...DIRECT, from: 'gateway' }],
    ['strictly, with errors that block', { strict: true, from: 'message', informationalErrors: 'block' }],
  ])('judge the same batch alike, %s', async (_how, options) => {
    const inline = await judged(openInline(configWith(settings), silent), options, 'auto');
    expect(inline.batch).toMatchObject({ state: 'completed', total: options === DIRECT ? 14 : 12 });
    expect(inline.evaluations).toHaveLength(inline.batch.total ?? 0);
    expect(inline.lastOfBatch).toBe('dev.sluice.batch.completed.v1');
    for (const packing of ['auto', 'off'] as const) {
      const found = await judged(fleet.engine, options, packing);
      expect(found).toEqual(inline);
    }
  });

  it('have every outcome in that batch', async () => {
    const { evaluations, batch } = await judged(fleet.engine, DIRECT, 'auto');
    const outcomes = new Set(evaluations.flatMap(({ results }) => results.map(({ outcome }) => outcome)));
    expect([...outcomes].sort()).toEqual(['error', 'fail', 'pass', 'skipped']);
    const [passes, fails] = evaluations.slice(12).map(({ results }) => results.at(-1)?.outcome);
    expect([passes, fails]).toEqual(['pass', 'fail']);
    expect(batch.passed).toBeGreaterThan(0);
    expect(batch.failed).toBeGreaterThan(0);
    expect(batch.vacuousPasses).toBeGreaterThan(0);
  });

  it.each(['auto', 'off'] as const)(
    'take a run that is given twice for one, with packing %s',
    async (packing) => {
      const twice = [...mixedRuns(3), ...mixedRuns(3)].map((each, index) => ({ ...each, index }));
      for (const engine of [openInline(configWith(settings), silent), fleet.engine]) {
        const input = { id: `twice-${packing}`, scenarios, submissions: twice };
        // One at a time and together: in chunks of their own and in the same chunk.
        for (const expected of [1, 1000]) {
          const id = `${input.id}-${expected}`;
          const batch = await judgeBatch(engine, { ...input, id }, { packing, expected });
          expect(batch).toMatchObject({ state: 'completed', total: 3, decided: 3 });
          expect(await evaluationsOf(engine.store, id)).toHaveLength(3);
        }
      }
    },
  );

  it('refuse a run that is given twice with other content', async () => {
    const [a, b] = mixedRuns(2);
    const other = [a, { ...b, run: a?.run, index: 1 }] as typeof submissions;
    for (const engine of [openInline(configWith(settings), silent), fleet.engine]) {
      for (const expected of [1, 1000]) {
        const input = { id: `other-${expected}`, scenarios, submissions: other };
        await expect(judgeBatch(engine, input, { expected })).rejects.toThrow(/with other content/);
      }
    }
  });

  it('complete an empty batch', async () => {
    for (const engine of [openInline(configWith(settings), silent), fleet.engine]) {
      const empty = await judgeBatch(engine, { id: 'empty', scenarios, submissions: [] });
      expect(empty).toMatchObject({ state: 'completed', total: 0 });
    }
  });

  it.each(['auto', 'off'] as const)(
    'fail a run to which no rule applies, with packing %s',
    async (packing) => {
      for (const engine of [openInline(configWith(settings), silent), fleet.engine]) {
        const id = `nothing-${packing}`;
        const none = [nothing, gatewayOnly].map((each, i) => submission(i, each, { id: `r${i}` }));
        const input = { id, scenarios: [nothing, gatewayOnly], submissions: none };
        expect(await judgeBatch(engine, input, { packing })).toMatchObject({ state: 'completed', failed: 2 });
        const reasons = (await evaluationsOf(engine.store, id)).map(({ gates }) => gates.resolution.reason);
        expect(reasons).toEqual([0, 1].map(() => expect.stringContaining('nothing was verified')));
      }
    },
  );
});
