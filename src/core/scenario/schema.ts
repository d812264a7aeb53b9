import { z } from 'zod';
import { builtInValidators } from '../validators/built-in.js';
import type { Validator } from '../validators/validator.js';
import { SCOPES, type Scope } from './model.js';

/** Name of a scenario: 1 to 256 characters, no separators of paths, no control characters, no blank ends. */
export const keyField = z
  .string()
  .min(1)
  .max(256)
  .regex(
    /^(?!\.{1,2}$)(?!.*\s$)[^\s/\\][^\u0000-\u001f\u007f/\\]*$/,
    'must be a plain name: no "/", "\\", control character or blank end',
  )
  .describe('Name that runs and results refer to; default: the name of the scenario’s folder');

/** Fields that every rule has (SV, Rule Structure). */
export const commonFields = {
  label: z
    .string()
    .regex(/\S/, 'must not be blank')
    .describe('Shown in the report; say what the rule verifies'),
  required: z
    .boolean()
    .default(true)
    .describe('false: the rule counts in the score but does not block a pass'),
  negate: z
    .boolean()
    .default(false)
    .describe('Invert the result: the rule passes when the condition is not met'),
} as const;

/** Whether a key inside `validation` or a rule is the author's own (DESIGN 3.2.1). */
export function isExtension(key: string): boolean {
  return key.startsWith('x-');
}

const SCOPE_TEXT: Readonly<Record<Scope, string>> = {
  gateway: 'Rules about the ticket; only with --from gateway',
  job: 'Rules about the job: status, plan, number of tasks',
  tasks: 'Rules checked against every task; one that matches is enough',
};

function ruleSchema(validator: Validator, scope: Scope) {
  const names = [validator.name, ...(validator.aliases ?? [])] as [string, ...string[]];
  return z
    .strictObject({
      label: commonFields.label,
      validator: z.enum(names).describe(validator.description),
      ...validator.params.shape,
      ...validator.paramsIn?.(scope),
      required: commonFields.required,
      negate: commonFields.negate,
    })
    .meta({ ...validator.params.meta(), title: validator.name, description: validator.description });
}

function rulesSchema(scope: Scope) {
  const fitting = [...builtInValidators.values()].filter(({ scopes }) => scopes.includes(scope));
  const variants = fitting.map((validator) => ruleSchema(validator, scope));
  type Variant = (typeof variants)[number];
  const rule = z.discriminatedUnion('validator', variants as [Variant, ...Variant[]]);
  return z.array(rule).describe(SCOPE_TEXT[scope]).optional();
}

/** A whole scenario.json (SV, Structure; DESIGN 3.1). */
function scenarioFileSchema() {
  const rules = Object.fromEntries(SCOPES.map((scope) => [scope, rulesSchema(scope)]));
  return z
    .looseObject({
      key: keyField.optional(),
      title: z.unknown().describe('Title for people').optional(),
      description: z.unknown().describe('What the scenario is about').optional(),
      validation: z.strictObject(rules).describe('The rules that determine whether a run passed'),
    })
    .meta({ title: 'Sluice scenario' });
}

/**
 * JSON Schema (draft 2020-12) of scenario.json, from the same zod schemas that the loader uses. It
 * cannot say everything that the loader refuses: patterns that do not compile, min above max,
 * paths that climb out, keys given twice.
 */
export function scenarioJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(scenarioFileSchema(), {
    target: 'draft-2020-12',
    io: 'input',
    override({ jsonSchema }) {
      if (jsonSchema.additionalProperties === false) jsonSchema.patternProperties = { '^x-': {} };
    },
  }) as Record<string, unknown>;
}
