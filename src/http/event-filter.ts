import type { OutboxEvent } from '../core/events.js';
import { isPlainObject } from '../core/json.js';
import { wantsType } from '../core/sink-filter.js';

/** Which events a client asks for; absent: all. */
export interface EventFilter {
  /** Names such as evaluation.failed, or plan.* */
  types?: readonly string[] | undefined;
  batch?: string | undefined;
  plan?: string | undefined;
  evaluation?: string | undefined;
}

/** Whether an event is asked for. Its JSON is read only where it can be. */
export function eventFilter({
  types,
  batch,
  plan,
  evaluation,
}: EventFilter): (event: OutboxEvent) => boolean {
  const ofType = types === undefined ? undefined : wantsType(types);
  const ids = Object.entries({ batch, plan, evaluation }).filter(
    (each): each is [string, string] => each[1] !== undefined,
  );
  const marks = ids.map(([, id]) => JSON.stringify(id));
  return ({ type, json }) => {
    if (ofType !== undefined && !ofType(type)) return false;
    if (ids.length === 0) return true;
    if (!marks.every((mark) => json.includes(mark))) return false;
    const { subject, data } = JSON.parse(json) as { subject?: unknown; data?: unknown };
    const known = isPlainObject(data) ? data : {};
    return ids.every(([key, id]) => known[key] === id || subject === id);
  };
}
