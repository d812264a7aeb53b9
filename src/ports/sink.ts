import type { OutboxEvent } from '../core/events.js';

/** One event that a sink did not take. */
export interface DeliveryFailure {
  id: string;
  reason: string;
  /** Milliseconds that the receiver asked us to wait. */
  retryAfterMs?: number;
}

/** Where events leave. Delivery is at least once; ids are stable. */
export interface Sink {
  /** Delivers in order; returns those that failed. Throwing means that all failed. */
  deliver(events: readonly OutboxEvent[]): Promise<DeliveryFailure[]>;
  close(): Promise<void>;
}

/** What a sink may use to open its target. */
export interface SinkContext {
  /** URL of the fleet's own Redis; absent in the inline engine. */
  redisUrl?: string;
}

/** A kind of sink, as in `--sink KIND=TARGET`. */
export interface SinkKind {
  kind: string;
  description: string;
  /** What TARGET looks like. */
  target: string;
  /** Throws a SluiceError when the target cannot be used. */
  open(target: string, context: SinkContext): Promise<Sink>;
}
