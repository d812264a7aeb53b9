import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { LineSink, stdout } from '../../../queues/sinks/stdout.js';
import { testEvents } from '../../support/bus-events.js';

/** A reader that takes a chunk when it is told to. */
function slowReader() {
  const taken: string[] = [];
  const waiting: ((error?: Error | null) => void)[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      taken.push(String(chunk));
      waiting.push(done);
    },
  });
  return { stream, taken, read: (error?: Error) => waiting.shift()?.(error) };
}

const events = testEvents(3);
const lines = events.map(({ json }) => `${json}\n`).join('');

describe('the sink stdout', () => {
  it('has delivered once its lines are taken, and not before', async () => {
    const { stream, taken, read } = slowReader();
    const sink = new LineSink(stream);
    let isDone = false;
    const delivered = sink.deliver(events).then(() => {
      isDone = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([taken, isDone]).toEqual([[lines], false]);
    read();
    await delivered;
    expect(isDone).toBe(true);
    await sink.close();
  });

  it('sends what was projected in place of the event', async () => {
    const { stream, taken, read } = slowReader();
    const delivered = new LineSink(stream).deliver([{ ...testEvents(1)[0], projected: '{"a":1}' } as never]);
    read();
    await delivered;
    expect(taken).toEqual(['{"a":1}\n']);
  });

  it('is away when nobody reads any more, now and later', async () => {
    const { stream, read } = slowReader();
    const sink = new LineSink(stream);
    const failing = sink.deliver(events);
    read(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await expect(failing).rejects.toThrow('nobody reads standard output any more');
    await expect(sink.deliver(events)).rejects.toThrow('nobody reads standard output any more');
  });

  it('tells of any other error', async () => {
    const { stream, read } = slowReader();
    const failing = new LineSink(stream).deliver(events);
    read(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
    await expect(failing).rejects.toThrow('no space left');
  });

  it('is ended by its signal while nobody reads', async () => {
    const { stream } = slowReader();
    const ended = new AbortController();
    const delivering = new LineSink(stream).deliver(events, ended.signal);
    ended.abort();
    await expect(delivering).rejects.toThrow('told to stop');
    await expect(new LineSink(stream).deliver(events, ended.signal)).rejects.toThrow('told to stop');
  });

  it('is named by - alone', () => {
    expect(stdout.problem('-', {})).toBeUndefined();
    expect(stdout.problem('file', {})).toEqual({ message: 'expected -; write stdout=-' });
  });
});
