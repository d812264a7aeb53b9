import { hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

const BUCKETS = 256;
/** Bytes of the digest of an id: among a hundred million ids no two are taken for one. */
const DIGEST_BYTES = 10;
const LINE_BYTES = 6;
const ENTRY_BYTES = DIGEST_BYTES + LINE_BYTES;
const BLOCK_ENTRIES = 256;
const BLOCK_BYTES = BLOCK_ENTRIES * ENTRY_BYTES;

interface Bucket {
  block: Buffer;
  used: number;
  /** Where its full blocks lie in the file. */
  places: number[];
}

/** An id that came twice: where it came again, and where before. */
export interface Twin {
  line: number;
  before: number;
}

/**
 * Ids with the lines that they came in, however many: digests in buckets, of which full blocks go to a file.
 * They are compared bucket by bucket at the end, so that memory stays flat.
 */
export class SeenIds {
  readonly #buckets: Bucket[] = [];
  readonly #open: () => Promise<FileHandle>;
  #file: FileHandle | undefined;
  #size = 0;

  /** `open`: a new private file, asked for when memory does not do; whoever gives it closes it. */
  constructor(open: () => Promise<FileHandle>) {
    this.#open = open;
  }

  async add(id: string, line: number): Promise<void> {
    const digest = hash('sha256', id, 'buffer');
    const number = digest[0] as number;
    let bucket = this.#buckets[number];
    if (bucket === undefined) {
      bucket = { block: Buffer.alloc(BLOCK_BYTES), used: 0, places: [] };
      this.#buckets[number] = bucket;
    }
    if (bucket.used === BLOCK_BYTES) await this.#spill(bucket);
    digest.copy(bucket.block, bucket.used, 0, DIGEST_BYTES);
    bucket.block.writeUIntBE(line, bucket.used + DIGEST_BYTES, LINE_BYTES);
    bucket.used += ENTRY_BYTES;
  }

  async #spill(bucket: Bucket): Promise<void> {
    this.#file ??= await this.#open();
    const { bytesWritten } = await this.#file.write(bucket.block, 0, BLOCK_BYTES, this.#size);
    if (bytesWritten < BLOCK_BYTES) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    bucket.places.push(this.#size);
    this.#size += BLOCK_BYTES;
    bucket.used = 0;
  }

  /** Every id that came again, bucket by bucket. */
  async *twins(): AsyncGenerator<Twin> {
    for (let number = 0; number < BUCKETS; number += 1) {
      const bucket = this.#buckets[number];
      if (bucket === undefined) continue;
      const first = new Map<string, number>();
      for await (const { id, line } of this.#entries(bucket)) {
        const before = first.get(id);
        if (before === undefined) first.set(id, line);
        else yield { line, before };
      }
    }
  }

  async *#entries({ block, used, places }: Bucket): AsyncGenerator<{ id: string; line: number }> {
    const page = Buffer.alloc(BLOCK_BYTES);
    for (const place of places) {
      await this.#file?.read(page, 0, BLOCK_BYTES, place);
      yield* entriesIn(page, BLOCK_BYTES);
    }
    yield* entriesIn(block, used);
  }
}

function* entriesIn(block: Buffer, used: number): Generator<{ id: string; line: number }> {
  for (let at = 0; at < used; at += ENTRY_BYTES) {
    const id = block.toString('latin1', at, at + DIGEST_BYTES);
    yield { id, line: block.readUIntBE(at + DIGEST_BYTES, LINE_BYTES) };
  }
}
