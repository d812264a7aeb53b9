import { deliveryDeadEvent } from '../core/delivery-events.js';
import { EVENT_PREFIX, EVENT_VERSION, type OutboxEvent } from '../core/events.js';
import type { Clock } from '../ports/clock.js';
import type { DeliveryRest, SinkDelivery } from '../ports/delivery.js';
import type { DeliveryFailure, Sink } from '../ports/sink.js';
import type { Outbox, OutboxEntry } from '../ports/store.js';

/** A sink as a reader of the outbox. */
export interface SinkReader {
  /** Name of the reader: the same sink keeps its place over restarts. */
  name: string;
  sink: Sink;
  /** Events that the sink is not for are passed over. */
  wants?: (event: OutboxEvent) => boolean;
}

export interface DeliverDeps {
  outbox: Outbox;
  clock: Clock;
  fleet: string;
}

/** Events claimed at a time. */
const CLAIM = 200;
/** What a consumer that died held is taken over after this many milliseconds. */
const RECLAIM_MS = 30_000;

/**
 * Claims what is new for a reader and hands it to delivery; returns how many entries it took.
 * Handing over may happen twice for the same entries, never not at all.
 */
export async function claimForDelivery(
  outbox: Outbox,
  reader: SinkReader,
  consumer: string,
  waitMs: number,
  hand: (positions: string[]) => Promise<void>,
): Promise<number> {
  const entries = await outbox.claim(reader.name, consumer, CLAIM, waitMs, RECLAIM_MS);
  const wanted = entries.filter((entry) => reader.wants?.(entry.event) ?? true);
  const positions = wanted.map((entry) => entry.position);
  if (positions.length > 0) {
    await outbox.holdBack(reader.name, positions);
    await hand(positions);
  }
  await outbox.acknowledge(
    reader.name,
    entries.map((entry) => entry.position),
  );
  return entries.length;
}

/** Delivers the entries at these positions; undefined when every one has arrived. */
export async function deliver(
  deps: DeliverDeps,
  reader: SinkReader,
  positions: readonly string[],
): Promise<DeliveryRest | undefined> {
  const entries = await deps.outbox.eventsAt(positions);
  const failures = await attempt(reader.sink, entries);
  const failed = new Map(failures.map((failure) => [failure.id, failure]));
  const rest = entries.filter((entry) => failed.has(entry.event.id));
  const gone = new Set(rest.map((entry) => entry.position));
  await deps.outbox.letGo(
    reader.name,
    positions.filter((position) => !gone.has(position)),
  );
  if (rest.length === 0) return undefined;
  const waits = failures.flatMap((failure) => failure.retryAfterMs ?? []);
  return {
    positions: [...gone],
    reason: failures[0]?.reason ?? 'unknown',
    ...(waits.length > 0 ? { retryAfterMs: Math.max(...waits) } : {}),
  };
}

async function attempt(sink: Sink, entries: readonly OutboxEntry[]): Promise<DeliveryFailure[]> {
  if (entries.length === 0) return [];
  try {
    return await sink.deliver(entries.map((entry) => entry.event));
  } catch (error) {
    const reason = (error as Error).message;
    return entries.map((entry) => ({ id: entry.event.id, reason }));
  }
}

/** Sets aside what could not be delivered, so that it holds up nothing behind it. */
export async function giveUp(deps: DeliverDeps, reader: SinkReader, rest: DeliveryRest): Promise<void> {
  const now = deps.clock.now();
  for (const entry of await deps.outbox.eventsAt(rest.positions)) {
    const isNotice = entry.event.type === `${EVENT_PREFIX}delivery.dead${EVENT_VERSION}`;
    const notice = isNotice
      ? undefined
      : deliveryDeadEvent(
          deps.fleet,
          reader.name,
          entry.event,
          { reason: rest.reason, code: 'refused', tries: 1 },
          now,
        );
    await deps.outbox.bury(reader.name, entry, rest.reason, now, notice);
  }
  await deps.outbox.letGo(reader.name, rest.positions);
}

/** The steps that bring a fleet's outbox to one sink. */
export function deliveryTo(deps: DeliverDeps, reader: SinkReader): SinkDelivery {
  return {
    name: reader.name,
    claim: (consumer, waitMs, hand) => claimForDelivery(deps.outbox, reader, consumer, waitMs, hand),
    deliver: (positions) => deliver(deps, reader, positions),
    giveUp: (rest) => giveUp(deps, reader, rest),
    close: () => reader.sink.close(),
  };
}
