import type { Gate, ResultCounts } from '../decision.js';
import { digestOf } from '../digest.js';
import { canonicalJson } from '../json.js';
import { listed } from '../listed.js';
import type { Chunk } from '../manifest.js';
import type { CheckResult, Outcome } from '../result.js';
import { missingResult, settleOne } from '../settle.js';
import { diagnose } from './diagnosis.js';
import { checkKey, type PlanCheck, type PlanDecision, type PlanManifest, type PlanVerdict } from './model.js';

/** A check with its result. */
interface Judged {
  check: PlanCheck;
  result: CheckResult;
}

/** The first stage of a revalidation, for the judgement of the second. */
export interface EarlierStage {
  passed: boolean;
  checks: PlanCheck[];
  results: CheckResult[];
}

/** What the plan gate made of a set of results. */
export interface PlanJudgement {
  verdict: PlanVerdict;
  gate: Gate;
  /** Of this evaluation alone. */
  counts: ResultCounts;
  status: PlanDecision['status'];
  vacuous: boolean;
}

/**
 * One trustworthy result per check, in their order, from what the workers left at each position.
 * Missing or malformed ones are errors (DESIGN 5.4). Never throws.
 */
export function settlePlanResults(manifest: PlanManifest, raw: readonly unknown[]): CheckResult[] {
  const came = Array.isArray(raw) ? raw : [];
  return manifest.checks.map(({ mode }, position) => {
    const enforced = manifest.requireEnforced === true && mode === 'required';
    return settleOne(came[position], { strict: false, enforced });
  });
}

/**
 * Digest of a set of checks, whatever their order and the snapshots that they look at: attachment,
 * version, arguments, resource and mode of each (DESIGN 4.7, apply).
 */
export function gateDigest(checks: readonly PlanCheck[]): string {
  return digestOf(
    checks
      .map(({ attachment, version, arguments: given, resource, mode }) =>
        canonicalJson([attachment, version, given, resource, mode]),
      )
      .sort(),
  );
}

const pair = (checks: readonly PlanCheck[], results: readonly CheckResult[]): Judged[] =>
  checks.map((check, position) => ({ check, result: results[position] ?? missingResult() }));

const shut = (all: readonly Judged[]): Judged[] =>
  all.filter(({ check, result }) => check.mode === 'required' && result.outcome !== 'pass');

const isVacuous = ({ result }: Judged): boolean => result.data.vacuous === true;

function countsOf(all: readonly Judged[]): ResultCounts {
  const count = (outcome: Outcome) => all.filter(({ result }) => result.outcome === outcome).length;
  const bad = ({ check, result }: Judged) =>
    check.mode === 'informational' && (result.outcome === 'fail' || result.outcome === 'error');
  return {
    passed: count('pass'),
    failed: count('fail'),
    errored: count('error'),
    skipped: count('skipped'),
    vacuous: all.filter(isVacuous).length,
    advisories: all.filter(bad).length,
  };
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const VERB = { pass: 'passed', fail: 'failed', error: 'errored', skipped: 'was skipped' } as const;

/** `local/lint on repo/app failed, local/tests on repo/app errored and 3 more`. */
function named(bad: readonly Judged[]): string {
  return listed(
    bad,
    ({ check, result }) => `${check.validation} on ${check.resource} ${VERB[result.outcome]}`,
  );
}

function unvalidatedReason(unvalidated: readonly string[]): string {
  return `a validation is required for every resource, and there is none for ${listed(unvalidated, String)}`;
}

/** Whether all checks looked at one snapshot of each resource (DESIGN 4.8). */
function onOneSet(all: readonly Judged[]): boolean {
  const subjects = new Map<string, string>();
  return all.every(({ check: { resource, subject } }) => {
    const known = subjects.get(resource) ?? subject;
    subjects.set(resource, subject);
    return known === subject;
  });
}

/** Why the first stage does not let the second one pass; undefined where it does. */
function earlierReason(plan: PlanManifest, before: EarlierStage | null, all: Judged[]): string | undefined {
  if (plan.stage !== 'rest') return undefined;
  if (before === null) return 'the results of the checks that were judged first are not there';
  const bad = shut(pair(before.checks, before.results));
  if (!before.passed || bad.length > 0) return 'the checks that were judged first did not pass';
  return onOneSet(all) ? undefined : 'the two stages looked at different snapshots';
}

function openReason(plan: PlanManifest, all: readonly Judged[]): string {
  const required = all.filter(({ check }) => check.mode === 'required').length;
  if (plan.stage === 'failed_first')
    return `what had failed passes now; ${counted(plan.rest.length, 'other check')} to go`;
  if (all.length === 0) return 'nothing was verified: no validation applies to these resources';
  if (required === 0) return 'no required check to pass';
  return required === 1 ? 'the required check passed' : `all ${required} required checks passed`;
}

/** How many did not pass, and of which: of a stage the others are not counted. */
function shutReason({ stage, rest }: PlanManifest, bad: number, required: number): string {
  if (stage === 'rest')
    return `after what had failed, ${bad} of ${counted(required, 'other required check')} did not pass`;
  const some = `${bad} of ${counted(required, 'required check')}`;
  if (stage === 'all') return `${some} did not pass`;
  return `${some} that had failed did not pass again, with ${counted(rest.length, 'other check')} not run`;
}

function gateOf(
  plan: PlanManifest,
  judged: readonly Judged[],
  before: EarlierStage | null,
  all: Judged[],
): Gate {
  const bad = shut(judged);
  const reasons: string[] = [];
  if (bad.length > 0) {
    const required = judged.filter(({ check }) => check.mode === 'required').length;
    reasons.push(`${shutReason(plan, bad.length, required)} (${named(bad)})`);
  }
  if (plan.requireValidations && plan.unvalidated.length > 0)
    reasons.push(unvalidatedReason(plan.unvalidated));
  const first = earlierReason(plan, before, all);
  if (first !== undefined) reasons.push(first);
  if (reasons.length > 0) return { passed: false, reason: reasons.join('; ') };
  return { passed: true, reason: openReason(plan, all) };
}

function smallest(limits: readonly (number | null)[]): number | null {
  const given = limits.filter((limit) => limit !== null);
  return given.length === 0 ? null : Math.min(...given);
}

const isSubstance = (judged: Judged): boolean =>
  (judged.result.outcome === 'pass' || judged.result.outcome === 'fail') && !isVacuous(judged);

/**
 * The plan gate over the settled results of a chunk's only evaluation, `results[i]` for the i-th
 * check of its manifest (ADR, Validation Mode; DESIGN 4.7 to 4.9). A required check that did not
 * pass shuts it, whatever kept it from passing; an informational one never does. `earlier` is the
 * first stage, for an evaluation of the rest.
 */
export function judgePlan(
  chunk: Chunk,
  results: readonly CheckResult[],
  earlier: EarlierStage | null,
): PlanJudgement {
  const { plan } = chunk;
  if (plan === undefined) throw new Error(`chunk ${chunk.id} evaluates no plan`);
  const judged = pair(plan.checks, results);
  const first = plan.stage === 'rest' && earlier !== null ? pair(earlier.checks, earlier.results) : [];
  const all = [...first, ...judged];
  const gate = gateOf(plan, judged, earlier, all);
  const bad = shut(judged);
  const errors = bad.filter(({ result }) => result.outcome === 'error').length;
  const others = (plan.requireValidations && plan.unvalidated.length > 0) || bad.length > errors;
  const vacuous = gate.passed && !all.some(isSubstance);
  const verdict: PlanVerdict = {
    evaluation: chunk.id,
    stage: plan.stage,
    earlier: plan.earlier,
    passed: gate.passed,
    vacuous,
    reason: gate.reason,
    errorsAlone: errors > 0 && !others,
    retryable: bad.every(({ result }) => result.data.retryable !== false),
    retryLimit: smallest(bad.map(({ check }) => check.retryLimit)),
    failing: bad.map(({ check }) => checkKey(check)),
    checks: plan.checks,
    rest: plan.rest,
    all: all.map(({ check }) => check),
    outcomes: all.map(({ result }) => result.outcome),
    unvalidated: plan.unvalidated,
    diagnosis: diagnose(chunk, results),
  };
  const status = gate.passed ? 'passed' : errors > 0 ? 'errored' : 'failed';
  return { verdict, gate, counts: countsOf(judged), status, vacuous };
}
