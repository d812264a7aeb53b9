import type { Writable } from 'node:stream';
import { z } from 'zod';
import { defineSink, type OutgoingEvent, type Sink } from '../../src/ports/sink.js';

const ignore = () => {};

/** Writes one CloudEvent a line, no faster than they are read. */
export class LineSink implements Sink {
  readonly #stream: Writable;

  constructor(stream: Writable) {
    this.#stream = stream;
    // The write that meets an error tells of it; without a listener the process would end.
    stream.on('error', ignore);
  }

  async deliver(events: readonly OutgoingEvent[], signal?: AbortSignal): Promise<[]> {
    if (events.length === 0) return [];
    const text = events.map(({ json, projected }) => `${projected ?? json}\n`).join('');
    await new Promise<void>((resolve, reject) => {
      const stop = () => reject(new Error('it was told to stop before standard output was read'));
      if (signal?.aborted) return stop();
      signal?.addEventListener('abort', stop, { once: true });
      this.#stream.write(text, (error) => {
        signal?.removeEventListener('abort', stop);
        if (!error) return resolve();
        const { code } = error as NodeJS.ErrnoException;
        const isGone = code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
        reject(isGone ? new Error('nobody reads standard output any more') : error);
      });
    });
    return [];
  }

  async close(): Promise<void> {
    this.#stream.off('error', ignore);
  }
}

export const stdout = defineSink({
  kind: 'stdout',
  description: 'Writes one CloudEvent a line to standard output.',
  target: '-',
  options: z.strictObject({}),
  problem: (target) => (target === '-' ? undefined : { message: 'expected -; write stdout=-' }),
  async open() {
    return new LineSink(process.stdout);
  },
});
