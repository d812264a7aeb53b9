import { type FileHandle, open } from 'node:fs/promises';
import type { OutboxEvent } from '../../src/core/events.js';
import { SluiceError } from '../../src/core/problem.js';
import type { Sink, SinkKind } from '../../src/ports/sink.js';

/** Appends one CloudEvent a line; a write that fails half-way is taken back. */
class NdjsonSink implements Sink {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async deliver(events: readonly OutboxEvent[]): Promise<[]> {
    const { size } = await this.#file.stat();
    const text = (await this.#torn(size)) + events.map((event) => `${event.json}\n`).join('');
    try {
      await this.#file.appendFile(text);
      await this.#file.datasync().catch(() => {});
    } catch (error) {
      await this.#file.truncate(size).catch(() => {});
      throw error;
    }
    return [];
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

export const ndjson: SinkKind = {
  kind: 'ndjson',
  description: 'Appends one CloudEvent a line to a file.',
  target: 'FILE',
  async open(target) {
    try {
      return new NdjsonSink(await open(target, 'a+'));
    } catch (error) {
      throw new SluiceError(
        'USAGE',
        `--sink ndjson=${target}: the file cannot be opened: ${(error as Error).message}`,
      );
    }
  },
};
