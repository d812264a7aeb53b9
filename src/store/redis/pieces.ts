import { unwrap } from '../../core/pipeline.js';
import type { Blob } from '../../ports/store.js';
import type { RedisContext } from './context.js';

/** Characters of the longest text that is stored in one piece: one command moves 768 KiB at most. */
export const PIECE = 256 * 1024;
/** Bytes that one command should bring back. */
const PAGE_BYTES = 1024 * 1024;
/** Keys that one command reads. */
const MOST_KEYS = 128;
/** First character of what stands in place of a text that is stored in pieces; no JSON begins with it. */
const MARK = '\u0001';

const isHalf = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** A text in pieces of at most `PIECE` characters, none of which ends inside a character. */
export function cut(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + PIECE);
    if (to < text.length && isHalf(text.charCodeAt(to))) to -= 1;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

const headOf = (count: number): string => `${MARK}${count}`;

function countIn(content: string): number | undefined {
  return content.startsWith(MARK) ? Number(content.slice(1)) : undefined;
}

/** How many things to ask for next, when the last `count` had `bytes`: about `PAGE_BYTES`. */
export function pageAfter(count: number, bytes: number, most: number): number {
  return Math.max(1, Math.min(most, Math.floor((PAGE_BYTES * count) / Math.max(1, bytes))));
}

/** Stores a text under a key for `leaseMs` milliseconds, in pieces when it is long: other clients have their turn between these. */
export async function putWhole(
  { client }: RedisContext,
  key: string,
  text: string,
  leaseMs: number,
): Promise<void> {
  if (text.length <= PIECE) {
    await client.set(key, text, 'PX', leaseMs);
    return;
  }
  const pieces = cut(text);
  for (const [n, piece] of pieces.entries()) await client.set(`${key}:${n}`, piece, 'PX', leaseMs);
  await client.set(key, headOf(pieces.length), 'PX', leaseMs);
}

/** Stores a text that comes bit by bit under a key for `leaseMs` milliseconds, in pieces, also when it is short. */
export async function putPieces(
  { client }: RedisContext,
  key: string,
  text: AsyncIterable<string>,
  leaseMs: number,
): Promise<void> {
  let count = 0;
  const put = async (all: string) => {
    for (const piece of cut(all)) {
      await client.set(`${key}:${count}`, piece, 'PX', leaseMs);
      count += 1;
    }
  };
  let pending = '';
  for await (const bit of text) {
    pending += bit;
    if (pending.length < PIECE) continue;
    await put(pending);
    pending = '';
  }
  await put(pending);
  await client.set(key, headOf(count), 'PX', leaseMs);
}

/** The text under a key piece by piece; ends early when a piece is not there. */
export async function* piecesOf({ client }: RedisContext, key: string): AsyncGenerator<string> {
  const content = await client.get(key);
  if (content === null) return;
  const count = countIn(content);
  if (count === undefined) {
    yield content;
    return;
  }
  for (let n = 0; n < count; n++) {
    const piece = await client.get(`${key}:${n}`);
    if (piece === null) return;
    yield piece;
  }
}

/** The texts under these keys, whole; undefined for what is not there, or not all of it. */
export async function getWhole(
  { client }: RedisContext,
  keys: readonly string[],
): Promise<(string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  let page = MOST_KEYS;
  while (texts.length < keys.length) {
    const found = await client.mget(keys.slice(texts.length, texts.length + page));
    let bytes = 0;
    for (const content of found) {
      bytes += content?.length ?? 0;
      texts.push(content ?? undefined);
    }
    page = pageAfter(found.length, bytes, MOST_KEYS);
  }
  for (const [i, content] of texts.entries()) {
    const count = content === undefined ? undefined : countIn(content);
    if (count !== undefined) texts[i] = await join({ client }, keys[i] as string, count);
  }
  return texts;
}

async function join(
  { client }: Pick<RedisContext, 'client'>,
  key: string,
  count: number,
): Promise<string | undefined> {
  const pieces: string[] = [];
  for (let n = 0; n < count; n++) {
    const piece = await client.get(`${key}:${n}`);
    if (piece === null) return undefined;
    pieces.push(piece);
  }
  return pieces.join('');
}

/** Blobs from which on they are stored ahead of the script that takes them. */
const MANY = 4;

/**
 * Stores blobs that nobody has stored, when there are many, with a lease of `leaseMs` milliseconds; returns
 * their digests. Whatever goes through a script is copied and hashed on its way, and keeps Redis busy six
 * times as long.
 */
export async function putNew(
  { client, prefix }: RedisContext,
  blobs: readonly Blob[],
  leaseMs: number,
): Promise<ReadonlySet<string>> {
  const stored = new Set<string>();
  if (blobs.length < MANY) return stored;
  const short = blobs.filter(({ content }) => content.length <= PIECE);
  const writes = client.pipeline();
  for (const { digest, content } of short)
    writes.set(`${prefix}blob:${digest}`, content, 'PX', leaseMs, 'NX');
  const answers = unwrap(await writes.exec());
  short.forEach(({ digest }, i) => {
    if (answers[i] === 'OK') stored.add(digest);
  });
  return stored;
}

/**
 * What a script takes for blobs: digest and content of each, nothing for those that were `stored` ahead of it,
 * and for a long one how many pieces it has.
 */
export function blobArgs(blobs: readonly Blob[], stored: ReadonlySet<string> = new Set()): string[] {
  return blobs.flatMap(({ digest, content }) => [
    digest,
    stored.has(digest) ? '' : content.length <= PIECE ? content : headOf(cut(content).length),
  ]);
}

/** Tries of a script that finds pieces missing. */
const TRIES = 3;

/**
 * Runs a script that keeps blobs. When it says that pieces of long ones are missing, these are written, with
 * a lease of `leaseMs` milliseconds, and the script is run again: they may have run out in between.
 */
export async function withPieces<T>(
  { client, prefix }: RedisContext,
  blobs: readonly Blob[],
  leaseMs: number,
  run: () => Promise<T>,
  isMissing: (answer: T) => boolean,
): Promise<T> {
  for (let n = 1; ; n++) {
    const answer = await run();
    if (!isMissing(answer)) return answer;
    if (n > TRIES) throw new Error('pieces of a text went away while it was stored');
    for (const { digest, content } of blobs) {
      if (content.length <= PIECE) continue;
      for (const [i, piece] of cut(content).entries())
        await client.set(`${prefix}blob:${digest}:${i}`, piece, 'PX', Math.max(1, leaseMs), 'NX');
    }
  }
}
