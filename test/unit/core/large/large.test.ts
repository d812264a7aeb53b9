import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outlineOf, ScenarioOutline } from '../../../../src/core/large/outline.js';
import { resultPieces } from '../../../../src/core/large/result-pieces.js';
import { LargeSettling } from '../../../../src/core/large/settling.js';
import type { EvaluationOptions } from '../../../../src/core/manifest.js';
import {
  type PackResults,
  packRows,
  parseChunkResults,
  TextTable,
  unpackRows,
} from '../../../../src/core/results-codec.js';
import { scenarioJson } from '../../../../src/core/scenario/load.js';
import { materialize } from '../../../../src/core/scenario/materialize.js';
import { judge } from '../../../../src/core/scoring.js';
import { settleResults } from '../../../../src/core/settle.js';
import { checkResult, sealed } from '../../../support/evidence.js';

const rule = fc.record({
  label: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map((text) => `${text}"},{"rules":[\\`),
  required: fc.boolean(),
  negate: fc.boolean(),
});
const scenario = fc
  .record({
    job: fc.array(rule, { minLength: 1, maxLength: 6 }),
    gateway: fc.array(rule, { maxLength: 3 }),
    key: fc.stringMatching(/^[a-z"{}:,[]{0,8}$/),
  })
  .map(({ job, gateway, key }) =>
    sealed(`k${key}`, {
      job: job.map((each) => ({ ...each, validator: 'task_count', min: 1 })),
      gateway: gateway.map((each) => ({ ...each, validator: 'ticket_status', pattern: 'closed' })),
    }),
  );
const raw = fc.oneof(
  fc.constantFrom(checkResult('pass'), checkResult('fail', { a: 1 }), checkResult('error')),
  fc.constant(checkResult('pass', { vacuous: true })),
  fc.constantFrom<unknown>(undefined, 'broken', { outcome: 'great' }),
);
const options: fc.Arbitrary<EvaluationOptions> = fc.record({
  strict: fc.boolean(),
  from: fc.constantFrom('gateway', 'direct'),
  informationalErrors: fc.constantFrom('ignore', 'block'),
});

async function* inPieces(text: string, width: number): AsyncGenerator<string> {
  const characters = [...text];
  for (let from = 0; from < characters.length; from += width)
    yield characters.slice(from, from + width).join('');
}

describe('an outline', () => {
  it('is the scenario without parameters, however its text is cut', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, fc.integer({ min: 1, max: 400 }), async (given, width) => {
        const outline = await outlineOf(inPieces(scenarioJson(given), width), given.digest);
        expect(outline).toMatchObject({ key: given.key, digest: given.digest });
        const rules = given.rules.map((each) => ({ ...each, params: {} }));
        expect(outline?.outline.rules(0, 100)).toEqual(rules);
        expect(outline?.outline.rules(1, 3)).toEqual(rules.slice(1, 3));
      }),
    );
  });

  it.each(['', '{"key":"a"}', 'no JSON'])('of another text (%s) is none', async (text) => {
    expect(await outlineOf(inPieces(text, 3), 'f'.repeat(64))).toBeUndefined();
  });
});

describe('settling in parts', () => {
  it('gives the results, gates and failures that settling at once gives, in whatever order packs come', () => {
    const packs = fc.array(fc.record({ from: fc.nat(9), results: fc.array(raw, { maxLength: 9 }) }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(scenario, options, packs, (given, how, brought) => {
        const first: unknown[] = [];
        for (const { from, results } of brought) {
          results.forEach((result, i) => {
            first[from + i] ??= result;
          });
        }
        const expected = settleResults(given, how, first);
        const outline = new ScenarioOutline();
        for (const each of given.rules) outline.add(each);
        const settling = new LargeSettling({ key: given.key, digest: given.digest, outline }, how, 1);
        const parts = [
          ...brought.flatMap(({ from, results }) => [...settling.take(from, results)]),
          ...settling.rest(),
        ];
        const stored = parts.map(({ results }) => `${JSON.stringify(results)}\n`).join('');
        const { texts, rows } = parseChunkResults(stored);
        expect(unpackRows(texts, rows[0] ?? [])).toEqual(expected);
        expect(settling.judgement()).toEqual(judge(given, how, expected));
        const bad = materialize(given, { id: '' }, { attempt: 1 }, expected).filter(
          ({ outcome }) => outcome === 'fail' || outcome === 'error',
        );
        const failing = parts.flatMap((part) => part.failing);
        expect(failing.map(({ attachment_id }) => attachment_id).sort()).toEqual(
          bad.map(({ attachment_id }) => attachment_id).sort(),
        );
      }),
    );
  });
});

describe('pieces of results', () => {
  it('say together what the whole says, and are not long', () => {
    const share = fc.record({
      position: fc.nat(3),
      firstCheck: fc.nat(5),
      results: fc.array(raw, { maxLength: 30 }),
    });
    fc.assert(
      fc.property(fc.array(share, { maxLength: 4 }), fc.integer({ min: 200, max: 900 }), (shares, most) => {
        const table = new TextTable();
        const evaluations = shares.map(({ position, firstCheck, results }) => ({
          position,
          firstCheck,
          rows: packRows(
            table,
            results.map(
              (each) =>
                (typeof each === 'object' && each !== null && 'tries' in each ? each : undefined) as never,
            ),
          ),
        }));
        const whole: PackResults = { texts: table.texts, evaluations };
        const pieces = resultPieces(whole, most).map((json) => {
          const piece = JSON.parse(json) as PackResults;
          const checks = piece.evaluations.reduce((sum, { rows }) => sum + rows.length, 0);
          expect(json.length <= most || checks < 2).toBe(true);
          return piece;
        });
        const results = (packs: PackResults[]) =>
          packs.flatMap(({ texts, evaluations: all }) =>
            all.flatMap(({ position, firstCheck, rows }) =>
              unpackRows(texts, rows).map((result, i) => [position, firstCheck + i, result]),
            ),
          );
        expect(results(pieces)).toEqual(results([whole]));
      }),
    );
  });
});
