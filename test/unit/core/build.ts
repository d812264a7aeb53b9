import type { EvaluationOptions } from '../../../src/core/manifest.js';
import type { CheckResult, Outcome } from '../../../src/core/result.js';
import { runRecordSchema } from '../../../src/core/run-record.js';
import { concludeCheck, planChecks, requestOf } from '../../../src/core/scenario/checks.js';
import { loadScenario, sealScenario } from '../../../src/core/scenario/load.js';
import type { Scenario } from '../../../src/core/scenario/model.js';
import type { Subject } from '../../../src/core/subject.js';
import { SubjectView } from '../../../src/core/subject-view.js';
import type { MatchRequest, RunOutcome, Verdict } from '../../../src/core/validators/validator.js';

export const DIRECT: EvaluationOptions = { strict: false, from: 'direct', informationalErrors: 'ignore' };
export const GATEWAY: EvaluationOptions = { ...DIRECT, from: 'gateway' };

/** A sealed scenario with these rules; throws with the problems when it does not load. */
export function scenarioWith(
  validation: Record<string, unknown>,
  extra: Record<string, unknown> = {},
): Scenario {
  const text = JSON.stringify({ ...extra, validation });
  const loaded = loadScenario({ file: 'scenario.json', text, defaultKey: 'nginx' });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return sealScenario(loaded.scenario);
}

/** Searches as RE2 would for the plain patterns of these tests. */
export function search({ pattern, texts }: MatchRequest): RunOutcome {
  for (const [text, each] of texts.entries()) {
    const match = new RegExp(pattern, 'im').exec(each.text);
    if (match !== null) {
      return { kind: 'match', found: true, text, start: match.index, end: match.index + match[0].length };
    }
  }
  return { kind: 'match', found: false };
}

/** The verdict of the only rule of `validation` on a subject. */
export function verdictOf(
  validation: Record<string, unknown>,
  subject: Subject,
  perform: (request: MatchRequest) => RunOutcome = search,
): Verdict {
  const [check] = planChecks(scenarioWith(validation), GATEWAY);
  if (check === undefined) throw new Error('no rule');
  const view = new SubjectView(subject);
  const request = requestOf(check, view);
  return concludeCheck(check, view, request?.kind === 'match' ? perform(request) : undefined);
}

export function result(outcome: Outcome, data: Record<string, unknown> = {}): CheckResult {
  return { outcome, message: 'm', data, duration_ms: 1, tries: 1, worker: 'w', read_only: 'enforced' };
}

/** Evidence as a run record gives it. */
export function subject(evidence: Record<string, unknown>): Subject {
  const { target, job, tasks, ticket } = runRecordSchema.parse({ id: 'r', ...evidence });
  return { target, job, tasks, ticket };
}
