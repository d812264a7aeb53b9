/** Cuts a stream of bytes into lines, each of at most so many bytes. */
export class Lines {
  #parts: Buffer[] = [];
  #size = 0;

  constructor(
    private readonly most: number,
    private readonly onLine: (line: string) => void,
    /** A line was longer; nothing more is read. */
    private readonly onTooLong: () => void,
  ) {}

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      if (!this.#keep(chunk.subarray(from, end))) return;
      const line = Buffer.concat(this.#parts).toString('utf8');
      this.#parts = [];
      this.#size = 0;
      from = end + 1;
      this.onLine(line);
    }
    this.#keep(chunk.subarray(from));
  }

  /** Whether there was room for it. */
  #keep(part: Buffer): boolean {
    if (this.#size > this.most) return false;
    this.#size += part.length;
    if (this.#size > this.most) {
      this.#parts = [];
      this.onTooLong();
      return false;
    }
    if (part.length > 0) this.#parts.push(part);
    return true;
  }
}
