import type { SinkReader } from '../../src/app/deliver.js';
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
