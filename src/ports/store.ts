import type { BatchOpening, BatchRecord } from '../core/batch.js';
import type { OutboxEvent } from '../core/events.js';
import type { Chunk } from '../core/manifest.js';
import type { MemoryUse } from '../core/pressure.js';
import type { Need } from '../core/registry/needs.js';
import type { PackResults, RecordedResults } from '../core/results-codec.js';
import type { Blob } from './blob.js';
import type { DeadLetterStore, SinkStateStore } from './dead-letters.js';
import type { LimitStore } from './limits.js';
import type { PlanStore } from './plans.js';
import type { RegistryStore } from './registry.js';
import type { RetentionStore } from './retention.js';
import type { TokenStore } from './tokens.js';

export type { Blob } from './blob.js';

/** A chunk as it stands. */
export interface ChunkRecord {
  chunk: Chunk;
  /** Raised whenever the chunk is enqueued anew (DESIGN 5.6). */
  generation: number;
}

/** One evaluation's decision, ready to be committed together with its events. */
export interface DecisionToCommit {
  position: number;
  evaluation: string;
  /** The decision as it will stand for ever. */
  json: string;
  status: 'passed' | 'failed' | 'errored';
  vacuousPasses: number;
  events: OutboxEvent[];
}

export interface CommitAnswer {
  /** Positions that this commit decided; the others had a decision already. */
  fresh: number[];
  /** Whether the whole chunk is decided now. */
  chunkDone: boolean;
  /** The batch after the commit. */
  batch: BatchRecord | undefined;
}

/** A decided evaluation as it is stored. */
export interface StoredDecision {
  position: number;
  decision: string;
  /** The chunk's results that were staged with it, for `parseChunkResults`: one text for all of a commit. */
  results: string;
}

/** Part of what was recorded for a chunk. */
export interface RecordedPage {
  results: RecordedResults[];
  /** The next page; undefined: this is the last. */
  next: RecordedPlace | undefined;
}

/** A page of what was recorded: from which entry on, and how many, so that their size is about the same. */
export interface RecordedPlace {
  from: number;
  count: number;
}

/** Evaluations of one chunk that were decided together. */
export interface DecidedEntry {
  chunk: string;
  positions: number[];
}

export type AcceptAnswer =
  | { accepted: true }
  /** Evaluations that were accepted before, by whom ever; nothing of this chunk was stored. */
  | { accepted: false; reason: 'standing'; standing: string[] }
  /** `batch_closed`: sealed or over, and some of these are not part of it. */
  | { accepted: false; reason: 'batch_closed' | 'outbox_full' };

/** A chunk and the input index of its first evaluation. */
export interface ChunkPlace {
  id: string;
  firstIndex: number;
}

/** Batches: opened once, sealed once, completed once. */
export interface BatchStore {
  /**
   * Opens the batch, or returns the one that stands under its id, untouched. `kept`: what its runs will
   * need (scenarios, bundles) and for how many milliseconds, where they come later.
   */
  openBatch(opening: BatchOpening, kept?: { blobs: readonly Blob[]; leaseMs: number }): Promise<BatchRecord>;
  batch(id: string): Promise<BatchRecord | undefined>;
  /**
   * Fixes the total: `total`, or what is accepted where that is more. The first seal stands; returns the batch
   * after it.
   */
  sealBatch(id: string, total: number): Promise<BatchRecord | undefined>;
  /**
   * Open to completed by compare-and-set, with its event; false when it was not open and complete. Without an
   * event: a part of a batch, of which its home tells.
   */
  completeBatch(id: string, now: number, event: OutboxEvent | null): Promise<boolean>;
  /** Writes the event once per step (0-10, tenths of the total); false when the step was reported before. */
  progressBatch(id: string, step: number, event: OutboxEvent): Promise<boolean>;
  /** Open, sealed batches in which everything is decided, for the sweeper. */
  unfinishedBatches(): Promise<string[]>;
  /**
   * The batch's chunks by the input index of their first evaluation, then by id; `page`: at most `count`
   * of those behind `after`.
   */
  chunksOf(batch: string, page?: { after: ChunkPlace | undefined; count: number }): Promise<ChunkPlace[]>;
  /** What was decided after the cursor ('' for the beginning), waiting up to `waitMs` for the first entry. */
  decidedSince(
    batch: string,
    cursor: string,
    waitMs: number,
  ): Promise<{ entries: DecidedEntry[]; cursor: string }>;
}

/** Evaluations: accepted with their manifest before any job, decided exactly once. */
export interface EvaluationStore {
  /**
   * One atomic step: the chunk's blobs with a lease until `leaseUntil`, its manifest, its place among
   * the open ones until `checkAt`, and its events. A chunk without a batch belongs to none.
   */
  accept(
    chunk: Chunk,
    blobs: readonly Blob[],
    events: readonly OutboxEvent[],
    checkAt: number,
    leaseUntil: number,
  ): Promise<AcceptAnswer>;
  /** For each evaluation id the chunk and position that it stands under. */
  locate(evaluations: readonly string[]): Promise<({ chunk: string; position: number } | undefined)[]>;
  blobs(digests: readonly string[]): Promise<(string | undefined)[]>;
  chunk(id: string): Promise<ChunkRecord | undefined>;
  chunks(ids: readonly string[]): Promise<(ChunkRecord | undefined)[]>;
  /** Looks at the chunk again at `checkAt` at the latest. */
  deferCheck(chunk: string, checkAt: number): Promise<void>;
  /** Undecided chunks whose time to be looked at has come, the most overdue first. */
  dueChunks(now: number, limit: number): Promise<string[]>;
  /** From `expected` to `expected + 1`; undefined when another raised it or all is decided. */
  raiseGeneration(chunk: string, expected: number, checkAt: number): Promise<number | undefined>;
  /** Appends results; `late` ones (the chunk is decided or gone) are kept apart. */
  record(chunk: string, results: PackResults): Promise<'stored' | 'late'>;
  /** A page of what `recorded` returns; without a place the first. */
  recordedPage(chunk: string, place?: RecordedPlace): Promise<RecordedPage>;
  /** Stores a long text under a stage in pieces, for a commit without results; kept `leaseMs` milliseconds until then. */
  stage(chunk: string, stage: string, text: AsyncIterable<string>, leaseMs: number): Promise<void>;
  /** A blob's text piece by piece; none when it is not stored. `near` as for `blobs`. */
  blobPieces(digest: string, near: string): AsyncIterable<string>;
  /**
   * Writes events of an undecided chunk ahead of its decision; `told`: how many were written before. What was
   * written once is not written again.
   */
  announce(chunk: string, told: number, events: readonly OutboxEvent[]): Promise<void>;
  /** Everything recorded, in the order of writing: the first result of a check stands. */
  recorded(chunk: string): Promise<RecordedResults[]>;
  /**
   * Results are staged under `stage`, then one small step writes decisions and events. Without results: what was
   * recorded by itself under that stage stands as the chunk's results.
   */
  commit(
    chunk: Chunk,
    stage: string,
    results: string | null,
    decisions: readonly DecisionToCommit[],
    now: number,
    retentionMs: number,
  ): Promise<CommitAnswer>;
  /** Decisions of a chunk with their results; only those that are decided. */
  decisions(chunk: string, positions?: readonly number[]): Promise<StoredDecision[]>;
}

/** An outbox entry: a position in the outbox and the event. */
export interface OutboxEntry {
  position: string;
  event: OutboxEvent;
  /** Milliseconds since the epoch at which it was written. */
  at: number;
}

/** Events, in the order in which they were decided. */
export interface Outbox {
  /** Entries after `cursor` ('' for the oldest that is kept), waiting up to `waitMs` for the first. */
  events(cursor: string, count: number, waitMs: number): Promise<OutboxEntry[]>;
  /** Position of the newest entry; '' when there is none. */
  lastEvent(): Promise<string>;
  /** Entries at these positions that are still kept, in the order of the outbox. */
  eventsAt(positions: readonly string[]): Promise<OutboxEntry[]>;
  /** Registers a reader that starts after `from`; a reader that exists keeps its place. */
  openReader(reader: string, from: string): Promise<void>;
  /** New entries for one of the reader's consumers, and those that a dead consumer held for `reclaimMs`. */
  claim(
    reader: string,
    consumer: string,
    count: number,
    waitMs: number,
    reclaimMs: number,
  ): Promise<OutboxEntry[]>;
  /**
   * As `claim`, by one consumer at a time, so that entries are claimed in their order: first again what
   * was claimed and not acknowledged, by whom ever. undefined: another consumer leads. The lead goes to
   * who asks first, and is lost `leadMs` after the last claim.
   */
  claimInOrder(
    reader: string,
    consumer: string,
    count: number,
    waitMs: number,
    leadMs: number,
  ): Promise<OutboxEntry[] | undefined>;
  /** Leaves the lead to another. */
  endLead(reader: string, consumer: string): Promise<void>;
  /** When the oldest entry was written that the reader has not claimed yet; undefined: none waits. */
  waitingSince(reader: string): Promise<number | undefined>;
  acknowledge(reader: string, positions: readonly string[]): Promise<void>;
  /** Entries handed to delivery hold back trimming until they are delivered or dead letters. */
  holdBack(reader: string, positions: readonly string[]): Promise<void>;
  letGo(reader: string, positions: readonly string[]): Promise<void>;
  /** Claimed, waiting or held back for this reader: 0 means that all so far is delivered. */
  outstanding(reader: string): Promise<number>;
  closeReader(reader: string): Promise<void>;
  /** Drops what every reader has delivered and is older than `keepMs` or beyond `keepCount`; returns how many. */
  trim(now: number, keepMs: number, keepCount: number): Promise<number>;
}

export type RoleName = 'worker' | 'aggregator' | 'dispatcher' | 'sweeper' | 'server' | 'autoscaler';

export interface LivingRole {
  role: RoleName;
  id: string;
  /** A worker's runners: `pure`, `command`, `ansible`, `mcp:<server>`, `plugin:<name>`; empty of other roles. */
  serves: Need[];
}

/** Processes that are alive. */
export interface Roster {
  beat(role: RoleName, id: string, now: number, serves?: readonly Need[]): Promise<void>;
  leave(role: RoleName, id: string): Promise<void>;
  /** Those that beat since `since`. */
  alive(since: number): Promise<LivingRole[]>;
}

/** An undecided chunk with checks that no living worker serves. */
export interface UnservedChunk {
  chunk: string;
  needs: Need[];
  /** Milliseconds since the epoch at which it was first found so. */
  since: number;
}

/** Chunks that wait for a worker which is not there. */
export interface UnservedStore {
  /** Notes it with its event in one step; false when it is noted with the same needs already. */
  note(mark: UnservedChunk, event: OutboxEvent): Promise<boolean>;
  /** A worker has come that serves it, or it is decided. */
  clear(chunk: string): Promise<void>;
  /** Of these chunks, or of all, the oldest first; decided ones are not among them. */
  list(limit: number, chunks?: readonly string[]): Promise<UnservedChunk[]>;
}

/** All state of a fleet. One contract suite holds every implementation to it. */
export interface Store {
  /** How many shards there are; absent: one. */
  readonly shards?: number;
  /** Over how many of them new evaluations and plans are spread (src/core/shards.ts); absent: one. */
  readonly spread?: number;
  readonly batches: BatchStore;
  readonly evaluations: EvaluationStore;
  readonly retention: RetentionStore;
  readonly outbox: Outbox;
  readonly roster: Roster;
  readonly registry: RegistryStore;
  readonly plans: PlanStore;
  readonly unserved: UnservedStore;
  readonly letters: DeadLetterStore;
  readonly sinks: SinkStateStore;
  readonly tokens: TokenStore;
  readonly limits: LimitStore;
  /** How full its Redis is, of a cluster the fullest node; absent: nobody knows. */
  memory?(): Promise<MemoryUse>;
  /** Whether what was acknowledged survives this process. */
  readonly durable: boolean;
  close(): Promise<void>;
}
