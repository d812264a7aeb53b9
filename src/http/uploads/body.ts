import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import { SluiceError } from '../../core/problem.js';
import { HttpProblem } from '../problems.js';

/** Bytes after which the ratio of packed to unpacked is looked at. */
const BOMB_FROM = 32 * 2 ** 20;
/** Logs shrink to a fiftieth; what shrinks further is made to fill a disk. */
const MOST_RATIO = 250;

const tooLarge = (message: string) => new SluiceError('TOO_LARGE', message);

/** The client went away before all had come. */
export class HungUp extends Error {}

async function* received(raw: IncomingMessage, limit: number): AsyncGenerator<Buffer> {
  let size = 0;
  try {
    // Not destroyed when nobody reads on: its connection carries the answer.
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
      size += (chunk as Buffer).length;
      if (size > limit) throw tooLarge(`An upload may have ${limit} bytes at most.`);
      yield chunk as Buffer;
    }
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new HungUp('the client went away in the middle of its upload');
  }
  if (!raw.complete) throw new HungUp('the client went away in the middle of its upload');
}

async function* unpacked(packed: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  let [taken, given] = [0, 0];
  let failure: unknown;
  const feeding = (async () => {
    for await (const chunk of packed) {
      taken += chunk.length;
      if (!gunzip.write(chunk) && !gunzip.destroyed) {
        await new Promise<void>((resolve) => {
          gunzip.once('drain', resolve).once('close', () => resolve());
        });
      }
      if (gunzip.destroyed) return;
    }
    gunzip.end();
  })().catch((error: unknown) => {
    failure = error;
    gunzip.destroy();
  });
  try {
    for await (const chunk of gunzip) {
      given += (chunk as Buffer).length;
      if (given > limit) throw tooLarge(`An upload may have ${limit} bytes at most once it is unpacked.`);
      if (given > BOMB_FROM && given > taken * MOST_RATIO)
        throw tooLarge(`An upload may grow to ${MOST_RATIO} times its size at most when it is unpacked.`);
      yield chunk as Buffer;
    }
  } catch (error) {
    if (failure !== undefined) throw failure;
    if (error instanceof SluiceError) throw error;
    const problem = { path: '', message: 'is not valid gzip' };
    throw new HttpProblem('INVALID_REQUEST', 'The body cannot be unpacked.', { problems: [problem] });
  } finally {
    gunzip.destroy();
    await feeding;
  }
  if (failure !== undefined) throw failure;
}

/**
 * The bytes of an upload as they come, unpacked where they are packed. Throws TOO_LARGE, HungUp, or
 * UNSUPPORTED_MEDIA_TYPE for a packing other than gzip.
 */
export function uploadBody(raw: IncomingMessage, limit: number): AsyncGenerator<Buffer> {
  const length = Number(raw.headers['content-length'] ?? 0);
  if (length > limit) throw tooLarge(`An upload may have ${limit} bytes at most; this one has ${length}.`);
  const encoding = raw.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return received(raw, limit);
  if (encoding === 'gzip' || encoding === 'x-gzip') return unpacked(received(raw, limit), limit);
  const problem = { path: 'Content-Encoding', message: 'is not taken', found: encoding, allowed: ['gzip'] };
  throw new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'An upload may be packed with gzip alone.', {
    problems: [problem],
    headers: { 'accept-encoding': 'gzip' },
  });
}
