import type { BatchRecord } from './batch.js';
import { type Decision, judgementText } from './decision.js';
import { eventId, makeEvent, makeEventOf, type OutboxEvent } from './events.js';
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

/** The same as JSON, without its end, so that more can follow. */
function aboutText(chunk: Chunk, entry: ManifestEntry, scenarioKey: string): string {
  const quote = JSON.stringify;
  return (
    `{"evaluation":${quote(entry.id)},"batch":${quote(batchOf(chunk))},"run":${quote(entry.run)},` +
    `"case":${quote(entry.case)},"scenario":${quote(scenarioKey)},"scenario_digest":${quote(entry.scenario)},` +
    `"subject_digest":${quote(entry.subject)},"attempt":${chunk.attempt},"actor":${quote(chunk.actor ?? null)}`
  );
}

/** evaluation.accepted: the manifest is stored; a decision will follow. */
export function acceptedEvent(
  fleet: string,
  chunk: Chunk,
  entry: ManifestEntry,
  scenarioKey: string,
): OutboxEvent {
  return makeEventOf(
    {
      fleet,
      name: 'evaluation.accepted',
      subject: entry.id,
      revision: String(chunk.attempt),
      sequence: 1,
      correlation: correlationOf(chunk),
      time: chunk.acceptedAt,
    },
    `${aboutText(chunk, entry, scenarioKey)}}`,
  );
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

/** evaluation.passed or evaluation.failed: every evaluation has one of these. */
function decidedEvent(
  fleet: string,
  chunk: Chunk,
  entry: ManifestEntry,
  decision: Decision,
  causation: string,
): OutboxEvent {
  return makeEventOf(
    {
      fleet,
      name: decision.passed ? 'evaluation.passed' : 'evaluation.failed',
      subject: entry.id,
      revision: String(chunk.attempt),
      sequence: 3,
      correlation: correlationOf(chunk),
      causation,
      time: decision.decidedAt,
    },
    `${aboutText(chunk, entry, decision.scenarioKey)},"decision":"${decision.status}",` +
      `${judgementText(decision)},"results_digest":${JSON.stringify(decision.resultsDigest)}}`,
  );
}

/** validation.failed or validation.errored of each of these results. */
export function checkEvents(
  fleet: string,
  chunk: Chunk,
  entry: ManifestEntry,
  scenarioKey: string,
  time: number,
  failing: readonly RuleResult[],
): OutboxEvent[] {
  const base = about(chunk, entry, scenarioKey);
  const causation = eventId(entry.id, String(chunk.attempt), 'evaluation.accepted');
  return failing.map((result) =>
    makeEvent({
      fleet,
      name: result.outcome === 'fail' ? 'validation.failed' : 'validation.errored',
      subject: entry.id,
      revision: `${chunk.attempt}/${result.attachment_id}`,
      sequence: 2,
      correlation: correlationOf(chunk),
      causation,
      time,
      data: { ...base, ...brief(result), data: result.data, attachment_id: result.attachment_id },
    }),
  );
}

/**
 * The events of one decision: passed or failed, advisories, and each check where that is wanted.
 * `failing` are its failed and errored results, or the first of them.
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
    const data = {
      ...base,
      advisories: advisories.slice(0, 100).map(brief),
      total: decision.counts.advisories,
    };
    events.push(makeEvent({ ...common, name: 'advisory.raised', revision, sequence: 2, data }));
  }
  if (options.perCheck)
    events.push(...checkEvents(fleet, chunk, entry, decision.scenarioKey, decision.decidedAt, failing));
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
