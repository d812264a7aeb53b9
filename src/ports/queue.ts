import type { Turns } from '../core/fairness.js';
import type { Chunk } from '../core/manifest.js';
import type { Pack } from '../core/packing.js';
import type { Need } from '../core/registry/needs.js';

/** A pack as an executor receives it. */
export interface PackJob {
  chunk: string;
  attempt: number;
  generation: number;
  /** When its chunk was accepted: one of another time under the same id is another chunk. */
  acceptedAt: number;
  pack: Pack;
  /** Runs so far, this one included, from 1. */
  tries: number;
  /** How often a worker died or stopped answering with this job in hand; in doubt, alone in its hand. */
  stalled: number;
  /** Aborted when the run is to stop: drain deadline, lost lock. */
  signal: AbortSignal;
  /** When it was first found beyond a limit, in milliseconds since the epoch; absent: never. */
  limitedSince?: number;
}

/**
 * `split`: not run; these packs are to be run in its place. `unserved`: not run, because it
 * needs all of these runners of one worker and this one lacks some; to be left to another. `limited`: not
 * run, because as much runs as may; to come again after `pauseMs`, and `since` with it.
 */
export type PackAnswer =
  | { kind: 'done' }
  | { kind: 'split'; packs: Pack[] }
  | { kind: 'unserved'; needs: Need[] }
  | { kind: 'limited'; since: number; pauseMs: number };

/** One flow per chunk: its packs, then its decision (DESIGN 5.2). */
export interface WorkQueue {
  /** Repeatable: the same chunk, attempt and generation is enqueued once. */
  enqueue(
    chunk: Pick<Chunk, 'id' | 'attempt' | 'acceptedAt' | 'turns'>,
    generation: number,
    packs: readonly Pack[],
  ): Promise<void>;
  /** The lowest turns that wait, by queue; absent, or without a queue: nothing waits there for its turn. */
  front?(): Promise<Turns>;
  /** Whether the flow is still on its way to a decision by itself. */
  isAlive(chunk: Pick<Chunk, 'id' | 'attempt'>, generation: number): Promise<boolean>;
  close(): Promise<void>;
}
