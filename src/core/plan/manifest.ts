import { digestOf } from '../digest.js';
import type { Chunk } from '../manifest.js';
import type { CheckPlace } from '../packing.js';
import type { CheckResult, Result } from '../result.js';
import { missingResult } from '../settle.js';
import type { PlanEffect, PlanManifest, PlanState } from './model.js';

/**
 * The chunk of an evaluation that a plan asks for, `state` being the plan that waits for it; `now` in ms.
 * `actor` gave the command that led to it.
 */
export function planChunk(
  state: PlanState,
  effect: Extract<PlanEffect, { type: 'evaluate' }>,
  now: number,
  actor?: string,
): Chunk {
  const { evaluation, attempt, stage, checks, rest, earlier, unvalidated } = effect;
  return {
    id: evaluation,
    batch: '',
    attempt,
    options: { strict: false, from: 'direct', informationalErrors: 'ignore' },
    deadline: now + state.policy.evaluationDeadline,
    acceptedAt: now,
    evaluations: [
      {
        id: evaluation,
        index: 0,
        run: state.id,
        case: state.id,
        scenario: '',
        subject: digestOf(state.snapshots ?? {}),
      },
    ],
    plan: {
      plan: state.id,
      project: state.project,
      stage,
      checks,
      rest,
      earlier,
      unvalidated,
      requireValidations: state.policy.requireValidations,
      ...(state.policy.requireEnforced === true ? { requireEnforced: true } : {}),
    },
    ...(actor === undefined ? {} : { actor }),
  };
}

/** Where each check runs, by position. */
export function checkPlacesOf(manifest: PlanManifest): CheckPlace[] {
  return manifest.checks.map(({ runner }) => runner);
}

/** Settled results of a plan's evaluation as users see them (DESIGN 3.5), in the manifest's order. */
export function materializePlan(chunk: Chunk, results: readonly CheckResult[]): Result[] {
  return (chunk.plan?.checks ?? []).map((check, position) => {
    const result = results[position] ?? missingResult();
    return {
      validation: check.validation,
      mode: check.mode,
      outcome: result.outcome,
      passed: result.outcome === 'pass',
      message: result.message,
      data: result.data,
      duration_ms: result.duration_ms,
      attempt: chunk.attempt,
      tries: result.tries,
      worker: result.worker,
      read_only: result.read_only,
      attachment_id: check.attachment,
      attachment_resource: check.resource,
      attachment_scope: check.scope,
      attachment_scope_target: check.target,
    };
  });
}
