import type { EvaluationDocument } from '../core/document.js';
import type { RuleResult } from '../core/result.js';

/** Failing evaluations that a scenario shows in full; the rest are counted. */
const MAX_FAILING = 10;
/** Rules that one failing evaluation shows. */
const MAX_RULES = 10;

/** An informational rule that did not hold, over all evaluations of its scenario. */
export interface Advisory {
  rule: RuleResult['rule'];
  failed: number;
  errored: number;
  /** The first one, as an example. */
  run: string;
  message: string;
}

export interface FailingEvaluation {
  run: string;
  score: EvaluationDocument['score'];
  errored: boolean;
  gates: EvaluationDocument['gates'];
  /** Results that failed or errored, advisories among them, at most MAX_RULES. */
  results: { outcome: 'fail' | 'error'; rule: RuleResult['rule']; message: string; advisory: boolean }[];
  moreResults: number;
}

/** What the evaluations of one scenario came to; its size depends on the rules, not on the runs. */
export interface ScenarioSummary {
  scenario: string;
  total: number;
  passed: number;
  failed: number;
  errored: number;
  checksPassed: number;
  checksTotal: number;
  compliance: number;
  resolution: number;
  vacuous: number;
  skipped: number;
  advisories: Map<string, Advisory>;
  failing: FailingEvaluation[];
  /** The first evaluation's gates, for a scenario with only one. */
  gates: EvaluationDocument['gates'];
}

function empty(evaluation: EvaluationDocument): ScenarioSummary {
  return {
    scenario: evaluation.scenario,
    total: 0,
    passed: 0,
    failed: 0,
    errored: 0,
    checksPassed: 0,
    checksTotal: 0,
    compliance: 0,
    resolution: 0,
    vacuous: 0,
    skipped: 0,
    advisories: new Map(),
    failing: [],
    gates: evaluation.gates,
  };
}

function addAdvisory(summary: ScenarioSummary, run: string, result: RuleResult): void {
  const { rule, message } = result;
  const key = `${rule.scope}[${rule.index}]`;
  const known = summary.advisories.get(key);
  const advisory = known ?? { rule, failed: 0, errored: 0, run, message };
  summary.advisories.set(key, advisory);
  if (result.outcome === 'fail') advisory.failed += 1;
  else advisory.errored += 1;
}

function failing(evaluation: EvaluationDocument, errored: boolean): FailingEvaluation {
  const results: FailingEvaluation['results'] = [];
  let moreResults = 0;
  for (const { outcome, rule, message, mode } of evaluation.results) {
    if (outcome !== 'fail' && outcome !== 'error') continue;
    if (results.length < MAX_RULES)
      results.push({ outcome, rule, message, advisory: mode === 'informational' });
    else moreResults += 1;
  }
  const { run, score, gates } = evaluation;
  return { run, score, errored, gates, results, moreResults };
}

function add(summary: ScenarioSummary, evaluation: EvaluationDocument): void {
  const errored = !evaluation.passed && evaluation.results.some(({ outcome }) => outcome === 'error');
  summary.total += 1;
  if (evaluation.passed) summary.passed += 1;
  else if (errored) summary.errored += 1;
  else summary.failed += 1;
  summary.checksPassed += evaluation.score.passed;
  summary.checksTotal += evaluation.score.total;
  if (evaluation.gates.compliance.passed) summary.compliance += 1;
  if (evaluation.gates.resolution.passed) summary.resolution += 1;
  for (const result of evaluation.results) {
    if (result.data.vacuous === true) summary.vacuous += 1;
    if (result.outcome === 'skipped') summary.skipped += 1;
    const missed = result.outcome === 'fail' || result.outcome === 'error';
    if (missed && result.mode === 'informational') addAdvisory(summary, evaluation.run, result);
  }
  if (!evaluation.passed && summary.failing.length < MAX_FAILING) {
    summary.failing.push(failing(evaluation, errored));
  }
}

/** One summary a scenario, in the order in which the scenarios first come up. */
export async function summarize(evaluations: AsyncIterable<EvaluationDocument>): Promise<ScenarioSummary[]> {
  const summaries = new Map<string, ScenarioSummary>();
  for await (const evaluation of evaluations) {
    const summary = summaries.get(evaluation.scenario) ?? empty(evaluation);
    summaries.set(evaluation.scenario, summary);
    add(summary, evaluation);
  }
  return [...summaries.values()];
}
