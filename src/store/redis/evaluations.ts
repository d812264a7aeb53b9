import { randomUUID } from 'node:crypto';
import type { OutboxEvent } from '../../core/events.js';
import { resultPieces } from '../../core/large/result-pieces.js';
import type { Chunk } from '../../core/manifest.js';
import { unwrap } from '../../core/pipeline.js';
import type { PackResults, RecordedResults } from '../../core/results-codec.js';
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
import type { RedisBatches } from './batches.js';
import type { RedisContext } from './context.js';
import { blobArgs, getWhole, PIECE, piecesOf, putNew, putPieces, putWhole, withPieces } from './pieces.js';
import { allRecorded, recordedPage } from './recorded.js';
import { UNSWEPT_MS } from './retention.js';
import { SideBySide } from './side-by-side.js';

const LATE_KEPT = 10_000;
/** Characters from which on what a pack brought is stored by itself, and the list of the chunk's only refers to it. */
const BY_ITSELF = 8 * 1024;
/** Milliseconds that it is kept until its chunk refers to it. */
const UNLINKED_MS = 60_000;

/** Digests of all blobs, when they are not just those that the manifest names. */
function heldBeside(chunk: Chunk, blobs: readonly Blob[]): string[] {
  const named = new Set(chunk.evaluations.flatMap(({ scenario, subject }) => [scenario, subject]));
  const isSame = blobs.length === named.size && blobs.every(({ digest }) => named.has(digest));
  return isSame ? [] : [blobs.map(({ digest }) => digest).join(',')];
}

/** Evaluations in Redis: a hash per chunk with manifest and decisions, blobs by digest beside it. */
export class RedisEvaluations implements EvaluationStore {
  readonly #context: RedisContext;
  readonly #batches: RedisBatches;
  readonly #sideBySide: SideBySide;

  constructor(context: RedisContext, batches: RedisBatches) {
    this.#context = context;
    this.#batches = batches;
    this.#sideBySide = new SideBySide(context, LATE_KEPT);
  }

  #key(kind: string, id: string): string {
    return `${this.#context.prefix}${kind}:${id}`;
  }

  async accept(
    chunk: Chunk,
    blobs: readonly Blob[],
    events: readonly OutboxEvent[],
    checkAt: number,
    leaseUntil: number,
  ): Promise<AcceptAnswer> {
    const { scripts, prefix, outboxCap } = this.#context;
    const lease = Math.max(1, leaseUntil - chunk.acceptedAt);
    const stored = await putNew(this.#context, blobs, lease);
    const args = [
      chunk.id,
      chunk.batch,
      JSON.stringify(chunk),
      checkAt,
      chunk.evaluations[0]?.index ?? 0,
      lease,
      outboxCap,
      chunk.evaluations.length,
      blobs.length,
      events.length,
      ...chunk.evaluations.map((evaluation) => evaluation.id),
      ...blobArgs(blobs, stored),
      ...events.map((event) => event.json),
      ...heldBeside(chunk, blobs),
    ];
    const [word, ...rest] = await withPieces(
      this.#context,
      blobs,
      lease,
      () => scripts.accept(prefix, ...args) as Promise<string[]>,
      ([answer]) => answer === 'missing',
    );
    if (word === 'accepted') return { accepted: true };
    if (word === 'standing') return { accepted: false, reason: 'standing', standing: rest };
    return { accepted: false, reason: word as 'batch_closed' | 'outbox_full' };
  }

  async locate(evaluations: readonly string[]): Promise<({ chunk: string; position: number } | undefined)[]> {
    if (evaluations.length === 0) return [];
    const places = await this.#context.client.mget(evaluations.map((id) => this.#key('eval', id)));
    return places.map((place) => {
      const at = place?.lastIndexOf(':') ?? -1;
      return place && at > 0
        ? { chunk: place.slice(0, at), position: Number(place.slice(at + 1)) }
        : undefined;
    });
  }

  async blobs(digests: readonly string[]): Promise<(string | undefined)[]> {
    if (digests.length === 0) return [];
    return getWhole(
      this.#context,
      digests.map((digest) => this.#key('blob', digest)),
    );
  }

  async chunk(id: string): Promise<ChunkRecord | undefined> {
    return (await this.chunks([id]))[0];
  }

  async chunks(ids: readonly string[]): Promise<(ChunkRecord | undefined)[]> {
    if (ids.length === 0) return [];
    const reads = this.#context.client.pipeline();
    for (const id of ids) reads.hmget(this.#key('chunk', id), 'm', 'g');
    const found = unwrap(await reads.exec()) as (string | null)[][];
    return found.map(([manifest, generation]) =>
      manifest ? { chunk: JSON.parse(manifest) as Chunk, generation: Number(generation) } : undefined,
    );
  }

  async deferCheck(chunk: string, checkAt: number): Promise<void> {
    await this.#context.client.zadd(`${this.#context.prefix}open`, 'XX', checkAt, chunk);
  }

  async dueChunks(now: number, limit: number): Promise<string[]> {
    return this.#context.client.zrangebyscore(`${this.#context.prefix}open`, '-inf', now, 'LIMIT', 0, limit);
  }

  async raiseGeneration(chunk: string, expected: number, checkAt: number): Promise<number | undefined> {
    const { scripts, prefix } = this.#context;
    const raised = Number(await scripts.raise(prefix, chunk, expected, checkAt));
    return raised === 0 ? undefined : raised;
  }

  async record(chunk: string, results: PackResults): Promise<'stored' | 'late'> {
    const { scripts, prefix } = this.#context;
    const pieces = resultPieces(results, PIECE);
    const [only = ''] = pieces;
    if (pieces.length === 1 && only.length >= BY_ITSELF) return this.#recordByItself(chunk, only);
    if (pieces.length === 1) return this.#sideBySide.record(chunk, only);
    let stored: unknown = 1;
    for (const json of pieces) stored = await scripts.record(prefix, chunk, LATE_KEPT, json);
    return stored === 1 ? 'stored' : 'late';
  }

  /** Past the script, which would copy and hash all of it; it can stand as the chunk's results as it is. */
  async #recordByItself(chunk: string, json: string): Promise<'stored' | 'late'> {
    const { client, scripts, prefix } = this.#context;
    const stage = randomUUID();
    for (;;) {
      const written = client.set(this.#key('rs', `${chunk}:${stage}`), json, 'PX', UNLINKED_MS);
      const recording = scripts.record(prefix, chunk, LATE_KEPT, '', stage);
      recording.catch(() => {});
      await written;
      const stored = await recording;
      if (stored !== -1) return stored === 1 ? 'stored' : 'late';
    }
  }

  async recorded(chunk: string): Promise<RecordedResults[]> {
    return allRecorded(this.#context, chunk);
  }

  async recordedPage(chunk: string, place?: RecordedPlace): Promise<RecordedPage> {
    return recordedPage(this.#context, chunk, place);
  }

  async stage(chunk: string, stage: string, text: AsyncIterable<string>, leaseMs: number): Promise<void> {
    await putPieces(this.#context, this.#key('rs', `${chunk}:${stage}`), text, leaseMs);
  }

  blobPieces(digest: string): AsyncIterable<string> {
    return piecesOf(this.#context, this.#key('blob', digest));
  }

  async announce(chunk: string, told: number, events: readonly OutboxEvent[]): Promise<void> {
    const { scripts, prefix } = this.#context;
    await scripts.announce(prefix, chunk, told, ...events.map((event) => event.json));
  }

  async commit(
    chunk: Chunk,
    stage: string,
    results: string | null,
    decisions: readonly DecisionToCommit[],
    now: number,
    retentionMs: number,
  ): Promise<CommitAnswer> {
    const { scripts, prefix } = this.#context;
    const staged = this.#key('rs', `${chunk.id}:${stage}`);
    // What belongs to a batch is swept after its end, which is not known yet.
    const unswept = retentionMs + Math.max(0, chunk.deadline - now) + UNSWEPT_MS;
    const isOfBatch = chunk.batch !== '';
    const kept = isOfBatch ? unswept : unswept - UNSWEPT_MS;
    const written =
      results === null ? undefined : putWhole(this.#context, staged, results, Math.max(1, kept));
    // A short one is there before the script runs, which is sent behind it.
    if (results !== null && results.length > PIECE) await written;
    const args = decisions.flatMap((d) => [
      d.position,
      d.evaluation,
      d.json,
      d.status,
      d.vacuousPasses,
      d.events.length,
      ...d.events.map((event) => event.json),
    ]);
    const committing = scripts.commit(
      prefix,
      chunk.id,
      chunk.batch,
      stage,
      isOfBatch ? unswept : retentionMs,
      results === null ? Math.max(1, kept) : 0,
      chunk.evaluations.length,
      decisions.length,
      ...args,
    );
    committing.catch(() => {});
    await written;
    const [left = -1, ...fresh] = (await committing) as number[];
    const batch = chunk.batch === '' ? undefined : await this.#batches.batch(chunk.batch);
    return { fresh, chunkDone: left === 0, batch };
  }

  async decisions(chunk: string, positions?: readonly number[]): Promise<StoredDecision[]> {
    const { client } = this.#context;
    const key = this.#key('chunk', chunk);
    const hash = positions === undefined ? await client.hgetall(key) : await this.#fields(key, positions);
    const wanted = positions ?? this.#decidedPositions(hash);
    const found = wanted.filter((position) => hash[`d${position}`] !== undefined);
    if (found.length === 0) return [];
    const stageOf = (position: number) => hash[`s${position}`] ?? (hash.s as string);
    const stages = [...new Set(found.map(stageOf))];
    const staged = await getWhole(
      this.#context,
      stages.map((stage) => this.#key('rs', `${chunk}:${stage}`)),
    );
    const results = new Map(stages.map((stage, i) => [stage, staged[i] ?? '{}']));
    return found.map((position) => ({
      position,
      decision: hash[`d${position}`] as string,
      results: results.get(stageOf(position)) as string,
    }));
  }

  /** Decisions and stages at these positions. */
  async #fields(key: string, positions: readonly number[]): Promise<Record<string, string>> {
    if (positions.length === 0) return {};
    const fields = ['s', ...positions.flatMap((position) => [`d${position}`, `s${position}`])];
    const values = await this.#context.client.hmget(key, ...fields);
    const found: Record<string, string> = {};
    fields.forEach((field, i) => {
      const value = values[i];
      if (typeof value === 'string') found[field] = value;
    });
    return found;
  }

  #decidedPositions(hash: Record<string, string>): number[] {
    return Object.keys(hash)
      .filter((field) => /^d\d+$/.test(field))
      .map((field) => Number(field.slice(1)))
      .sort((a, b) => a - b);
  }
}
