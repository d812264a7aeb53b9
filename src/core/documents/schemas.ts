import { z } from 'zod';
import { commandData } from '../commands/data.js';
import { COMMAND_NAMES, type CommandName } from '../commands/names.js';
import { eventSchema } from '../event-schemas.js';
import { EVENT_NAMES, EVENT_PREFIX, EVENT_VERSION, type EventName } from '../events.js';

export type JsonSchema = Record<string, unknown>;

/** What came later than a consumer's copy of the schema must not break it: unknown keys are let through. */
function open(schema: JsonSchema): JsonSchema {
  const { additionalProperties, ...rest } = schema;
  const kept = additionalProperties === false ? {} : { additionalProperties };
  const entries = Object.entries(rest).map(([key, value]) => [key, openAny(value)]);
  return { ...Object.fromEntries(entries), ...(additionalProperties === undefined ? {} : kept) };
}

function openAny(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(openAny);
  return typeof value === 'object' && value !== null ? open(value as JsonSchema) : value;
}

const titled = (name: string, schema: z.ZodType, isOpen: boolean): JsonSchema => {
  const { $schema, ...json } = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
  const type = EVENT_PREFIX + name + EVENT_VERSION;
  return { $schema, $id: `urn:sluice:schema:${type}`, title: type, ...(isOpen ? open(json) : json) };
};

/** The CloudEvent of a command: its envelope, where extensions may stand, and its data. */
function commandSchema(name: CommandName): z.ZodObject {
  const extension = z.union([z.string(), z.number(), z.boolean()]);
  return z
    .object({
      specversion: z.literal('1.0'),
      id: z.string().min(1).describe('The same source and id are the same command, however often they come'),
      source: z.string().min(1).describe('Who sends it: a URI reference'),
      type: z.literal(EVENT_PREFIX + name + EVENT_VERSION),
      subject: z.string().min(1).optional().describe('The plan, where data does not name it'),
      time: z.iso.datetime({ offset: true }).optional(),
      datacontenttype: z.string().optional().describe('application/json'),
      correlationid: z.string().optional().describe('Goes into the events that follow from it'),
      actor: z.string().optional().describe('Who asks; counts where the operator trusts this source with it'),
      data: commandData[name],
    })
    .catchall(extension);
}

/** JSON Schema of an event as it is sent (draft 2020-12). */
export const eventJsonSchema = (name: EventName): JsonSchema => titled(name, eventSchema(name), true);

/** JSON Schema of a command as it is taken (draft 2020-12): strict, because Sluice is. */
export const commandJsonSchema = (name: CommandName): JsonSchema => titled(name, commandSchema(name), false);

/** Every one of them, by its short name. */
export function messageSchemas(): Record<string, JsonSchema> {
  return Object.fromEntries([
    ...EVENT_NAMES.map((name) => [name, eventJsonSchema(name)]),
    ...COMMAND_NAMES.map((name) => [name, commandJsonSchema(name)]),
  ]);
}
