import { eventSchema } from '../core/event-schemas.js';
import { EVENT_NAMES, EVENT_PREFIX, EVENT_VERSION, type OutboxEvent } from '../core/events.js';
import type { DecisionToCommit, Store } from '../ports/store.js';

const schemas = new Map<string, ReturnType<typeof eventSchema>>();

function schemaOf(type: string): ReturnType<typeof eventSchema> {
  const name = EVENT_NAMES.find((each) => EVENT_PREFIX + each + EVENT_VERSION === type);
  if (name === undefined) throw new Error(`the event ${type} has no schema`);
  const schema = schemas.get(type) ?? eventSchema(name);
  schemas.set(type, schema);
  return schema;
}

/** Throws when an event is not what its schema says. */
export function checkEvent({ type, json }: OutboxEvent): void {
  const { error } = schemaOf(type).safeParse(JSON.parse(json));
  if (error === undefined) return;
  const problems = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new Error(`the event ${type} is not what its schema says: ${problems} in ${json.slice(0, 2000)}`);
}

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

function checkedPart<T extends object>(part: T): T {
  return new Proxy(part, {
    get(target, name) {
      const member = Reflect.get(target, name, target) as unknown;
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        for (const event of eventsIn(given)) checkEvent(event);
        return (member as (...args: unknown[]) => unknown).apply(target, given);
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
