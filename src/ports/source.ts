import type { z } from 'zod';
import type { Problem } from '../core/problem.js';
import type { SecretReader } from '../core/secret.js';

/** A message as it came from a bus. */
export interface IncomingMessage {
  body: Uint8Array;
  /** `application/cloudevents+json`, `application/cloudevents-batch+json`, or that of the data (binary mode). */
  contentType?: string;
  /** Attributes of a CloudEvent in binary mode, by their names without the prefix of the bus: `id`, `source`. */
  attributes: Record<string, string>;
  /** Where it came from, in words: `stream COMMANDS, sequence 12`. */
  place: string;
}

/** `done`: accepted, a duplicate, or set aside as a dead letter; it may be acknowledged. */
export type Taken = { kind: 'done' } | { kind: 'later'; afterMs: number; reason: string };

/** Takes a message; does not throw. */
export type Take = (message: IncomingMessage) => Promise<Taken>;

/** Where commands arrive. */
export interface Source {
  /** Fetches nothing new, waits for what is in hand (`deadlineMs` at most), and lets go of the rest unacknowledged. */
  close(deadlineMs: number): Promise<void>;
}

export interface SourceContext {
  /** Name of the source. */
  name: string;
  fleet: string;
  /** URL of the fleet's own Redis. */
  redisUrl: string;
  /** Messages in hand at a time, at most. */
  concurrency: number;
  secret: SecretReader;
  /** Trouble of the connection; the source goes on trying. */
  onError(error: Error): void;
}

/**
 * A kind of source, as in `--source KIND=TARGET`. A message is acknowledged once `take` has answered
 * `done`, and not before; after `later` it is taken again when that time has passed, by the bus or from
 * memory; one that is not acknowledged when the process dies comes again.
 */
export interface SourceKind<Options = unknown> {
  kind: string;
  description: string;
  /** What TARGET looks like. */
  target: string;
  /** Its own settings: a strict object, every key with a default or optional. */
  options: z.ZodType<Options>;
  /** What is wrong with the target, found without opening it: without `path`. */
  problem(target: string, options: Options): Omit<Problem, 'path'> | undefined;
  /** Begins to take messages; a bus that is away is tried until it is there. */
  open(target: string, options: Options, context: SourceContext, take: Take): Promise<Source>;
}

/** Keeps the type of the options within one definition and out of the list of kinds. */
export const defineSource = <Options>(kind: SourceKind<Options>): SourceKind => kind as unknown as SourceKind;
