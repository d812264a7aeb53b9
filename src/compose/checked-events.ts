import type { OutboxEvent } from '../core/events.js';
import type { DecisionToCommit, Store } from '../ports/store.js';

const isEvent = (value: unknown): value is OutboxEvent =>
  typeof value === 'object' && value !== null && 'json' in value && 'type' in value && 'id' in value;

/** The events among what a method of a store is given: alone, in lists, and in steps and decisions. */
function eventsIn(given: readonly unknown[]): OutboxEvent[] {
  return given.flatMap((value): OutboxEvent[] => {
    if (Array.isArray(value)) {
      const decisions = value as readonly Partial<DecisionToCommit>[];
      return decisions.flatMap((each) => (isEvent(each) ? [each] : eventsIn(each?.events ?? [])));
    }
    if (isEvent(value)) return [value];
    const events = (value as { events?: unknown } | null | undefined)?.events;
    return Array.isArray(events) ? eventsIn([events]) : [];
  });
}

/** The schemas are loaded when the first event comes. */
async function checkAll(events: readonly OutboxEvent[]): Promise<void> {
  const { checkEvent } = await import('./event-check.js');
  for (const event of events) checkEvent(event);
}

function checkedPart<T extends object>(part: T): T {
  return new Proxy(part, {
    get(target, name) {
      const member = Reflect.get(target, name, target) as unknown;
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        const method = () => (member as (...args: unknown[]) => unknown).apply(target, given);
        const events = eventsIn(given);
        return events.length === 0 ? method() : checkAll(events).then(method);
      };
    },
  });
}

/** A store that takes no event which is not what its schema says: for tests. */
export function withCheckedEvents(store: Store): Store {
  const { batches, evaluations, plans, unserved, letters, sinks } = store;
  const parts = { batches, evaluations, plans, unserved, letters, sinks };
  const checked = new Map<PropertyKey, unknown>(
    Object.entries(parts).map(([name, part]) => [name, part && checkedPart(part)]),
  );
  return new Proxy(store, {
    get(target, name) {
      if (checked.has(name)) return checked.get(name);
      const member = Reflect.get(target, name, target) as unknown;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
