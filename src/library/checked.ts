import { z } from 'zod';
import { EVENT_NAMES } from '../core/events.js';
import { PHASES } from '../core/plan/model.js';
import { formatProblem, nearestName, type Problem, SluiceError } from '../core/problem.js';
import { KINDS } from '../core/registry/model.js';
import { issueProblem } from '../core/scenario/issues.js';

const text = z.string().min(1);
const optional = text.optional();
const aFunction = z.custom((value) => typeof value === 'function', 'must be a function');
const signal = z.custom((value) => value instanceof AbortSignal, 'must be an AbortSignal').optional();
const byName = z.record(z.string(), z.unknown());
const many = z.custom(
  (value) => typeof value === 'object' && value !== null && Symbol.iterator in value,
  'must be a list, or anything else that can be iterated over',
);

const actor = { actor: optional };
const ofPlan = { ...actor, command: optional, revision: z.int().min(0).optional() };
const scope = { project: optional, plan: optional };
const attachment = { resource: text, arguments: byName.optional(), ...scope, slot: optional, ...actor };
const by = (more: z.ZodRawShape = {}) => z.strictObject({ ...ofPlan, ...more }).optional();
const work = { plan: text, snapshots: byName, options: by() };
const registration = (kind: string) => ({
  document: z.looseObject({ kind: z.literal(kind).optional() }),
  options: z.strictObject(actor).optional(),
});
const eventName = z.enum(EVENT_NAMES);

const applied = z
  .strictObject({ snapshots: byName.optional(), digests: z.record(z.string(), z.string()).optional() })
  .refine((what) => what.snapshots !== undefined || what.digests !== undefined, {
    message: 'must have snapshots or digests: what is about to be applied',
  });

/** What each method takes: its arguments by name, or the one object that it is called with. */
const SHAPES = {
  createFleet: z.strictObject({
    redis: optional,
    fleet: optional,
    config: optional,
    onError: aFunction.optional(),
  }),
  judge: z.strictObject({
    runs: many,
    options: z
      .strictObject({
        batch: optional,
        strict: z.boolean().optional(),
        from: z.enum(['gateway', 'message', 'direct']).optional(),
        actor: optional,
        signal,
      })
      .optional(),
  }),
  on: z.strictObject({
    event: z.array(eventName).min(1, 'must name an event'),
    handler: aFunction,
  }),
  registerTool: z.strictObject(registration('tool')),
  registerValidation: z.strictObject(registration('validation')),
  registerSkill: z.strictObject(registration('skill')),
  remove: z.strictObject({ kind: z.enum(KINDS), name: text }),
  attach: z.strictObject({ validation: text, ...attachment }),
  attachSkill: z.strictObject({ skill: text, ...attachment }),
  detach: z.strictObject({ attachment: text }),
  resolve: z.strictObject({ resources: z.array(text), ...scope }),
  explain: z.strictObject({ resource: text, where: z.strictObject(scope).optional() }),
  call: z.strictObject({
    tool: text,
    input: z
      .strictObject({
        args: byName.optional(),
        subject: z.unknown().optional(),
        resource: text.nullish(),
        slot: text.nullish(),
      })
      .optional(),
    signal,
  }),
  createPlan: z.strictObject({ plan: optional, project: optional, resources: z.array(text), ...ofPlan }),
  submitPlan: z.strictObject({ plan: optional, project: optional, snapshots: byName, ...ofPlan }),
  strategized: z.strictObject({ plan: text, options: by() }),
  executed: z.strictObject(work),
  fix: z.strictObject(work),
  respond: z.strictObject({
    plan: text,
    answer: z.enum(['retry', 'abort']),
    options: by({ guidance: z.string().optional() }),
  }),
  apply: z.strictObject({ plan: text, what: applied, options: by() }),
  cancelPlan: z.strictObject({ plan: text, options: by({ reason: z.string().optional() }) }),
  plan: z.strictObject({ id: text }),
  plans: z.strictObject({
    phase: z.enum(PHASES).optional(),
    project: optional,
    limit: z.int().min(1).optional(),
  }),
} satisfies Record<string, z.ZodType>;

type Method = keyof typeof SHAPES;
type Issue = z.core.$ZodIssue;

/** The object that an issue is about, as the schema has it: its known keys. */
function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.ZodType | undefined = schema;
  for (const key of path) at = shapeOf(at)?.[key as string] as z.ZodType | undefined;
  return Object.keys(shapeOf(at) ?? {});
}

function shapeOf(schema: z.ZodType | undefined): z.ZodRawShape | undefined {
  if (schema instanceof z.ZodOptional) return shapeOf(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodObject ? (schema.shape as z.ZodRawShape) : undefined;
}

function problemsOf(schema: z.ZodType, issue: Issue, given: unknown): Problem[] {
  if (issue.code !== 'unrecognized_keys') return [{ code: 'USAGE', ...issueProblem(issue, given, '') }];
  const allowed = knownKeys(schema, issue.path);
  return issue.keys.map((key) => {
    const nearest = nearestName(key, allowed);
    return {
      code: 'USAGE',
      path: [...issue.path.map(String), key].join('.'),
      message: 'is unknown',
      allowed,
      ...(nearest === undefined ? {} : { nearest }),
    };
  });
}

/** Throws USAGE with every problem of what `method` was given (DESIGN 8). */
export function check(method: Method, given: unknown): void {
  const schema: z.ZodType = SHAPES[method];
  const { error } = schema.safeParse(given);
  if (error !== undefined)
    refuse(
      method,
      error.issues.flatMap((issue) => problemsOf(schema, issue, given)),
    );
}

/** Refuses a call of `method`, which has done nothing. */
export function refuse(method: Method, problems: readonly Problem[]): never {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  const first = problems[0] === undefined ? '' : ` ${formatProblem(problems[0])}`;
  throw new SluiceError('USAGE', `${method}(): ${count}; nothing was done.${first}`, problems);
}
