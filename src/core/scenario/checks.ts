import type { EvaluationOptions } from '../manifest.js';
import { redactDeep } from '../redact.js';
import type { SubjectView } from '../subject-view.js';
import { findValidator } from '../validators/built-in.js';
import { unexpectedOutcome } from '../validators/unexpected.js';
import type { RunOutcome, RunRequest, Validator, Verdict } from '../validators/validator.js';
import type { Rule, Scenario } from './model.js';

/** One rule as it is to be checked. */
export interface PlannedCheck {
  /** Position among the scenario's rules, from 0; results stand at the same position. */
  position: number;
  rule: Rule;
  validator: Validator;
  /** What performs it; `none` judges the subject alone, `skip` is never run. */
  runner: 'none' | 'match' | 'ansible' | 'skip';
}

const gatewayPlans = new WeakMap<Scenario, readonly PlannedCheck[]>();
const otherPlans = new WeakMap<Scenario, readonly PlannedCheck[]>();

/** Whether a rule is left out because the run did not come in through the gateway (DESIGN 3.2.3). */
export function isSkipped(rule: Rule, options: Pick<EvaluationOptions, 'from'>): boolean {
  return rule.scope === 'gateway' && options.from !== 'gateway';
}

/**
 * One planned check per rule, in rule order; the same list for the same scenario object and
 * `from`. Throws when a rule names a validator that this version does not have.
 */
export function planChecks(
  scenario: Scenario,
  options: Pick<EvaluationOptions, 'from'>,
): readonly PlannedCheck[] {
  const plans = options.from === 'gateway' ? gatewayPlans : otherPlans;
  const known = plans.get(scenario);
  if (known !== undefined) return known;
  const plan = scenario.rules.map((rule, position): PlannedCheck => {
    const validator = findValidator(rule.validator);
    if (validator === undefined) throw new Error(`unknown validator "${rule.validator}"`);
    return { position, rule, validator, runner: isSkipped(rule, options) ? 'skip' : validator.runner };
  });
  plans.set(scenario, plan);
  return plan;
}

/** What a check needs from a runner; undefined when it needs none, or has no data to look at. */
export function requestOf(check: PlannedCheck, view: SubjectView): RunRequest | undefined {
  if (check.runner === 'skip' || check.runner === 'none') return undefined;
  return check.validator.request?.(check.rule.params, view, check.rule.scope);
}

/** A literal, not a spread: it is made for every check with `negate`. */
function withOutcome({ data, noData }: Verdict, outcome: Verdict['outcome'], message: string): Verdict {
  return noData === undefined ? { outcome, message, data } : { outcome, message, data, noData };
}

/** The verdict of a rule with `negate`: pass and fail change places, an error stays (DESIGN 3.2.4). */
export function applyNegate(verdict: Verdict): Verdict {
  if (verdict.outcome === 'error') return verdict;
  return withOutcome(verdict, verdict.outcome === 'pass' ? 'fail' : 'pass', verdict.message);
}

/** The verdict with `data.vacuous` when it passes for lack of data (DESIGN 3.2.6). */
export function markVacuous(verdict: Verdict): Verdict {
  if (verdict.outcome !== 'pass' || verdict.noData !== true) return verdict;
  return { ...verdict, data: { ...verdict.data, vacuous: true } };
}

/** Messages of negated rules by what they are made of: a batch has the same ones thousands of times. */
const negated = { pass: new Map<string, string>(), fail: new Map<string, string>() };
const MOST_NEGATED = 1000;

function negatedMessage({ outcome, message, noData }: Verdict): string {
  if (outcome === 'error') return message;
  if (noData)
    return `${message}; the rule is negated, so ${outcome === 'pass' ? 'this passes vacuously' : 'this fails'}`;
  const known = negated[outcome];
  let text = known.get(message);
  if (text === undefined) {
    text = `${message}, ${outcome === 'pass' ? 'as the negated rule wants it' : 'which the negated rule forbids'}`;
    if (known.size >= MOST_NEGATED) known.clear();
    known.set(message, text);
  }
  return text;
}

function judged(check: PlannedCheck, view: SubjectView, outcome?: RunOutcome): Verdict {
  if (check.runner === 'skip') return { outcome: 'error', message: 'a skipped rule was run', data: {} };
  if (outcome?.kind === 'failure') return unexpectedOutcome(outcome);
  const { params, scope } = check.rule;
  try {
    return check.validator.judge(params, view, scope, outcome);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { outcome: 'error', message: `the validator broke down: ${reason}`, data: {} };
  }
}

/**
 * The verdict of a rule: the validator's, negated where the rule says so, marked when vacuous,
 * secrets redacted. `--strict` is applied later, by `settleResults`. Never throws: a validator
 * that does is an error verdict.
 */
export function concludeCheck(check: PlannedCheck, view: SubjectView, outcome?: RunOutcome): Verdict {
  let verdict = judged(check, view, outcome);
  if (check.rule.negate) {
    verdict = applyNegate(verdict);
    verdict = withOutcome(verdict, verdict.outcome, negatedMessage(verdict));
  }
  verdict = markVacuous(verdict);
  if (check.validator.redacted === true && outcome?.kind !== 'failure') return verdict;
  return {
    ...verdict,
    message: view.redactor.redact(verdict.message),
    data: redactDeep(verdict.data, view.redactor) as Record<string, unknown>,
  };
}
