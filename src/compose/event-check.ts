import { eventSchema } from '../core/event-schemas.js';
import { EVENT_NAMES, EVENT_PREFIX, EVENT_VERSION, type OutboxEvent } from '../core/events.js';

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
