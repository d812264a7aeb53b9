import type { Chunk } from '../../core/manifest.js';
import type { PlanCommand, PlanEffect, PlanState } from '../../core/plan/model.js';
import type { PlanLogEntry } from '../../ports/plans.js';

/** A transition that was made. */
interface Made {
  state: PlanState;
  row: string;
  effects: readonly PlanEffect[];
}

/** Why the plan went down the ladder, as its event says it: `not_retryable: 1 of 2 required checks …`. */
function causeOf(effects: readonly PlanEffect[]): string | null {
  for (const effect of effects) {
    if (effect.type !== 'emit') continue;
    const { reason, message } = effect.data;
    if (typeof reason === 'string' && typeof message === 'string') return `${reason}: ${message}`;
  }
  return null;
}

/** Guidance, reason, or why the plan went where it did. */
function noteOf(command: PlanCommand, { row, effects }: Made): string | null {
  switch (command.type) {
    case 'decided':
      return causeOf(effects) ?? command.verdict.reason;
    case 'deadline':
      return causeOf(effects);
    case 'respond':
      return command.guidance;
    case 'cancel':
      return command.reason;
    case 'apply':
      return row === 'apply-changed'
        ? 'not applied: the attachments have changed since the gate opened; everything is validated again'
        : null;
    default:
      return null;
  }
}

/** The line of history of a transition; `chunk` is the evaluation that it asked for. */
export function logOf(
  before: PlanState | undefined,
  command: PlanCommand,
  made: Made,
  chunk: Chunk | undefined,
): PlanLogEntry {
  const { state, row } = made;
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
    note: noteOf(command, made),
  };
}
