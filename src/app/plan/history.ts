import type { Chunk } from '../../core/manifest.js';
import type { PlanCommand, PlanState } from '../../core/plan/model.js';
import type { PlanLogEntry } from '../../ports/plans.js';

/** Guidance, reason, or why the gate is shut. */
function noteOf(command: PlanCommand): string | null {
  if (command.type === 'decided') return command.verdict.reason;
  if (command.type === 'respond') return command.guidance;
  return command.type === 'cancel' ? command.reason : null;
}

/** The line of history of a transition; `chunk` is the evaluation that it asked for. */
export function logOf(
  before: PlanState | undefined,
  command: PlanCommand,
  { state, row }: { state: PlanState; row: string },
  chunk: Chunk | undefined,
): PlanLogEntry {
  return {
    revision: state.revision,
    at: command.now,
    actor: command.actor,
    command: command.type,
    row,
    from: before?.phase ?? null,
    to: state.phase,
    attempt: state.attempt,
    decided: command.type === 'decided' ? command.verdict.evaluation : null,
    evaluation: chunk?.id ?? null,
    note: noteOf(command),
  };
}
