import { LRUCache } from 'lru-cache';
import type { BullWorkQueue } from '../../queues/work-queue.js';
import type { OutboxEvent } from '../core/events.js';
import type { Chunk } from '../core/manifest.js';
import type { Store } from '../ports/store.js';
import type { SpanAttributes, Tracer } from '../ports/tracer.js';
import { overriding } from './overriding.js';

/** Chunks that were accepted and are to be enqueued. */
const MOST_ACCEPTED = 1000;

/** The event with the trace that it came of: CloudEvents' extension for distributed tracing. */
export function withTrace<E extends OutboxEvent>(event: E, traceparent: string | undefined): E {
  if (traceparent === undefined) return event;
  return { ...event, json: `${event.json.slice(0, -1)},"traceparent":"${traceparent}"}` };
}

function about(chunk: Pick<Chunk, 'id' | 'batch' | 'plan' | 'evaluations'>): SpanAttributes {
  return {
    'sluice.chunk': chunk.id,
    'sluice.evaluations': chunk.evaluations.length,
    ...(chunk.batch === '' ? {} : { 'sluice.batch': chunk.batch }),
    ...(chunk.plan === undefined ? {} : { 'sluice.plan': chunk.plan.plan }),
  };
}

/**
 * A store and queues that write traces: accepting a chunk begins one or goes on with the caller's, enqueueing
 * it is a part of the same, and events carry the trace that they came of.
 */
export function withTraces(
  store: Store,
  queue: BullWorkQueue,
  tracer: Tracer,
): { store: Store; queue: BullWorkQueue } {
  const accepted = new LRUCache<string, string>({ max: MOST_ACCEPTED });
  const traced = (events: readonly OutboxEvent[]) => {
    const traceparent = tracer.active();
    return events.map((event) => withTrace(event, traceparent));
  };
  const submit = <T>(chunk: Chunk, work: () => Promise<T>): Promise<T> =>
    tracer.span('sluice submit', about(chunk), async () => {
      const traceparent = tracer.active();
      if (traceparent !== undefined) accepted.set(chunk.id, traceparent);
      return work();
    });
  const evaluations = overriding(store.evaluations, {
    accept: (chunk, blobs, events, ...rest) =>
      submit(chunk, () => store.evaluations.accept(chunk, blobs, traced(events), ...rest)),
    commit: (chunk, stage, results, decisions, ...rest) =>
      tracer.span('sluice decide', about(chunk), () => {
        const withEvents = decisions.map((each) => ({ ...each, events: traced(each.events) }));
        return store.evaluations.commit(chunk, stage, results, withEvents, ...rest);
      }),
  });
  const plans = overriding(store.plans, {
    step(step) {
      const work = () => store.plans.step({ ...step, events: traced(step.events) });
      if (step.accept !== null) return submit(step.accept.chunk, work);
      if (step.decision === null) return work();
      return tracer.span('sluice decide', { 'sluice.plan': step.plan }, work);
    },
  });
  return {
    store: overriding(store, { evaluations, plans }),
    queue: overriding(queue, {
      enqueue(chunk, ...rest) {
        const parent = accepted.get(chunk.id);
        accepted.delete(chunk.id);
        const work = () => queue.enqueue(chunk, ...rest);
        return parent === undefined ? work() : tracer.within(parent, work);
      },
    }),
  };
}
