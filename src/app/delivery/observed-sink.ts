import type { DeliveryFailure, OutgoingEvent } from '../../ports/sink.js';
import type { Tracer } from '../../ports/tracer.js';
import type { DeliverDeps, SinkReader } from './reader.js';

/** The trace that an event came of stands at its end. */
const TRACE = /"traceparent":"([0-9a-f-]+)"\}$/;

interface Sent {
  events: readonly OutgoingEvent[];
  from: number;
  failures: readonly DeliveryFailure[];
}

function trace(tracer: Tracer, { name, describe }: SinkReader, sent: Sent, to: number): void {
  const failed = new Map(sent.failures.map(({ id, reason }) => [id, reason]));
  for (const { id, type, json } of sent.events) {
    const parent = TRACE.exec(json)?.[1];
    if (parent === undefined) continue;
    const attributes = {
      'sluice.sink': name,
      'sluice.sink.kind': describe.kind,
      'cloudevents.event_id': id,
      'cloudevents.event_type': type,
    };
    tracer.delivered({ parent, from: sent.from, to, attributes, failure: failed.get(id) });
  }
}

/** A reader whose sink is timed and traced, where somebody asks for it. */
export function observedReader({ meter, tracer, clock }: DeliverDeps, reader: SinkReader): SinkReader {
  if (meter === undefined && tracer === undefined) return reader;
  const { sink } = reader;
  return {
    ...reader,
    sink: {
      async deliver(events, signal) {
        const from = clock.now();
        const started = performance.now();
        let failures: DeliveryFailure[] = [];
        try {
          failures = await sink.deliver(events, signal);
          return failures;
        } catch (error) {
          const { message } = error as Error;
          failures = events.map(({ id }) => ({ id, kind: 'away', reason: message }));
          throw error;
        } finally {
          meter?.delivery(reader.describe.kind, (performance.now() - started) / 1000);
          if (tracer !== undefined) trace(tracer, reader, { events, from, failures }, clock.now());
        }
      },
      close: () => sink.close(),
    },
  };
}
