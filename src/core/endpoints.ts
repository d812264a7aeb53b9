import { z } from 'zod';
import { durationSchema } from './duration-schema.js';

/** Names of sinks and sources: they stand in keys, queues and dead letters. */
export const ENDPOINT_NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
const name = z
  .string()
  .regex(ENDPOINT_NAME, 'expected a letter, then letters, digits, _ or -; 64 at most')
  .describe('Name in dead letters, states and logs; default: kind and a digest of the target');

const kind = z.string().min(1).describe('Kind, as in KIND=TARGET');
const target = z.string().min(1).describe('Where it is, as in KIND=TARGET; without credentials');
const options = z.record(z.string(), z.unknown()).default({}).describe('Settings of its kind');

/** `KIND=TARGET`; what stands behind the first `=` is the target, and may be empty. */
function fromText(text: string): { kind: string; target: string } {
  const at = text.indexOf('=');
  return at < 0 ? { kind: text, target: '' } : { kind: text.slice(0, at), target: text.slice(at + 1) };
}

const sinkObject = z.strictObject({
  name: name.optional(),
  kind,
  target,
  types: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Only these events: names such as evaluation.failed, or all below one: plan.*'),
  projects: z.array(z.string().min(1)).min(1).optional().describe('Only events of plans of these projects'),
  scenarios: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Only events of evaluations of these scenarios'),
  projection: z
    .string()
    .min(1)
    .optional()
    .describe('JSONata over the CloudEvent; what it yields is sent in its place, nothing: it is passed over'),
  concurrency: z.int().min(1).max(64).optional().describe('Deliveries in hand at a time; default: 1'),
  rate: z.number().min(0.01).optional().describe('Events a second at most, of all dispatchers together'),
  order: z
    .enum(['none', 'subject'])
    .default('none')
    .describe('subject: the events of one evaluation or plan arrive in their order'),
  tries: z
    .int()
    .min(1)
    .optional()
    .describe('Tries of an event that the sink refuses; default: delivery.tries'),
  give_up_after: durationSchema
    .optional()
    .describe('How long events wait for a sink that is away; default: delivery.give_up_after'),
  options,
});

/** A sink in the settings: `KIND=TARGET`, or an object. */
export const sinkSettingSchema = z.union(
  [
    z
      .string()
      .min(1)
      .transform((text) => sinkObjectOf(text)),
    sinkObject,
  ],
  { error: 'expected KIND=TARGET, or an object with kind and target' },
);

/** A sink as it is set. `target` is empty where KIND=TARGET had none: opening it says so. */
export type SinkSetting = z.output<typeof sinkObject>;

/** The setting that `KIND=TARGET` stands for. */
export function sinkObjectOf(text: string): SinkSetting {
  return { ...fromText(text), order: 'none', options: {} };
}

const sourceObject = z.strictObject({
  name: name.optional(),
  kind,
  target,
  concurrency: z.int().min(1).max(256).default(16).describe('Messages in hand at a time'),
  actor: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Who is named as the actor of its commands; default: source:NAME'),
  trust_actor: z
    .boolean()
    .default(false)
    .describe('Take the actor from the CloudEvents extension `actor` where there is one'),
  options,
});

/** A source in the settings: `KIND=TARGET`, or an object. */
export const sourceSettingSchema = z.union(
  [
    z
      .string()
      .min(1)
      .transform((text) => sourceObjectOf(text)),
    sourceObject,
  ],
  { error: 'expected KIND=TARGET, or an object with kind and target' },
);

/** A source as it is set. */
export type SourceSetting = z.output<typeof sourceObject>;

/** The setting that `KIND=TARGET` stands for. */
export function sourceObjectOf(text: string): SourceSetting {
  return { ...fromText(text), concurrency: 16, trust_actor: false, options: {} };
}
