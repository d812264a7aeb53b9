import { laneOf, pagesOf, subjectOf } from '../../core/delivery-order.js';
import { EVENT_PREFIX, EVENT_VERSION, type OutboxEvent } from '../../core/events.js';
import type { ClaimSettings, DeliveryPage } from '../../ports/delivery.js';
import type { OutboxEntry } from '../../ports/store.js';
import type { SinkGate } from './gate.js';
import type { DeliverDeps, SinkReader } from './reader.js';

/** Entries claimed at a time, and in how many pages at most. */
const CLAIM = 200;
const CLAIM_PAGES = 20;
/** What a consumer that died held is taken over after this many milliseconds. */
const RECLAIM_MS = 30_000;

const DISABLED = `${EVENT_PREFIX}delivery.disabled${EVENT_VERSION}`;

/** Most events handed to the sink at a time: with a rate, about those of one second. */
export function pageSize({ batch, rate }: Pick<SinkReader, 'batch' | 'rate'>): number {
  return rate === undefined ? batch : Math.max(1, Math.min(batch, Math.floor(rate)));
}

/** A sink is not told that it is disabled itself: it is not there. */
function isWanted(reader: SinkReader, event: OutboxEvent): boolean {
  if (event.type === DISABLED && subjectOf(event) === reader.name) return false;
  return reader.wants?.(event) ?? true;
}

function pagesFor(reader: SinkReader, entries: readonly OutboxEntry[]): DeliveryPage[] {
  if (reader.order === 'none') {
    const positions = entries.map(({ position }) => position);
    return pagesOf(positions, pageSize(reader)).map((page) => ({ positions: page }));
  }
  const lanes = new Map<number, string[]>();
  for (const { event, position } of entries) {
    const lane = laneOf(subjectOf(event));
    lanes.set(lane, [...(lanes.get(lane) ?? []), position]);
  }
  return [...lanes].map(([lane, positions]) => ({ positions, lane }));
}

/** Whether anything may be claimed: for a sink that is away one page that waits, and what has waited too long. */
async function mayClaim(
  { outbox, clock }: DeliverDeps,
  reader: SinkReader,
  gate: SinkGate,
  idle: boolean,
): Promise<boolean> {
  const { state } = gate.circuit;
  if (state === 'delivering' || (state === 'away' && idle)) return true;
  const since = await outbox.waitingSince(reader.name);
  return since !== undefined && since + reader.giveUpAfterMs <= clock.now();
}

/** Claims what is new for a reader and hands it to delivery; returns how many entries it took. */
export async function claimForDelivery(
  deps: DeliverDeps,
  reader: SinkReader,
  gate: SinkGate,
  consumer: string,
  { waitMs, leadMs, idle }: ClaimSettings,
  hand: (pages: DeliveryPage[]) => Promise<void>,
): Promise<number> {
  const { outbox } = deps;
  await gate.ready;
  if (!(await mayClaim(deps, reader, gate, idle))) {
    await gate.pause(waitMs);
    return 0;
  }
  const count = Math.min(CLAIM, pageSize(reader) * CLAIM_PAGES);
  const entries =
    reader.order === 'subject'
      ? await outbox.claimInOrder(reader.name, consumer, count, waitMs, leadMs)
      : await outbox.claim(reader.name, consumer, count, waitMs, RECLAIM_MS);
  if (entries === undefined) {
    await gate.pause(waitMs);
    return 0;
  }
  const pages = pagesFor(
    reader,
    entries.filter(({ event }) => isWanted(reader, event)),
  );
  if (pages.length > 0) {
    await outbox.holdBack(
      reader.name,
      pages.flatMap(({ positions }) => positions),
    );
    await hand(pages);
  }
  await outbox.acknowledge(
    reader.name,
    entries.map(({ position }) => position),
  );
  return entries.length;
}
