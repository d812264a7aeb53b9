import { Redis } from 'ioredis';
import type { SinkReader } from '../../src/app/deliver.js';
import type { OutboxEvent } from '../../src/core/events.js';
import type { DeliveryFailure, OutgoingEvent, Sink } from '../../src/ports/sink.js';

type Fault = Omit<DeliveryFailure, 'id'>;

export const refuses: Fault = { kind: 'refused', reason: 'not today' };
export const isAway: Fault = { kind: 'away', reason: 'nobody there' };
export const isGone: Fault = { kind: 'gone', reason: '410 Gone' };

/** A sink in this process: `fault` says what is wrong with an event at the n-th call, from 1. */
export class FakeSink implements Sink {
  readonly took: OutgoingEvent[] = [];
  /** Ids of each call. */
  readonly calls: string[][] = [];
  readonly #fault: (call: number, event: OutgoingEvent) => Fault | undefined;

  constructor(fault: (call: number, event: OutgoingEvent) => Fault | undefined = () => undefined) {
    this.#fault = fault;
  }

  async deliver(events: readonly OutgoingEvent[]): Promise<DeliveryFailure[]> {
    this.calls.push(events.map(({ id }) => id));
    const failures: DeliveryFailure[] = [];
    for (const event of events) {
      const fault = this.#fault(this.calls.length, event);
      if (fault === undefined) this.took.push(event);
      else failures.push({ id: event.id, ...fault });
    }
    return failures;
  }

  async close(): Promise<void> {}
}

/** A reader for a sink with the settings that tests need to be over soon. */
export function readerOf(name: string, sink: Sink, more: Partial<SinkReader> = {}): SinkReader {
  return {
    name,
    sink,
    batch: 200,
    concurrency: 1,
    order: 'none',
    tries: 3,
    giveUpAfterMs: 3_600_000,
    longestWaitMs: 200,
    describe: { kind: 'fake', target: name },
    ...more,
  };
}

/** Writes events to the outbox of a fleet as they are, whether Sluice knows them or not. */
export async function emitTo(
  url: string,
  fleet: string,
  events: readonly OutboxEvent[],
  more: { at?: number } = {},
): Promise<void> {
  const client = new Redis(url);
  const writes = client.pipeline();
  const id = more.at === undefined ? '*' : `${more.at}-*`;
  for (const { json } of events) writes.xadd(`${fleet}:{0}:outbox`, id, 'e', json);
  await writes.exec();
  client.disconnect();
}

/** `n` events of each of so many subjects, in turn: `s0-0`, `s1-0`, … `s0-1`, … */
export function eventsOf(subjects: number, n: number): OutboxEvent[] {
  return Array.from({ length: subjects * n }, (_, i) => {
    const subject = `s${i % subjects}`;
    const id = `${subject}-${Math.floor(i / subjects)}`;
    const type = 'dev.sluice.test.made.v1';
    return { id, type, json: JSON.stringify({ id, type, subject }) };
  });
}
