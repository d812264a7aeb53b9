import { materializePlan } from '../../core/plan/manifest.js';
import type { PlanDecision } from '../../core/plan/model.js';
import type { CheckResult, Result } from '../../core/result.js';
import { parseChunkResults, unpackRows } from '../../core/results-codec.js';
import type { EvaluationStore, Store } from '../../ports/store.js';
import type { CheckHistory, PlanEvaluation, PlanStatus } from './requests.js';

/** What was judged in one evaluation of a plan, as it is stored. */
export interface DecidedPlan {
  decision: PlanDecision;
  /** In the order of the manifest's checks; empty when it was cancelled. */
  results: CheckResult[];
}

/** The decision of a plan's evaluation with its results; undefined while there is none. */
export async function decidedPlan(
  store: Pick<EvaluationStore, 'decisions'>,
  evaluation: string,
): Promise<DecidedPlan | undefined> {
  const [stored] = await store.decisions(evaluation, [0]);
  if (stored === undefined) return undefined;
  const { texts, rows } = parseChunkResults(stored.results);
  return {
    decision: JSON.parse(stored.decision) as PlanDecision,
    results: unpackRows(texts, rows[0]) as CheckResult[],
  };
}

/** A plan with everything that happened to it; undefined when there is no such plan. */
export async function planStatus(store: Store, id: string): Promise<PlanStatus | undefined> {
  const plan = await store.plans.plan(id);
  if (plan === undefined) return undefined;
  const timeline = await store.plans.log(id);
  const evaluations: PlanEvaluation[] = [];
  for (const { evaluation } of timeline) {
    if (evaluation === null) continue;
    const found = await evaluationOf(store, evaluation);
    if (found !== undefined) evaluations.push(found);
  }
  return { plan, timeline, evaluations, checks: histories(evaluations) };
}

async function evaluationOf({ evaluations }: Store, id: string): Promise<PlanEvaluation | undefined> {
  const chunk = (await evaluations.chunk(id))?.chunk;
  if (chunk?.plan === undefined) return undefined;
  const decided = await decidedPlan(evaluations, id);
  const isJudged = decided !== undefined && decided.decision.status !== 'cancelled';
  return {
    evaluation: id,
    attempt: chunk.attempt,
    stage: chunk.plan.stage,
    acceptedAt: chunk.acceptedAt,
    decision: decided?.decision ?? null,
    results: isJudged ? materializePlan(chunk, decided.results) : [],
  };
}

/** First and last result of each check, in the order in which checks came up. */
function histories(evaluations: readonly PlanEvaluation[]): CheckHistory[] {
  const found = new Map<string, CheckHistory>();
  const brief = ({ attempt, outcome, message }: Result) => ({ attempt, outcome, message });
  for (const result of evaluations.flatMap(({ results }) => results)) {
    const known = found.get(result.attachment_id);
    if (known !== undefined) {
      known.final = brief(result);
      known.judged += 1;
      continue;
    }
    found.set(result.attachment_id, {
      attachment_id: result.attachment_id,
      validation: result.validation,
      resource: result.attachment_resource,
      mode: result.mode,
      first: brief(result),
      final: brief(result),
      judged: 1,
    });
  }
  return [...found.values()];
}
