import { covers, isPosition } from '../core/positions.js';
import { SluiceError, show } from '../core/problem.js';
import type { Outbox } from '../ports/store.js';
import { BEFORE_ALL, type Gap } from './event-stream.js';

/** Where a client wants to go on; `path` names where it said so. Throws INVALID_REQUEST for what is no position. */
export function positionOf(given: string, path: string): string {
  if (given === BEFORE_ALL) return '';
  if (isPosition(given)) return given;
  const problem = {
    path,
    message: 'is no position of an event; expected an id that this server sent',
    found: show(given),
  };
  throw new SluiceError('INVALID_REQUEST', '1 problem; nothing was sent.', [problem]);
}

/** Where reading begins, and whether events that were asked for are kept no more. */
export interface Place {
  cursor: string;
  gap: Gap | undefined;
}

/**
 * Goes on behind a position. Whether something was dropped right behind a position that is itself
 * dropped cannot be known: a gap says that it may be so. One that lies ahead of every event is of
 * another outbox, such as one whose Redis was emptied: everything that is kept follows.
 */
export async function placeBehind(outbox: Outbox, position: string): Promise<Place> {
  if (position === '' || (await outbox.eventsAt([position])).length > 0)
    return { cursor: position, gap: undefined };
  const last = await outbox.lastEvent();
  const isAhead = last !== '' && !covers(last, position);
  const cursor = isAhead ? '' : position;
  const [first] = await outbox.events(cursor, 1, 0);
  return { cursor, gap: { after: position, from: first?.position ?? null } };
}
