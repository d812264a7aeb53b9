import { resolveAttachments } from '../../core/attachments/resolve.js';
import type { Chunk } from '../../core/manifest.js';
import { materializePlan } from '../../core/plan/manifest.js';
import {
  type PlanDecision,
  type PlanManifest,
  type PlanState,
  TERMINAL_PHASES,
} from '../../core/plan/model.js';
import type { JsonObject } from '../../core/registry/model.js';
import type { CheckResult, Result } from '../../core/result.js';
import { parseChunkResults, unpackRows } from '../../core/results-codec.js';
import type { EvaluationStore, Store } from '../../ports/store.js';
import type { CheckHistory, PlanEvaluation, PlanEvaluationStatus, PlanStatus } from './requests.js';

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
  const given = new Map<string, JsonObject>();
  for (const { evaluation } of timeline) {
    if (evaluation === null) continue;
    const found = await evaluationOf(store, evaluation);
    if (found === undefined) continue;
    evaluations.push(found.told);
    for (const check of found.manifest.checks) given.set(check.attachment, check.arguments);
  }
  return {
    plan,
    timeline,
    evaluations,
    checks: histories(evaluations, given, await applyingTo(store, plan)),
    unserved: await unservedFor(store, plan),
  };
}

/** How an evaluation of a plan stands; undefined: there is none of this id (any more), or it is a run's. */
export async function planEvaluation(store: Store, id: string): Promise<PlanEvaluationStatus | undefined> {
  const found = await evaluationOf(store, id);
  if (found === undefined) return undefined;
  const { told, chunk, manifest } = found;
  return {
    ...told,
    plan: manifest.plan,
    project: manifest.project,
    actor: chunk.actor ?? null,
    deadline: chunk.deadline,
    unserved: told.decision === null ? await markOf(store, id) : null,
  };
}

/** What a plan's running evaluation waits for in vain. */
export async function unservedFor(
  store: Pick<Store, 'unserved'>,
  { awaits }: Pick<PlanState, 'awaits'>,
): Promise<PlanStatus['unserved']> {
  return awaits === null ? null : markOf(store, awaits.evaluation);
}

async function markOf(
  { unserved }: Pick<Store, 'unserved'>,
  evaluation: string,
): Promise<PlanStatus['unserved']> {
  const [mark] = await unserved.list(1, [evaluation]);
  return mark === undefined ? null : { needs: mark.needs, since: mark.since };
}

/** Ids of the attachments that apply to a plan now; null once it is over, when none is asked for. */
async function applyingTo({ registry }: Store, plan: PlanState): Promise<ReadonlySet<string> | null> {
  if (TERMINAL_PHASES.has(plan.phase)) return null;
  const { resources, project, id } = plan;
  const attachments = resolveAttachments(await registry.read(), { resources, project, plan: id });
  return new Set(attachments.map((each) => each.id));
}

async function evaluationOf(
  { evaluations }: Store,
  id: string,
): Promise<{ told: PlanEvaluation; chunk: Chunk; manifest: PlanManifest } | undefined> {
  const chunk = (await evaluations.chunk(id))?.chunk;
  if (chunk?.plan === undefined) return undefined;
  const decided = await decidedPlan(evaluations, id);
  const isJudged = decided !== undefined && decided.decision.status !== 'cancelled';
  const told = {
    evaluation: id,
    attempt: chunk.attempt,
    stage: chunk.plan.stage,
    acceptedAt: chunk.acceptedAt,
    decision: decided?.decision ?? null,
    results: isJudged ? materializePlan(chunk, decided.results) : [],
  };
  return { told, chunk, manifest: chunk.plan };
}

/** First and last result of each check, in the order in which checks came up. */
function histories(
  evaluations: readonly PlanEvaluation[],
  given: ReadonlyMap<string, JsonObject>,
  applying: ReadonlySet<string> | null,
): CheckHistory[] {
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
      arguments: given.get(result.attachment_id) ?? {},
      applies: applying === null ? null : applying.has(result.attachment_id),
      first: brief(result),
      final: brief(result),
      judged: 1,
    });
  }
  return [...found.values()];
}
