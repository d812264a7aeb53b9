import { describe, expect, it } from 'vitest';
import { formatProblem } from '../../../src/core/problem.js';
import { runRecordSchema } from '../../../src/core/run-record.js';
import type { Scenario } from '../../../src/core/scenario/model.js';
import { matchRuns } from '../../../src/inputs/match-runs.js';
import type { RunOrProblem } from '../../../src/inputs/run-items.js';

function scenario(key: string): Scenario {
  return { key, rules: [], digest: key };
}

function item(
  id: string,
  named?: string,
  place: { line?: number; path?: string; file?: string } = {},
): RunOrProblem {
  const { line, path = '', file = 'runs.ndjson' } = place;
  return {
    file,
    ...(line === undefined ? {} : { line }),
    path,
    run: runRecordSchema.parse({ id, scenario: named }),
  };
}

async function* stream(items: readonly RunOrProblem[]) {
  yield* items;
}

async function match(
  items: readonly RunOrProblem[],
  scenarios: readonly Scenario[],
  fromFolder?: ReadonlySet<string>,
) {
  const out: string[] = [];
  for await (const found of matchRuns(stream(items), scenarios, fromFolder)) {
    out.push('problem' in found ? formatProblem(found.problem) : `${found.run.id} -> ${found.scenario.key}`);
  }
  return out;
}

describe('matchRuns', () => {
  it('gives a run to the scenario that it names, else to the only one', async () => {
    expect(await match([item('a', 'x'), item('b', 'y')], [scenario('x'), scenario('y')])).toEqual([
      'a -> x',
      'b -> y',
    ]);
    expect(await match([item('a')], [scenario('x')])).toEqual(['a -> x']);
  });

  it('refuses a run that names none of the scenarios, even when there is only one', async () => {
    expect(await match([item('a', 'nginks', { line: 3 })], [scenario('nginx')])).toEqual([
      'runs.ndjson:3: scenario: names no given scenario; found "nginks"; allowed: nginx; did you mean "nginx"?',
    ]);
  });

  it('says where a key comes from that no scenario file names', async () => {
    const [problem] = await match([item('a', 'nginx')], [scenario('proj')], new Set(['proj']));
    expect(problem).toContain('(key "proj" comes from the name of its folder; set "key" in the scenario)');
  });

  it('refuses a run without a scenario where several are given, with a capped list of them', async () => {
    const many = Array.from({ length: 23 }, (_, i) => scenario(`s${i}`));
    const [problem] = await match([item('a', undefined, { path: '[4]', file: 'runs.json' })], many);
    expect(problem).toMatch(
      /^runs\.json: \[4\]\.scenario: is missing, and more than one scenario was given; allowed: s0, /,
    );
    expect(problem).toMatch(/s19, \.\.\. and 3 more$/);
  });

  it('refuses a second run with the same id for the same scenario, and names both places', async () => {
    const items = [
      item('a', 'x', { line: 1 }),
      item('a', 'y', { line: 2 }),
      item('a', 'x', { line: 3 }),
      item('a', 'x', { path: '[0]', file: 'other.json' }),
      item('b', 'x', { path: '[1]', file: 'other.json' }),
      item('b', 'x', { line: 9, file: 'third.ndjson' }),
    ];
    expect(await match(items, [scenario('x'), scenario('y')])).toEqual([
      'a -> x',
      'a -> y',
      'runs.ndjson:3: id: is taken by the run at runs.ndjson:1; found "a"',
      'other.json: [0].id: is taken by the run at runs.ndjson:1; found "a"',
      'b -> x',
      'third.ndjson:9: id: is taken by the run at other.json: [1]; found "b"',
    ]);
  });

  it('hands problems on in their place', async () => {
    const broken: RunOrProblem = { problem: { path: '', message: 'broken' }, about: 'record', first: true };
    expect(await match([item('a'), broken, item('b')], [scenario('x')])).toEqual([
      'a -> x',
      'broken',
      'b -> x',
    ]);
  });
});
