import { sha256 } from './digest.js';
import type { OutboxEvent } from './events.js';

/** Lanes of a sink that keeps order: the events of one subject are all in one. Never change it. */
export const LANES = 8;

/** CloudEvents `subject`; the event's id where there is none. */
export function subjectOf(event: OutboxEvent): string {
  try {
    const { subject } = JSON.parse(event.json) as { subject?: unknown };
    return typeof subject === 'string' ? subject : event.id;
  } catch {
    return event.id;
  }
}

/** The lane of a subject: 0 to LANES - 1, the same in every process. */
export function laneOf(subject: string): number {
  return Number.parseInt(sha256(subject).slice(0, 8), 16) % LANES;
}

/** Lists of `size` at most, in order. */
export function pagesOf<T>(items: readonly T[], size: number): T[][] {
  const pages: T[][] = [];
  for (let from = 0; from < items.length; from += size) pages.push(items.slice(from, from + size));
  return pages;
}

/**
 * Parts that may be handed to a sink one after the other. To keep order, no part holds two events of one
 * subject: the second of them goes only when the first has arrived.
 */
export function roundsOf<T>(items: readonly T[], subject: ((item: T) => string) | undefined): T[][] {
  if (subject === undefined) return items.length === 0 ? [] : [[...items]];
  const rounds: T[][] = [];
  const turn = new Map<string, number>();
  for (const item of items) {
    const n = turn.get(subject(item)) ?? 0;
    turn.set(subject(item), n + 1);
    const round = rounds[n] ?? [];
    round.push(item);
    rounds[n] = round;
  }
  return rounds;
}
