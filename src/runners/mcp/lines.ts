/** Lines of a stream of bytes, of which none is longer than allowed. Every byte is copied once at most. */
export class LineBuffer {
  readonly #most: number;
  #parts: Buffer[] = [];
  #length = 0;

  /** `most`: bytes of a line, without its end. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The lines that are complete now; undefined when one is too long, after which nothing can be read. */
  push(chunk: Buffer): string[] | undefined {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line = this.#ended(chunk.subarray(from, end));
      if (line === undefined) return undefined;
      lines.push(line);
      from = end + 1;
    }
    return this.#keep(chunk.subarray(from)) ? lines : undefined;
  }

  #keep(part: Buffer): boolean {
    this.#length += part.length;
    if (this.#length > this.#most) return false;
    if (part.length > 0) this.#parts.push(part);
    return true;
  }

  #ended(part: Buffer): string | undefined {
    if (!this.#keep(part)) return undefined;
    const line = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#length = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
