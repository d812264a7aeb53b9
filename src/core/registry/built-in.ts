import { z } from 'zod';
import { SCOPES, type Scope } from '../scenario/model.js';
import { builtInValidators } from '../validators/built-in.js';
import type { Validator } from '../validators/validator.js';
import type { JsonObject, RegistryEntry, ToolDocument } from './model.js';

/** Namespace of the tools that come with Sluice. */
export const BUILT_IN_NAMESPACE = 'builtin';

/** Where the evidence comes from; a validator with one scope has it by default. */
function scopeSchema({ scopes }: Validator): JsonObject {
  const [only, ...others] = scopes;
  return {
    description: 'Part of the run record that is judged: the ticket, the job, or each of its tasks',
    enum: SCOPES.filter((scope) => scopes.includes(scope)),
    ...(only !== undefined && others.length === 0 ? { default: only } : {}),
  };
}

function propertiesOf(shape: z.ZodRawShape): JsonObject {
  const { properties } = z.toJSONSchema(z.object(shape), { io: 'input' });
  return (properties ?? {}) as JsonObject;
}

/** For each scope that narrows fields, that it does. */
function narrowings(validator: Validator): JsonObject[] {
  return validator.scopes.flatMap((scope: Scope) => {
    const narrower = validator.paramsIn?.(scope);
    if (narrower === undefined) return [];
    const applies = { properties: { scope: { const: scope } }, required: ['scope'] };
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    return [{ if: applies, then: { properties: propertiesOf(narrower) } }];
  });
}

function inputSchema(validator: Validator): JsonObject {
  const fields = z.toJSONSchema(validator.params, { io: 'input' }) as JsonObject;
  const { $schema, properties, required, ...rest } = fields;
  const own = properties as Record<string, JsonObject>;
  // Patterns are searched for by Sluice's own dialect; a bad one is refused before it is attached.
  if (validator.runner === 'match' && own.pattern) own.pattern = { ...own.pattern, format: 're2' };
  const narrowed = narrowings(validator);
  const scoped = validator.scopes.length > 1 ? ['scope'] : [];
  return {
    ...rest,
    type: 'object',
    properties: { ...own, scope: scopeSchema(validator) },
    required: [...((required ?? []) as string[]), ...scoped],
    additionalProperties: false,
    ...(narrowed.length === 0 ? {} : { allOf: narrowed }),
  };
}

function toolOf(validator: Validator): ToolDocument {
  return {
    kind: 'tool',
    name: `${BUILT_IN_NAMESPACE}/${validator.name}`,
    description: validator.description,
    source: 'builtin',
    input_schema: inputSchema(validator),
    capability: { read_only: true, writes: false, checkpointable: false, network: false },
    lifecycle: {},
    validator: validator.name,
    idempotent: true,
  };
}

/** Validators that judge the evidence alone; a playbook belongs to the bundle of a scenario. */
const pure = [...builtInValidators.values()].filter(({ runner }) => runner !== 'ansible');

/**
 * A tool for each built-in validator but `ansible`, by name: `builtin/pattern_match` and so on.
 * Arguments are the fields of the validator and `scope`; the subject is a run record.
 */
export const builtInTools: ReadonlyMap<string, ToolDocument> = new Map(
  pure.map((validator) => [`${BUILT_IN_NAMESPACE}/${validator.name}`, toolOf(validator)]),
);

/** What comes with Sluice as it stands beside registered documents: without a version, registered at 0. */
export const builtInEntries: ReadonlyMap<string, RegistryEntry> = new Map(
  [...builtInTools].map(([name, document]) => [
    name,
    { document, version: '', registeredAt: 0, actor: 'sluice', previous: [] },
  ]),
);
