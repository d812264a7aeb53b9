import { EventEmitter } from 'node:events';
import type { BatchRecord } from '../../core/batch.js';
import type { OutboxEvent } from '../../core/events.js';
import type { Chunk } from '../../core/manifest.js';
import type { PackResults, RecordedResults } from '../../core/results-codec.js';
import type { Blob, DecidedEntry, OutboxEntry, StoredDecision } from '../../ports/store.js';

interface MemoryBatch {
  record: BatchRecord;
  chunks: { id: string; firstIndex: number }[];
  log: DecidedEntry[];
  step: number;
  /** Digests of what it keeps itself. */
  kept: Set<string>;
  followers: Map<string, { until: number; cursor: number }>;
  /** Evaluations of its log that are gone, and entries. */
  gone: number;
  goneTo: number;
}

interface MemoryChunk {
  chunk: Chunk;
  generation: number;
  checkAt: number;
  recorded: RecordedResults[];
  decisions: Map<number, StoredDecision>;
  /** Digests of the blobs that it uses. */
  held: string[];
  /** Results that are staged and not committed yet. */
  staged?: { stage: string; text: string };
  /** Events that were written ahead of its decision. */
  told: number;
}

export interface MemoryPlan {
  /** As JSON: what is read is nobody else's. */
  state: string;
  revision: number;
  deadline: number | null;
  commands: Map<string, { revision: number; digest: string }>;
  log: string[];
  /** Its evaluations, which go when it goes. */
  chunks: string[];
  /** When an ended one is forgotten, in milliseconds since the epoch. */
  endsAt: number | null;
}

/** What the parts of the in-memory store share. Every step between two awaits is atomic. */
export class MemoryState {
  readonly batches = new Map<string, MemoryBatch>();
  readonly chunks = new Map<string, MemoryChunk>();
  readonly places = new Map<string, { chunk: string; position: number }>();
  readonly plans = new Map<string, MemoryPlan>();
  /** Ids of those that ended, in that order. */
  readonly endedPlans = new Set<string>();
  readonly blobs = new Map<string, string>();
  readonly #uses = new Map<string, number>();
  readonly late: { chunk: string; results: PackResults }[] = [];
  outbox: OutboxEntry[] = [];
  readonly outboxCap: number;
  #sequence = 0;
  readonly #changes = new EventEmitter().setMaxListeners(0);

  constructor(outboxCap: number) {
    this.outboxCap = outboxCap;
  }

  /** Keeps blobs for one more user of each. */
  hold(blobs: readonly Blob[]): void {
    for (const { digest, content } of blobs) {
      this.blobs.set(digest, content);
      this.#uses.set(digest, (this.#uses.get(digest) ?? 0) + 1);
    }
  }

  /** One user of each less; a blob goes with its last. */
  letGo(digests: readonly string[]): void {
    for (const digest of digests) {
      const others = (this.#uses.get(digest) ?? 0) - 1;
      if (others > 0) this.#uses.set(digest, others);
      else {
        this.#uses.delete(digest);
        this.blobs.delete(digest);
      }
    }
  }

  append(events: readonly OutboxEvent[]): void {
    for (const event of events) {
      this.#sequence += 1;
      this.outbox.push({ position: `${this.#sequence}-0`, event, at: Date.now() });
    }
    if (events.length > 0) this.wake();
  }

  wake(): void {
    this.#changes.emit('change');
  }

  /** The next change, or `waitMs` at most; keeps the process alive meanwhile, as a socket would. */
  changed(waitMs: number): Promise<void> {
    if (waitMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#changes.off('change', done);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      this.#changes.once('change', done);
    });
  }
}
