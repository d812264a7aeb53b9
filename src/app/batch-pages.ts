import type { IndexedEvaluation } from '../core/document.js';
import { isPlainObject } from '../core/json.js';
import { SluiceError } from '../core/problem.js';
import type { ChunkPlace, Store } from '../ports/store.js';
import type { EvaluationReader } from './read.js';

/** Chunks that are looked up at a time. */
const LOOK_AHEAD = 20;
/** Chunks that a cursor may name: those that overlap at one place of the input. */
const MOST_OPEN = 64;

/** Where a page ended. */
interface Place {
  /** Index and id of the last evaluation that was told. */
  told: [index: number, id: string];
  /** Chunks that have more behind it. */
  open: string[];
  /** The last chunk that was looked at. */
  chunk: ChunkPlace | undefined;
}

export interface EvaluationPage {
  evaluations: IndexedEvaluation[];
  /** Where the next page begins; null: there is nothing more now. */
  cursor: string | null;
}

function encode({ told, open, chunk }: Place): string {
  const place = { t: told, o: open, ...(chunk === undefined ? {} : { c: [chunk.firstIndex, chunk.id] }) };
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

const isPair = (value: unknown): value is [number, string] =>
  Array.isArray(value) &&
  value.length === 2 &&
  Number.isSafeInteger(value[0]) &&
  typeof value[1] === 'string';

function decode(cursor: string): Place {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    value = undefined;
  }
  const { t, o, c } = isPlainObject(value) ? value : {};
  const isList = Array.isArray(o) && o.length <= MOST_OPEN && o.every((id) => typeof id === 'string');
  if (isPair(t) && isList && (c === undefined || isPair(c))) {
    return { told: t, open: o as string[], chunk: c && { firstIndex: c[0], id: c[1] } };
  }
  const problem = { path: 'cursor', message: 'is not a cursor that a page came with' };
  throw new SluiceError('INVALID_REQUEST', 'The cursor cannot be used.', [problem]);
}

const byInput = (a: IndexedEvaluation, b: IndexedEvaluation) =>
  a.index - b.index || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Chunks of a batch in input order, looked up a few at a time. */
class ChunkQueue {
  readonly #store: Store;
  readonly #batch: string;
  #ahead: ChunkPlace[] = [];
  #done = false;
  #after: ChunkPlace | undefined;
  #looked: ChunkPlace | undefined;

  constructor(store: Store, batch: string, after: ChunkPlace | undefined) {
    this.#store = store;
    this.#batch = batch;
    this.#after = after;
    this.#looked = after;
  }

  /** The last one that was taken. */
  get taken(): ChunkPlace | undefined {
    return this.#after;
  }

  async next(): Promise<ChunkPlace | undefined> {
    if (this.#ahead.length === 0 && !this.#done) {
      const page = { after: this.#looked, count: LOOK_AHEAD };
      this.#ahead = await this.#store.batches.chunksOf(this.#batch, page);
      this.#done = this.#ahead.length < LOOK_AHEAD;
      this.#looked = this.#ahead.at(-1) ?? this.#looked;
    }
    return this.#ahead[0];
  }

  take(): void {
    this.#after = this.#ahead.shift() ?? this.#after;
  }
}

/**
 * Decided evaluations of a batch in input order, page by page; holds a few chunks at a time, whatever the
 * size. A cursor goes on behind the last one that was told: what is decided later in front of it is not told
 * any more, so that an open batch is read whole only once it is over. Throws INVALID_REQUEST for a cursor
 * that is none.
 */
export async function evaluationPage(
  store: Store,
  reader: EvaluationReader,
  batch: string,
  cursor: string | undefined,
  limit: number,
): Promise<EvaluationPage> {
  const from = cursor === undefined ? undefined : decode(cursor);
  const told = from?.told ?? [-1, ''];
  const isBehind = ({ index, id }: IndexedEvaluation) =>
    index > told[0] || (index === told[0] && id > told[1]);
  const chunks = new ChunkQueue(store, batch, from?.chunk);
  let waiting: (IndexedEvaluation & { chunk: string })[] = [];
  const read = async (chunk: string) => {
    const found = (await reader.ofChunk(chunk)).filter(isBehind);
    waiting.push(...found.map((evaluation) => ({ ...evaluation, chunk })));
    waiting.sort(byInput);
  };
  for (const chunk of from?.open ?? []) await read(chunk);
  const evaluations: IndexedEvaluation[] = [];
  while (evaluations.length < limit) {
    const next = await chunks.next();
    const first = waiting[0];
    if (next !== undefined && (first === undefined || next.firstIndex <= first.index)) {
      chunks.take();
      await read(next.id);
      continue;
    }
    if (first === undefined) break;
    waiting = waiting.slice(1);
    const { chunk: _chunk, ...evaluation } = first;
    evaluations.push(evaluation);
  }
  const last = evaluations.at(-1);
  const isMore = waiting.length > 0 || (await chunks.next()) !== undefined;
  if (last === undefined || !isMore) return { evaluations, cursor: null };
  const open = [...new Set(waiting.map(({ chunk }) => chunk))];
  // Too many to name: all chunks are looked through again for what lies behind the last one told.
  if (open.length > MOST_OPEN)
    return { evaluations, cursor: encode({ told: [last.index, last.id], open: [], chunk: undefined }) };
  return { evaluations, cursor: encode({ told: [last.index, last.id], open, chunk: chunks.taken }) };
}
