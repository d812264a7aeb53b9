import type { OutboxEvent } from '../../core/events.js';
import { redact } from '../../core/redact.js';
import type { Clock } from '../../ports/clock.js';
import type { DeadLetterStore, SinkState, SinkStateStore } from '../../ports/dead-letters.js';
import type { Meter } from '../../ports/meter.js';
import type { Sink } from '../../ports/sink.js';
import type { Outbox } from '../../ports/store.js';
import type { Tracer } from '../../ports/tracer.js';

/** A sink as a reader of the outbox. */
export interface SinkReader {
  /** Name of the reader: the same sink keeps its place over restarts. */
  name: string;
  sink: Sink;
  /** Events that the sink is not for are passed over. */
  wants?: (event: OutboxEvent) => boolean;
  /** JSON to send in place of the CloudEvent; undefined: it is passed over. Throwing makes it a dead letter. */
  project?: (event: OutboxEvent) => Promise<string | undefined>;
  /** Most events that the sink takes at a time. */
  batch: number;
  /** Deliveries in hand at a time. */
  concurrency: number;
  /** Events a second at most. */
  rate?: number;
  /** `subject`: the events of one subject arrive in their order. */
  order: 'none' | 'subject';
  /** Tries of an event that the sink refuses. */
  tries: number;
  /** Milliseconds that events wait for a sink that is away or disabled. */
  giveUpAfterMs: number;
  /** Longest pause between two tries, in milliseconds. */
  longestWaitMs: number;
  /** As operators see it; the target without credentials. */
  describe: { kind: string; target: string };
}

export interface DeliverDeps {
  outbox: Outbox;
  letters: DeadLetterStore;
  sinks: SinkStateStore;
  clock: Clock;
  fleet: string;
  /** Hears of each change of a sink's state, once. */
  onState?: (state: SinkState) => void;
  /** Hears of trouble with keeping states. */
  onError?: (error: Error) => void;
  meter?: Meter | undefined;
  tracer?: Tracer | undefined;
  /** In [0, 1); default: Math.random. */
  random?: () => number;
}

const RESPONSE_LENGTH = 2048;
const REASON_LENGTH = 1000;

/** What a sink says of a failure, fit to be kept: without secrets, and short. */
export function keptReason(reason: string): string {
  return redact(reason).slice(0, REASON_LENGTH);
}

export function keptResponse(response: string | undefined): string | null {
  return response === undefined ? null : redact(response).slice(0, RESPONSE_LENGTH);
}
