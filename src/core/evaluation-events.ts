import type { BatchRecord } from './batch.js';
import type { Decision } from './decision.js';
import { eventId, makeEvent, type OutboxEvent } from './events.js';
import type { Chunk, ManifestEntry } from './manifest.js';
import type { RuleResult } from './result.js';

/** What every event of an evaluation says of it. */
interface About {
  evaluation: string;
  /** null: it was asked for by itself. */
  batch: string | null;
  run: string;
  case: string;
  scenario: string;
  scenario_digest: string;
  subject_digest: string;
  attempt: number;
}

const batchOf = ({ batch }: Chunk) => (batch === '' ? null : batch);

/** `correlationid` of the events of a run's evaluation: its batch, or what the request said. */
export const correlationOf = ({ batch, single }: Chunk): string => single?.correlation ?? batch;

export function about(chunk: Chunk, entry: ManifestEntry, scenarioKey: string): About {
  return {
    evaluation: entry.id,
    batch: batchOf(chunk),
    run: entry.run,
    case: entry.case,
    scenario: scenarioKey,
    scenario_digest: entry.scenario,
    subject_digest: entry.subject,
    attempt: chunk.attempt,
  };
}

/** evaluation.accepted: the manifest is stored; a decision will follow. */
export function acceptedEvent(
  fleet: string,
  chunk: Chunk,
  entry: ManifestEntry,
  scenarioKey: string,
): OutboxEvent {
  return makeEvent({
    fleet,
    name: 'evaluation.accepted',
    subject: entry.id,
    revision: String(chunk.attempt),
    sequence: 1,
    correlation: correlationOf(chunk),
    time: chunk.acceptedAt,
    data: { ...about(chunk, entry, scenarioKey), actor: chunk.actor ?? null },
  });
}

/** Which events of a decision are wanted besides the decision itself. */
export interface EventOptions {
  /** validation.failed and validation.errored, one a check (DESIGN 7). */
  perCheck: boolean;
}

const brief = (result: RuleResult) => ({
  validation: result.validation,
  label: result.rule.label,
  mode: result.mode,
  outcome: result.outcome,
  message: result.message,
});

/**
 * evaluation.passed or evaluation.failed. One literal, no spread: every evaluation has one of these,
 * and spreading costs more than all else that is done for it.
 */
function decidedEvent(
  fleet: string,
  chunk: Chunk,
  entry: ManifestEntry,
  decision: Decision,
  causation: string,
): OutboxEvent {
  return makeEvent({
    fleet,
    name: decision.passed ? 'evaluation.passed' : 'evaluation.failed',
    subject: entry.id,
    revision: String(chunk.attempt),
    sequence: 3,
    correlation: correlationOf(chunk),
    causation,
    time: decision.decidedAt,
    data: {
      evaluation: entry.id,
      batch: batchOf(chunk),
      run: entry.run,
      case: entry.case,
      scenario: decision.scenarioKey,
      scenario_digest: entry.scenario,
      subject_digest: entry.subject,
      attempt: chunk.attempt,
      actor: chunk.actor ?? null,
      decision: decision.status,
      score: decision.score,
      gates: decision.gates,
      counts: decision.counts,
      results_digest: decision.resultsDigest,
    },
  });
}

/**
 * The events of one decision: passed or failed, advisories, and each check where that is wanted.
 * `failing` are its failed and errored results.
 */
export function decisionEvents(
  fleet: string,
  chunk: Chunk,
  entry: ManifestEntry,
  decision: Decision,
  failing: readonly RuleResult[],
  options: EventOptions,
): OutboxEvent[] {
  const common = {
    fleet,
    subject: entry.id,
    correlation: correlationOf(chunk),
    causation: eventId(entry.id, String(chunk.attempt), 'evaluation.accepted'),
    time: decision.decidedAt,
  };
  const base = about(chunk, entry, decision.scenarioKey);
  const revision = String(chunk.attempt);
  const events: OutboxEvent[] = [];
  const advisories = failing.filter((result) => result.mode === 'informational');
  if (advisories.length > 0) {
    const data = { ...base, advisories: advisories.slice(0, 100).map(brief), total: advisories.length };
    events.push(makeEvent({ ...common, name: 'advisory.raised', revision, sequence: 2, data }));
  }
  if (options.perCheck) {
    for (const result of failing) {
      const name = result.outcome === 'fail' ? 'validation.failed' : 'validation.errored';
      const data = { ...base, ...brief(result), data: result.data, attachment_id: result.attachment_id };
      events.push(
        makeEvent({ ...common, name, revision: `${revision}/${result.attachment_id}`, sequence: 2, data }),
      );
    }
  }
  events.push(decidedEvent(fleet, chunk, entry, decision, common.causation));
  return events;
}

const totals = (batch: BatchRecord) => ({
  batch: batch.id,
  total: batch.total,
  decided: batch.decided,
  passed: batch.passed,
  failed: batch.failed,
  errored: batch.errored,
  vacuous_passes: batch.vacuousPasses,
});

/** batch.completed: every evaluation of a sealed batch is decided. */
export function batchCompletedEvent(fleet: string, batch: BatchRecord, now: number): OutboxEvent {
  const data = { ...totals(batch), duration_ms: Math.max(0, now - batch.createdAt) };
  return makeEvent({
    fleet,
    name: 'batch.completed',
    subject: batch.id,
    revision: 'completed',
    sequence: 11,
    correlation: batch.id,
    time: now,
    data,
  });
}

/** batch.progressed: another tenth of a sealed batch is decided; `step` is 1 to 9. */
export function batchProgressedEvent(
  fleet: string,
  batch: BatchRecord,
  step: number,
  now: number,
): OutboxEvent {
  return makeEvent({
    fleet,
    name: 'batch.progressed',
    subject: batch.id,
    revision: String(step),
    sequence: step,
    correlation: batch.id,
    time: now,
    data: { ...totals(batch), percent: step * 10 },
  });
}
