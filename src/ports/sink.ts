import type { z } from 'zod';
import type { Problem } from '../core/problem.js';
import type { SecretReader } from '../core/secret.js';

/** An event as a sink sends it. */
export interface OutgoingEvent {
  /** Of the CloudEvent: stable over redeliveries. */
  id: string;
  /** Of the CloudEvent, such as `dev.sluice.evaluation.passed.v1`. */
  type: string;
  /** The CloudEvent in JSON format, byte for byte the same at each delivery. */
  json: string;
  /** What the projection made of it, as JSON: sent in place of the CloudEvent. */
  projected?: string;
}

/**
 * Why an event was not delivered. `away`: the sink as a whole cannot be reached or does not work now
 * (no connection, a timeout, 5xx, 429), so trying other events is of no use; `refused`: it does not
 * take this event; `gone`: it said that it is not there any more (410), and is not to be tried again.
 */
export interface DeliveryFailure {
  id: string;
  kind: 'away' | 'refused' | 'gone';
  reason: string;
  /** Trying again cannot help: the event is a dead letter at once. Of `refused` alone. */
  final?: true;
  /** Milliseconds that the receiver asked us to wait. */
  retryAfterMs?: number;
  /** What it answered: status line and body, 2 KiB at most, redacted. */
  response?: string;
}

/** Where events leave. Delivery is at least once; ids are stable. */
export interface Sink {
  /**
   * Delivers in order; returns those that failed. One event that is refused keeps no other from being
   * delivered. Throwing means that all failed because the sink is away. It has its own deadline, so that
   * it always answers within a minute; `signal` ends it sooner.
   */
  deliver(events: readonly OutgoingEvent[], signal?: AbortSignal): Promise<DeliveryFailure[]>;
  close(): Promise<void>;
}

/** What a sink may use to open its target. */
export interface SinkContext {
  /** Name of the sink. */
  name: string;
  fleet: string;
  /** URL of the fleet's own Redis; absent in the inline engine. */
  redisUrl?: string;
  secret: SecretReader;
  /** Trouble of a connection between deliveries. */
  onError(error: Error): void;
}

/** A kind of sink, as in `--sink KIND=TARGET`, or `{kind, target, options}` in the settings. */
export interface SinkKind<Options = unknown> {
  kind: string;
  description: string;
  /** What TARGET looks like. */
  target: string;
  /** Its own settings: a strict object, every key with a default or optional. */
  options: z.ZodType<Options>;
  /** TARGET is a file of this machine. */
  isFile?: true;
  /** Most events that it takes in one `deliver`. Default 200. */
  batch?(options: Options): number;
  /** What is wrong with the target, found without opening it: without `path`. */
  problem(target: string, options: Options): Omit<Problem, 'path'> | undefined;
  /**
   * Opens it without waiting for the other side: a sink that is away fails its deliveries. Throws a
   * SluiceError when the target can never be used as it is set.
   */
  open(target: string, options: Options, context: SinkContext): Promise<Sink>;
}

/** Keeps the type of the options within one definition and out of the list of kinds. */
export const defineSink = <Options>(kind: SinkKind<Options>): SinkKind => kind as unknown as SinkKind;
