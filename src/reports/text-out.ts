import type { Writable } from 'node:stream';

const FLUSH_AT = 64 * 1024;

/**
 * Writes text to a stream with backpressure, in pieces of about 64 KiB. An error of the stream
 * rejects the call that meets it, and every later one.
 */
export class TextOut {
  readonly #out: Writable;
  #pending: string[] = [];
  #size = 0;

  constructor(out: Writable) {
    this.#out = out;
  }

  /** Takes a text; waits only when a piece is full. */
  async write(text: string): Promise<void> {
    this.#pending.push(text);
    this.#size += text.length;
    if (this.#size >= FLUSH_AT) await this.flush();
  }

  /** Resolves once the stream has handed everything on; call it last. */
  async flush(): Promise<void> {
    if (this.#pending.length === 0) return;
    const text = this.#pending.join('');
    this.#pending = [];
    this.#size = 0;
    await new Promise<void>((done, failed) => {
      const onError = (error: Error) => failed(error);
      this.#out.once('error', onError);
      this.#out.write(text, (error) => {
        this.#out.off('error', onError);
        if (error) failed(error);
        else done();
      });
    });
  }
}
