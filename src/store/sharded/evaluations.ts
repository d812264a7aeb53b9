import type { OutboxEvent } from '../../core/events.js';
import type { Chunk } from '../../core/manifest.js';
import type { PackResults } from '../../core/results-codec.js';
import { shardOf } from '../../core/shards.js';
import type {
  AcceptAnswer,
  Blob,
  ChunkRecord,
  CommitAnswer,
  DecisionToCommit,
  EvaluationStore,
  RecordedPage,
  StoredDecision,
} from '../../ports/store.js';
import type { ShardedBatches } from './batches.js';
import { inTurn, type Shards } from './shards.js';

/** Evaluations over several shards: each lives with its whole chunk in the shard that its id says. */
export class ShardedEvaluations implements EvaluationStore {
  readonly #shards: Shards;
  readonly #batches: ShardedBatches;

  constructor(shards: Shards, batches: ShardedBatches) {
    this.#shards = shards;
    this.#batches = batches;
  }

  async accept(
    chunk: Chunk,
    blobs: readonly Blob[],
    events: readonly OutboxEvent[],
    checkAt: number,
    leaseUntil: number,
  ): Promise<AcceptAnswer> {
    const { count } = this.#shards;
    const shard = shardOf(chunk.id, count);
    if (chunk.evaluations.some(({ id }) => shardOf(id, count) !== shard))
      throw new Error(`the evaluations of chunk ${chunk.id} are of several shards`);
    const { evaluations } = this.#shards.at(shard);
    const accept = () => evaluations.accept(chunk, blobs, events, checkAt, leaseUntil);
    const answer = await accept();
    if (answer.accepted || answer.reason !== 'batch_closed') return answer;
    // Who opened the batch may have died before it had a part in this shard.
    return (await this.#batches.openPart(chunk.batch, shard)) ? accept() : answer;
  }

  locate(evaluations: readonly string[]): Promise<({ chunk: string; position: number } | undefined)[]> {
    return this.#shards.spread(evaluations, (store, own) => store.evaluations.locate(own));
  }

  /** Each is in the shard of whom it belongs to, which its digest does not say. */
  async blobs(digests: readonly string[]): Promise<(string | undefined)[]> {
    if (digests.length === 0) return [];
    const answers = await this.#shards.each(({ evaluations }) => evaluations.blobs(digests));
    return digests.map((_, n) => answers.find((found) => found[n] !== undefined)?.[n]);
  }

  chunk(id: string): Promise<ChunkRecord | undefined> {
    return this.#shards.of(id).evaluations.chunk(id);
  }

  chunks(ids: readonly string[]): Promise<(ChunkRecord | undefined)[]> {
    return this.#shards.spread(ids, (store, own) => store.evaluations.chunks(own));
  }

  deferCheck(chunk: string, checkAt: number): Promise<void> {
    return this.#shards.of(chunk).evaluations.deferCheck(chunk, checkAt);
  }

  /** The most overdue of each shard, each shard in turn. */
  async dueChunks(now: number, limit: number): Promise<string[]> {
    const due = await this.#shards.each(({ evaluations }) => evaluations.dueChunks(now, limit));
    return inTurn(due, limit);
  }

  raiseGeneration(chunk: string, expected: number, checkAt: number): Promise<number | undefined> {
    return this.#shards.of(chunk).evaluations.raiseGeneration(chunk, expected, checkAt);
  }

  recordedFrom(chunk: string, from: number): Promise<RecordedPage> {
    return this.#shards.of(chunk).evaluations.recordedFrom(chunk, from);
  }

  stage(chunk: string, stage: string, text: AsyncIterable<string>, leaseMs: number): Promise<void> {
    return this.#shards.of(chunk).evaluations.stage(chunk, stage, text, leaseMs);
  }

  blobPieces(digest: string, near: string): AsyncIterable<string> {
    return this.#shards.of(near).evaluations.blobPieces(digest, near);
  }

  announce(chunk: string, told: number, events: readonly OutboxEvent[]): Promise<void> {
    return this.#shards.of(chunk).evaluations.announce(chunk, told, events);
  }

  record(chunk: string, results: PackResults): Promise<'stored' | 'late'> {
    return this.#shards.of(chunk).evaluations.record(chunk, results);
  }

  recorded(chunk: string): Promise<PackResults[]> {
    return this.#shards.of(chunk).evaluations.recorded(chunk);
  }

  /** The batch is read when the decisions are written: whoever writes the last ones sees all of it. */
  async commit(
    chunk: Chunk,
    stage: string,
    results: string,
    decisions: readonly DecisionToCommit[],
    now: number,
    retentionMs: number,
  ): Promise<CommitAnswer> {
    const { evaluations } = this.#shards.of(chunk.id);
    const answer = await evaluations.commit(chunk, stage, results, decisions, now, retentionMs);
    const batch = chunk.batch === '' ? undefined : await this.#batches.batch(chunk.batch);
    return { ...answer, batch };
  }

  decisions(chunk: string, positions?: readonly number[]): Promise<StoredDecision[]> {
    return this.#shards.of(chunk).evaluations.decisions(chunk, positions);
  }
}
