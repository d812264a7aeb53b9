import { type Decision, decisionText } from '../core/decision.js';
import type { OutboxEvent } from '../core/events.js';
import type { DecisionToCommit } from '../ports/store.js';

/** A decision with its events, as it is committed. */
export function decidedAs(
  decision: Decision,
  position: number,
  evaluation: string,
  events: OutboxEvent[],
): DecisionToCommit {
  const { status, counts } = decision;
  const json = decisionText(decision);
  return { position, evaluation, json, status, vacuousPasses: counts.vacuous, events };
}
