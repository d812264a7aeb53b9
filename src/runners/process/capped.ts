/** Many small chunks would cost more than the bytes in them. */
const MOST_CHUNKS = 1024;

/** What every structured return has in it, as JSON has it or as Python prints it. */
const KEYS: readonly Buffer[] = ['"passed"', "'passed'"].map((key) => Buffer.from(key));
const KEY_BYTES = 8;

/** Head and tail of a stream that may be far larger, in constant memory. */
export class CappedOutput {
  readonly #half: number;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #dropped = 0;
  /** The last bytes of what came so far: the key may lie across chunks. */
  #end: Buffer = Buffer.alloc(0);
  #mentionsPassed = false;

  /** Bytes kept in all, at least 2. */
  constructor(cap: number) {
    this.#half = Math.max(1, Math.floor(cap / 2));
  }

  push(chunk: Buffer): void {
    if (!this.#mentionsPassed) this.#look(chunk);
    const room = this.#half - this.#headBytes;
    if (room > 0) {
      const part = chunk.subarray(0, room);
      this.#head.push(part);
      this.#headBytes += part.length;
      if (this.#head.length > MOST_CHUNKS) this.#head = [Buffer.concat(this.#head)];
    }
    if (chunk.length <= room) return;
    const rest = room > 0 ? chunk.subarray(room) : chunk;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    this.#shorten();
  }

  #look(chunk: Buffer): void {
    const border = Buffer.concat([this.#end, chunk.subarray(0, KEY_BYTES - 1)]);
    this.#mentionsPassed = KEYS.some((key) => border.includes(key) || chunk.includes(key));
    const last = chunk.length < KEY_BYTES ? border : chunk;
    this.#end = last.subarray(Math.max(0, last.length - KEY_BYTES + 1));
  }

  /** Whole chunks go as soon as what follows them fills the tail; a chunk is 64 KiB at most. */
  #shorten(): void {
    let first = this.#tail[0];
    while (first !== undefined && this.#tailBytes - first.length >= this.#half) {
      this.#tail.shift();
      this.#tailBytes -= first.length;
      this.#dropped += first.length;
      first = this.#tail[0];
    }
    if (this.#tail.length > MOST_CHUNKS) this.#tail = [Buffer.concat(this.#tail)];
  }

  /** The key `passed` in quotes came by, be it in what was left out. */
  get mentionsPassed(): boolean {
    return this.#mentionsPassed;
  }

  get truncated(): boolean {
    return this.#dropped + this.#tailBytes > this.#half;
  }

  /** UTF-8, with U+FFFD for what is none; says how much of the middle is missing. */
  toString(): string {
    const tail = Buffer.concat(this.#tail);
    const over = Math.max(0, tail.length - this.#half);
    const dropped = this.#dropped + over;
    if (dropped === 0) return Buffer.concat([...this.#head, tail]).toString('utf8');
    const [head, end] = [Buffer.concat(this.#head), tail.subarray(over)];
    return `${head.toString('utf8')}\n... ${dropped} bytes left out ...\n${end.toString('utf8')}`;
  }
}
