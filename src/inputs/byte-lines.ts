/** One line of a byte stream. */
export interface ByteLine {
  /** Line number from 1. */
  number: number;
  /** Without its end; empty when the line is too long. */
  bytes: Buffer;
  /** Whether a line end followed; false for a last line that the file may have been cut in. */
  ended: boolean;
  /** Longer than the limit; nothing can be read after it. */
  tooLong: boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const EMPTY = Buffer.alloc(0);

/**
 * Splits bytes at LF (and CRLF) alone: U+2028 and U+2029 are characters inside JSON strings.
 * Holds no more than one line and one chunk.
 */
export class ByteLines {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #maxBytes: number;
  #chunk: Buffer = EMPTY;
  #number = 0;
  #done = false;

  constructor(chunks: AsyncIterable<Buffer>, maxBytes: number) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#maxBytes = maxBytes;
  }

  async #fill(): Promise<boolean> {
    while (this.#chunk.length === 0 && !this.#done) {
      const next = await this.#chunks.next();
      if (next.done) this.#done = true;
      else this.#chunk = next.value;
    }
    return this.#chunk.length > 0;
  }

  /** The next line, or undefined at the end. */
  async next(): Promise<ByteLine | undefined> {
    const pieces: Buffer[] = [];
    let size = 0;
    while (await this.#fill()) {
      const end = this.#chunk.indexOf(LF);
      const piece = end < 0 ? this.#chunk : this.#chunk.subarray(0, end);
      this.#chunk = end < 0 ? EMPTY : this.#chunk.subarray(end + 1);
      size += piece.length;
      if (size > this.#maxBytes) {
        this.#done = true;
        this.#chunk = EMPTY;
        return { number: ++this.#number, bytes: EMPTY, ended: false, tooLong: true };
      }
      pieces.push(piece);
      if (end >= 0) return this.#line(pieces, true);
    }
    return pieces.length === 0 ? undefined : this.#line(pieces, false);
  }

  #line(pieces: Buffer[], ended: boolean): ByteLine {
    let bytes = pieces.length === 1 ? (pieces[0] ?? EMPTY) : Buffer.concat(pieces);
    if (bytes.at(-1) === CR) bytes = bytes.subarray(0, -1);
    return { number: ++this.#number, bytes, ended, tooLong: false };
  }

  /** What no line has taken yet, as it came. */
  async *rest(): AsyncGenerator<Buffer> {
    while (await this.#fill()) {
      const chunk = this.#chunk;
      this.#chunk = EMPTY;
      yield chunk;
    }
  }
}
