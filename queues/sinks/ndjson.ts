import { type FileHandle, open } from 'node:fs/promises';
import { z } from 'zod';
import { SluiceError } from '../../src/core/problem.js';
import { defineSink, type OutgoingEvent, type Sink } from '../../src/ports/sink.js';

/** Appends one CloudEvent a line; a write that fails half-way is taken back. */
class NdjsonSink implements Sink {
  readonly #file: FileHandle;
  /** What is being written: taking back a write must not take another one with it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async deliver(events: readonly OutgoingEvent[]): Promise<[]> {
    if (events.length === 0) return [];
    const written = this.#last.then(() => this.#append(events));
    this.#last = written.catch(() => {});
    await written;
    return [];
  }

  async #append(events: readonly OutgoingEvent[]): Promise<void> {
    const { size } = await this.#file.stat();
    const lines = events.map(({ json, projected }) => `${projected ?? json}\n`);
    const text = Buffer.from((await this.#torn(size)) + lines.join(''));
    try {
      await this.#file.appendFile(text);
      await this.#file.datasync().catch(() => {});
    } catch (error) {
      await this.#takeBack(size, text).catch(() => {});
      throw error;
    }
  }

  /** Cuts off what was written of `text` behind `size`, but not what another process has written there. */
  async #takeBack(size: number, text: Buffer): Promise<void> {
    const length = (await this.#file.stat()).size - size;
    if (length <= 0 || length > text.length) return;
    const found = Buffer.alloc(length);
    await this.#file.read(found, 0, length, size);
    if (found.equals(text.subarray(0, length))) await this.#file.truncate(size);
  }

  /** A line feed when the file ends in the middle of a line, left by a process that died. */
  async #torn(size: number): Promise<'' | '\n'> {
    if (size === 0) return '';
    const last = Buffer.alloc(1);
    await this.#file.read(last, 0, 1, size - 1);
    return last[0] === 0x0a ? '' : '\n';
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

export const ndjson = defineSink({
  kind: 'ndjson',
  description: 'Appends one CloudEvent a line to a file.',
  target: 'FILE',
  options: z.strictObject({}),
  isFile: true,
  problem: (target) => (target.includes('\u0000') ? { message: 'is no name of a file' } : undefined),
  async open(target) {
    try {
      return new NdjsonSink(await open(target, 'a+'));
    } catch (error) {
      throw new SluiceError(
        'USAGE',
        `ndjson=${target}: the file cannot be opened: ${(error as Error).message}`,
      );
    }
  },
});
