import type { Outcome } from '../core/result.js';

/** What performs a check: the worker itself, or one of its runners. */
export const CHECK_KINDS = ['pure', 'command', 'ansible', 'mcp', 'plugin', 'code', 'graph'] as const;
export type CheckKind = (typeof CHECK_KINDS)[number];

/** One check that was run. */
export interface CheckSample {
  /** Name of a built-in validator, or source of a tool; never a name that somebody chose. */
  validator: string;
  kind: CheckKind;
  outcome: Outcome;
  /** Milliseconds that it took. */
  ms: number;
}

/** What became of one run of a pack. */
export type PackEnd = 'done' | 'split' | 'unserved' | 'limited' | 'retried' | 'failed';

/** What one delivery brought to a sink: events that arrived, will be tried again, or are dead letters now. */
export interface DeliveryCounts {
  delivered: number;
  retried: number;
  dead: number;
}

/** What became of a command: taken, taken before, set aside, or put off. */
export type CommandResult = 'accepted' | 'duplicate' | 'refused' | 'later';

/**
 * Counts what this process does. Where nobody asks for metrics there is none, and nothing is counted. No
 * method throws, waits, or costs more than a few additions; those on the way of checks are called once a pack.
 */
export interface Meter {
  /** The checks of one pack. */
  checks(samples: readonly CheckSample[]): void;
  /** One run of a pack with so many evaluations; `seconds`: how long it took. */
  pack(queue: string, end: PackEnd, seconds: number, evaluations: number): void;
  /** A job that failed and will be run again. */
  retried(queue: string): void;
  /** A job that was taken from a worker which stopped answering. */
  stalled(queue: string): void;
  accepted(evaluations: number): void;
  decided(status: 'passed' | 'failed' | 'errored'): void;
  /** One call of the aggregator for a chunk, in seconds. */
  decide(seconds: number): void;
  deliveries(sink: { name: string; kind: string }, counts: DeliveryCounts): void;
  /** One call of a sink of this kind, in seconds. */
  delivery(kind: string, seconds: number): void;
  command(result: CommandResult): void;
  /** An answer of the HTTP API; `operation`: its id, undefined where there is none. */
  request(operation: string | undefined, status: number): void;
  /** One round trip to Redis, in seconds. */
  redis(seconds: number): void;
  /** Workers that the autoscaler wants now. */
  target(workers: number): void;
}
