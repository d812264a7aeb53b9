import type { Gate, Judgement, ResultCounts, Score } from './decision.js';
import { listed } from './listed.js';
import type { EvaluationOptions } from './manifest.js';
import type { CheckResult, Outcome } from './result.js';
import type { Rule, Scenario } from './scenario/model.js';

/** Percent of the score that the resolution gate asks for when no ansible rule decides (SV). */
const THRESHOLD = 80;

interface Judged {
  rule: Rule;
  outcome: Outcome;
  vacuous: boolean;
}

function isAnsible({ rule }: Judged): boolean {
  return rule.validator === 'ansible';
}

function countsOf(all: readonly Judged[]): ResultCounts {
  const counts: ResultCounts = { passed: 0, failed: 0, errored: 0, skipped: 0, vacuous: 0, advisories: 0 };
  for (const { rule, outcome, vacuous } of all) {
    if (outcome === 'pass') counts.passed += 1;
    else if (outcome === 'fail') counts.failed += 1;
    else if (outcome === 'error') counts.errored += 1;
    else counts.skipped += 1;
    if (vacuous) counts.vacuous += 1;
    if (!rule.required && (outcome === 'fail' || outcome === 'error')) counts.advisories += 1;
  }
  return counts;
}

function scoreOf(scored: readonly Judged[]): Score {
  const total = scored.length;
  const passed = scored.filter(({ outcome }) => outcome === 'pass').length;
  return { passed, total, percent: total === 0 ? null : Math.floor((passed * 100) / total) };
}

function rules(count: number, kind: string): string {
  return `${count} ${kind} ${count === 1 ? 'rule' : 'rules'}`;
}

/** `"a" failed, "b" errored and 3 more`. */
function firstOf(bad: readonly Judged[]): string {
  return listed(bad, ({ rule, outcome }) => {
    const label = rule.label.length > 100 ? `${rule.label.slice(0, 99)}…` : rule.label;
    return `"${label}" ${outcome === 'error' ? 'errored' : 'failed'}`;
  });
}

function complianceGate(scored: readonly Judged[], options: EvaluationOptions): Gate {
  const required = scored.filter(({ rule }) => rule.required);
  const bad = required.filter(({ outcome }) => outcome !== 'pass');
  if (bad.length > 0) {
    const reason = `${bad.length} of ${rules(required.length, 'required')} did not pass: ${firstOf(bad)}`;
    return { passed: false, reason };
  }
  const blocking =
    options.informationalErrors === 'block' ? scored.filter(({ outcome }) => outcome === 'error') : [];
  if (blocking.length > 0) {
    const reason = `${rules(blocking.length, 'informational')} could not be judged, and errors block here: ${firstOf(blocking)}`;
    return { passed: false, reason };
  }
  if (required.length === 0) return { passed: true, reason: 'no required rule to pass' };
  return {
    passed: true,
    reason:
      required.length === 1 ? 'the required rule passed' : `all ${rules(required.length, 'required')} passed`,
  };
}

function ansibleGate(playbooks: readonly Judged[]): Gate {
  const bad = playbooks.filter(({ outcome }) => outcome !== 'pass');
  if (bad.length > 0) {
    const reason = `${bad.length} of ${rules(playbooks.length, 'ansible')} did not pass: ${firstOf(bad)}`;
    return { passed: false, reason };
  }
  return {
    passed: true,
    reason:
      playbooks.length === 1 ? 'the ansible rule passed' : `all ${rules(playbooks.length, 'ansible')} passed`,
  };
}

function resolutionGate(playbooks: readonly Judged[], score: Score, compliance: Gate): Gate {
  if (playbooks.length > 0) return ansibleGate(playbooks);
  if (score.total === 0)
    return { passed: false, reason: 'nothing was verified: no rule applied to this run' };
  if (!compliance.passed) return { passed: false, reason: 'the compliance gate did not pass' };
  const scored = `${score.passed} of ${rules(score.total, '').replace('  ', ' ')} passed (${score.percent} %)`;
  return score.passed * 100 >= THRESHOLD * score.total
    ? { passed: true, reason: `${scored}, at least ${THRESHOLD} % are needed` }
    : { passed: false, reason: `only ${scored}, at least ${THRESHOLD} % are needed` };
}

/** Judgements of a scenario that are kept: most runs of a batch have one of a few sets of outcomes. */
const MOST_JUDGEMENTS = 1000;
const judgements = new WeakMap<Pick<Scenario, 'rules'>, Map<string, Judgement>>();

/** All that a judgement depends on besides the rules. */
function pictureOf(
  { rules }: Pick<Scenario, 'rules'>,
  { informationalErrors }: EvaluationOptions,
  results: readonly CheckResult[],
): string {
  let picture: string = informationalErrors;
  for (let position = 0; position < rules.length; position++) {
    const result = results[position];
    picture += `,${result?.outcome ?? 'error'}`;
    if (result?.data.vacuous === true) picture += '*';
  }
  return picture;
}

/**
 * Score, gates and verdict of settled results, `results[i]` for `scenario.rules[i]` (DESIGN 3.4;
 * SV, Scoring Model). Integer arithmetic; a missing result counts as an error. The printed
 * verdict, the exit code and the event all come from here. Evaluations of one scenario with the same outcomes
 * share one judgement, which nobody changes.
 */
export function judge(
  scenario: Pick<Scenario, 'rules'>,
  options: EvaluationOptions,
  results: readonly CheckResult[],
): Judgement {
  let known = judgements.get(scenario);
  if (known === undefined) {
    known = new Map();
    judgements.set(scenario, known);
  }
  const key = pictureOf(scenario, options, results);
  let judgement = known.get(key);
  if (judgement === undefined) {
    if (known.size >= MOST_JUDGEMENTS) known.clear();
    judgement = judged(scenario, options, results);
    known.set(key, judgement);
  }
  return judgement;
}

function judged(
  scenario: Pick<Scenario, 'rules'>,
  options: EvaluationOptions,
  results: readonly CheckResult[],
): Judgement {
  const all = scenario.rules.map((rule, position): Judged => {
    const result = results[position];
    return { rule, outcome: result?.outcome ?? 'error', vacuous: result?.data.vacuous === true };
  });
  const applied = all.filter(({ outcome }) => outcome !== 'skipped');
  const scored = applied.filter((each) => !isAnsible(each));
  const counts = countsOf(all);
  const score = scoreOf(scored);
  const compliance = complianceGate(scored, options);
  const resolution = resolutionGate(applied.filter(isAnsible), score, compliance);
  const passed = compliance.passed && resolution.passed;
  const status = passed ? 'passed' : counts.errored > 0 ? 'errored' : 'failed';
  return { passed, status, score, gates: { compliance, resolution }, counts };
}
