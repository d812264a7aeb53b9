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
  RecordedPlace,
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
    const { spread } = this.#shards;
    const shard = shardOf(chunk.id, spread);
    const ids = chunk.evaluations.map(({ id }) => id);
    if (ids.some((id) => shardOf(id, spread) !== shard))
      throw new Error(`the evaluations of chunk ${chunk.id} are of several shards`);
    const standing = await this.#standing(ids);
    if (standing.length > 0) return { accepted: false, reason: 'standing', standing };
    const { evaluations } = this.#shards.at(shard);
    const accept = () => evaluations.accept(chunk, blobs, events, checkAt, leaseUntil);
    this.#shards.forget(chunk.id);
    const answer = await accept();
    if (answer.accepted || answer.reason !== 'batch_closed') return answer;
    // Who opened the batch may have died before it had a part in this shard, or the shard is new.
    return (await this.#batches.openPart(chunk.batch, shard)) ? accept() : answer;
  }

  /** Those that were accepted when the fleet had another number of shards. */
  async #standing(ids: readonly string[]): Promise<string[]> {
    if (this.#shards.former.length === 0) return [];
    const places = await this.locate(ids);
    return ids.filter((_, n) => places[n] !== undefined);
  }

  locate(evaluations: readonly string[]): Promise<({ chunk: string; position: number } | undefined)[]> {
    return this.#shards.gather(evaluations, (store, own) => store.evaluations.locate(own));
  }

  /** Each is in the shard of whom it belongs to, which its digest does not say. */
  async blobs(digests: readonly string[]): Promise<(string | undefined)[]> {
    if (digests.length === 0) return [];
    const answers = await this.#shards.each(({ evaluations }) => evaluations.blobs(digests));
    return digests.map((_, n) => answers.find((found) => found[n] !== undefined)?.[n]);
  }

  async chunk(id: string): Promise<ChunkRecord | undefined> {
    return (await this.#shards.of(id)).evaluations.chunk(id);
  }

  chunks(ids: readonly string[]): Promise<(ChunkRecord | undefined)[]> {
    return this.#shards.gather(ids, (store, own) => store.evaluations.chunks(own));
  }

  async deferCheck(chunk: string, checkAt: number): Promise<void> {
    return (await this.#shards.of(chunk)).evaluations.deferCheck(chunk, checkAt);
  }

  /** The most overdue of each shard, each shard in turn. */
  async dueChunks(now: number, limit: number): Promise<string[]> {
    const due = await this.#shards.each(({ evaluations }) => evaluations.dueChunks(now, limit));
    return inTurn(due, limit);
  }

  async raiseGeneration(chunk: string, expected: number, checkAt: number): Promise<number | undefined> {
    return (await this.#shards.of(chunk)).evaluations.raiseGeneration(chunk, expected, checkAt);
  }

  async recordedPage(chunk: string, place?: RecordedPlace): Promise<RecordedPage> {
    return (await this.#shards.of(chunk)).evaluations.recordedPage(chunk, place);
  }

  async stage(chunk: string, stage: string, text: AsyncIterable<string>, leaseMs: number): Promise<void> {
    return (await this.#shards.of(chunk)).evaluations.stage(chunk, stage, text, leaseMs);
  }

  async *blobPieces(digest: string, near: string): AsyncGenerator<string> {
    yield* (await this.#shards.of(near)).evaluations.blobPieces(digest, near);
  }

  async announce(chunk: string, told: number, events: readonly OutboxEvent[]): Promise<void> {
    return (await this.#shards.of(chunk)).evaluations.announce(chunk, told, events);
  }

  async record(chunk: string, results: PackResults): Promise<'stored' | 'late'> {
    return (await this.#shards.of(chunk)).evaluations.record(chunk, results);
  }

  async recorded(chunk: string): Promise<PackResults[]> {
    return (await this.#shards.of(chunk)).evaluations.recorded(chunk);
  }

  /** The batch is read when the decisions are written: whoever writes the last ones sees all of it. */
  async commit(
    chunk: Chunk,
    stage: string,
    results: string | null,
    decisions: readonly DecisionToCommit[],
    now: number,
    retentionMs: number,
  ): Promise<CommitAnswer> {
    const { evaluations } = await this.#shards.of(chunk.id);
    const answer = await evaluations.commit(chunk, stage, results, decisions, now, retentionMs);
    const batch = chunk.batch === '' ? undefined : await this.#batches.batch(chunk.batch);
    return { ...answer, batch };
  }

  async decisions(chunk: string, positions?: readonly number[]): Promise<StoredDecision[]> {
    return (await this.#shards.of(chunk)).evaluations.decisions(chunk, positions);
  }
}
