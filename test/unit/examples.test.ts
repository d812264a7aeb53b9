import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Judgement } from '../../src/core/decision.js';
import type { EvaluationOptions } from '../../src/core/manifest.js';
import type { CheckResult } from '../../src/core/result.js';
import { concludeCheck, planChecks, requestOf } from '../../src/core/scenario/checks.js';
import type { Scenario } from '../../src/core/scenario/model.js';
import { WHERES } from '../../src/core/scenario/where.js';
import { judge } from '../../src/core/scoring.js';
import { settleResults } from '../../src/core/settle.js';
import { subjectOf } from '../../src/core/subject.js';
import { SubjectView } from '../../src/core/subject-view.js';
import { builtInValidators } from '../../src/core/validators/built-in.js';
import { type MatchedOrProblem, type MatchedRun, matchRuns } from '../../src/inputs/match-runs.js';
import { readRuns } from '../../src/inputs/run-files.js';
import { loadScenarios } from '../../src/inputs/scenario-files.js';
import { createMatcher } from '../../src/runners/pattern-matcher.js';
import {
  DIRECT,
  EXAMPLE_RUNS,
  EXAMPLE_SCENARIOS,
  type ExpectedRow,
  GATEWAY,
  STRICT,
} from './examples-table.js';

const matcher = createMatcher();
const loaded = await loadScenarios([EXAMPLE_SCENARIOS]);
const scenarios = loaded.map(({ scenario }) => scenario);
const items: MatchedOrProblem[] = [];
for await (const item of matchRuns(readRuns([EXAMPLE_RUNS]), scenarios)) items.push(item);
const runs = items.filter((item): item is MatchedRun => 'run' in item);
const direct: EvaluationOptions = { strict: false, from: 'direct', informationalErrors: 'ignore' };
const hasPlaybook = ({ rules }: Scenario) => rules.some(({ validator }) => validator === 'ansible');

interface Judged {
  run: string;
  judgement: Judgement;
  results: CheckResult[];
}

async function judged({ run, scenario }: MatchedRun, options: EvaluationOptions): Promise<Judged> {
  const view = new SubjectView(JSON.parse(subjectOf(run).json));
  const raw = planChecks(scenario, options).map(async (check) => {
    if (check.runner === 'skip') return undefined;
    const request = requestOf(check, view);
    const [found] = request?.kind === 'match' ? await matcher.matchAll([request]) : [];
    const { outcome, message, data } = concludeCheck(check, view, found?.outcome);
    return { outcome, message, data, duration_ms: 0, tries: 1, worker: 'test', read_only: 'enforced' };
  });
  const results = settleResults(scenario, options, await Promise.all(raw));
  return { run: run.id, results, judgement: judge(scenario, options, results) };
}

function rowOf({ run, judgement: { status, score, gates, counts } }: Judged): ExpectedRow {
  const { compliance, resolution } = gates;
  const shown = `${score.passed}/${score.total}`;
  return [run, status, shown, compliance.passed, resolution.passed, counts.vacuous, counts.advisories];
}

const pure = runs.filter(({ scenario }) => !hasPlaybook(scenario));
const byRun = (rows: readonly ExpectedRow[]) => new Map(rows.map((row) => [row[0], row]));

describe('the example batch', () => {
  it('loads without a problem, and has an expected verdict for every run', () => {
    expect(items.filter((item) => 'problem' in item)).toEqual([]);
    expect(scenarios).toHaveLength(6);
    expect(runs.map(({ run }) => run.id)).toEqual(DIRECT.map(([run]) => run));
  });

  it('uses every validator and every place that can be searched, and each setting of a rule', () => {
    const rules = scenarios.flatMap((scenario) => scenario.rules);
    expect(new Set(rules.map(({ validator }) => validator))).toEqual(new Set(builtInValidators.keys()));
    expect(new Set(rules.flatMap(({ params }) => params.where ?? []))).toEqual(new Set(WHERES));
    expect(new Set(rules.map(({ scope }) => scope))).toEqual(new Set(['gateway', 'job', 'tasks']));
    expect(rules.some(({ negate }) => negate)).toBe(true);
    expect(rules.some(({ required }) => !required)).toBe(true);
    const patterns = rules.map(({ params }) => params.pattern);
    expect(patterns).toContain('systemctl.*(restart|reload|start).*nginx');
  });

  const expected = byRun(DIRECT);
  it.each(pure.map((item) => [item.run.id, item] as const))('judges %s as expected', async (id, item) => {
    expect(rowOf(await judged(item, direct))).toEqual(expected.get(id));
  });

  it('skips the gateway rules, and judges them only for runs from the gateway', async () => {
    const gateway = new Map([...expected, ...byRun(GATEWAY)]);
    for (const item of pure) {
      const here = await judged(item, direct);
      const there = await judged(item, { ...direct, from: 'gateway' });
      expect(rowOf(there)).toEqual(gateway.get(item.run.id));
      const rules = item.scenario.rules.filter(({ scope }) => scope === 'gateway').length;
      expect([here.judgement.counts.skipped, there.judgement.counts.skipped]).toEqual([rules, 0]);
    }
  });

  it('fails under --strict what passed for lack of data', async () => {
    const strict = await Promise.all(pure.map((item) => judged(item, { ...direct, strict: true })));
    const lost = strict.filter(
      ({ run, judgement }) => expected.get(run)?.[1] === 'passed' && !judgement.passed,
    );
    expect(lost.map(rowOf)).toEqual(STRICT);
  });

  it('has every kind of outcome', () => {
    const withPlaybook = new Set(runs.filter((item) => !pure.includes(item)).map(({ run }) => run.id));
    const kinds = DIRECT.map(([run, status, score, compliance, resolution, vacuous, advisories]) => ({
      'passes everything': status === 'passed' && vacuous + advisories === 0,
      'passes with advisories': status === 'passed' && advisories > 0,
      'passes vacuously': status === 'passed' && vacuous > 0,
      'fails vacuously': status === 'failed' && vacuous > 0,
      'fails a required rule': status === 'failed' && !compliance,
      'fails the score alone': status === 'failed' && compliance && !withPlaybook.has(run),
      'fails the playbook alone': status === 'failed' && compliance && withPlaybook.has(run),
      'passes the playbook below 80 %': status === 'passed' && withPlaybook.has(run) && score === '4/6',
      'fails though the playbook passed': status === 'failed' && resolution,
      errors: status === 'errored',
    }));
    const names = Object.keys(kinds[0] ?? {}) as (keyof (typeof kinds)[number])[];
    expect(names.filter((name) => !kinds.some((row) => row[name]))).toEqual([]);
  });

  it('keeps the private key that an agent wrote down out of the results', async () => {
    const item = runs.find(({ run }) => run.id === 'tls-key-leaked');
    const { results } = await judged(item as MatchedRun, direct);
    expect(JSON.stringify(results)).toContain('[redacted]');
    expect(JSON.stringify(results)).not.toContain('MC4CAQAw');
  });

  it('comes to the totals that README.md shows', () => {
    const count = (status: string) => DIRECT.filter((row) => row[1] === status).length;
    const vacuous = DIRECT.reduce((sum, row) => sum + row[5], 0);
    const totals = `${DIRECT.length} evaluations: ${count('passed')} passed, ${count('failed')} failed, ${count('errored')} errored`;
    expect(readFileSync('README.md', 'utf8')).toContain(`${totals}, ${vacuous} vacuous passes`);
  });
});
