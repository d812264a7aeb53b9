import { about, correlationOf } from './evaluation-events.js';
import { eventId, makeEvent, type OutboxEvent } from './events.js';
import type { Chunk, ManifestEntry } from './manifest.js';
import { aboutEvaluation } from './plan/events.js';
import { fitting } from './plan/fit.js';
import type { Need } from './registry/needs.js';
import type { ServingWorker } from './routing.js';

const LIST_BYTES = 16 * 1024;

/** What was found of an evaluation that waits. */
export interface Unserved {
  needs: readonly Need[];
  /** Checks that wait. */
  checks: number;
  /** Milliseconds since the epoch. */
  since: number;
  workers: readonly ServingWorker[];
}

/**
 * evaluation.unserved: checks of this evaluation wait for a runner that no living worker has. One for
 * each time that it begins to wait, or waits for something else. `scenarioKey` is of no matter to a plan's.
 */
export function unservedEvent(
  fleet: string,
  chunk: Chunk,
  entry: ManifestEntry,
  scenarioKey: string,
  found: Unserved,
): OutboxEvent {
  const { plan } = chunk;
  const needs = fitting([...found.needs], LIST_BYTES);
  const workers = fitting([...found.workers], LIST_BYTES);
  return makeEvent({
    fleet,
    name: 'evaluation.unserved',
    subject: entry.id,
    revision: `${chunk.attempt}/${found.since}/${found.needs.join(',')}`,
    sequence: 2,
    correlation: plan?.plan ?? correlationOf(chunk),
    causation: eventId(entry.id, String(chunk.attempt), 'evaluation.accepted'),
    time: found.since,
    data: {
      ...(plan === undefined ? about(chunk, entry, scenarioKey) : aboutEvaluation(chunk, plan)),
      needs: needs.items,
      checks: found.checks,
      since: new Date(found.since).toISOString(),
      deadline: new Date(chunk.deadline).toISOString(),
      workers: workers.items,
      workers_total: found.workers.length,
      truncated: needs.cut || workers.cut,
    },
  });
}
