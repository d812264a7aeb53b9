import type { PlanAnswer, PlanRequest, PlanStatus } from '../app/plan/requests.js';
import type { PlanService } from '../app/plan/service.js';
import type { RegistryService } from '../app/registry/service.js';
import type { ToolAnswer, ToolCaller, ToolInput } from '../app/tools.js';
import type { AttachRequest, AttachSkillRequest } from '../core/attachments/attach.js';
import type { Explanation } from '../core/attachments/resolve.js';
import type { Applicable, PlanState } from '../core/plan/model.js';
import { inputSchemaOf } from '../core/registry/closure.js';
import { schemaProblems } from '../core/registry/json-schema.js';
import type { Attachment, JsonObject, Kind } from '../core/registry/model.js';
import type { Registered } from '../core/registry/register.js';
import type { ReadOnly } from '../core/result.js';
import type { PlanFilter } from '../ports/plans.js';
import { check, refuse } from './checked.js';
import type { SkillDefinition, ToolDefinition, ValidationDefinition } from './definitions.js';

/** Who acts, where the call does not say. */
const DEFAULT_ACTOR = 'library';

export interface Actor {
  /** Who acts; kept in the history. Default: `library`. */
  actor?: string;
}

/** What a command on a plan may say besides its content. */
export interface PlanOptions extends Actor {
  /** The same id again is the same command: one transition. Default: a new id. */
  command?: string;
  /** Refused when another revision stands. */
  revision?: number;
}

/** Active always, only where the resource is reached through this project, or only for this plan. */
type Scope = { project?: string; plan?: never } | { project?: never; plan?: string };

type Attached = Actor &
  Scope & {
    resource: string;
    arguments?: JsonObject;
    /** Slot of the validation that the resource is bound to; needed where two fit. */
    slot?: string;
  };

export type AttachOptions = Attached & { validation: string };
export type AttachSkillOptions = Attached & { skill: string };

export interface ResolveOptions {
  resources: readonly string[];
  project?: string;
  plan?: string;
}

/** A snapshot of each resource, any JSON, by the resource's name. */
export type Snapshots = Record<string, unknown>;

/** What is about to be applied: the snapshots themselves, or their SHA-256. */
export type Applied =
  | { snapshots: Snapshots; digests?: Record<string, string> }
  | { snapshots?: Snapshots; digests: Record<string, string> };

/**
 * Registry and plans of a fleet. Every refusal is a SluiceError with a stable code and every problem;
 * USAGE: the call itself was wrong, and nothing was done.
 */
export interface PlanFleet {
  registerTool(document: ToolDefinition, options?: Actor): Promise<Registered>;
  registerValidation(document: ValidationDefinition, options?: Actor): Promise<Registered>;
  registerSkill(document: SkillDefinition, options?: Actor): Promise<Registered>;
  /** Removes a tool, validation or skill; a validation's attachments go with it, and their ids are answered. */
  remove(kind: Kind, name: string): Promise<{ attachments: string[] }>;
  /** Attaches a validation; one that is attached just so already is answered as it stands. */
  attach(options: AttachOptions): Promise<Attachment>;
  /** Attaches every validation of a skill, each with the arguments that it knows; its tools are passed over. */
  attachSkill(options: AttachSkillOptions): Promise<{ attachments: Attachment[]; passedOver: string[] }>;
  detach(attachment: string): Promise<void>;
  /** The checks that apply, and the resources that have none (DESIGN 4.6). */
  resolve(options: ResolveOptions): Promise<Applicable>;
  /** Every attachment of a resource, with why it applies, does not, or what shadows it. */
  explain(resource: string, where?: { project?: string; plan?: string }): Promise<Explanation[]>;
  /** Calls a tool or validation in this process, outside of any plan. */
  call(
    tool: string,
    input?: Partial<ToolInput>,
    signal?: AbortSignal,
  ): Promise<ToolAnswer & { readOnly: ReadOnly }>;
  /** Creates a plan before its strategy is made. */
  createPlan(
    plan: { plan?: string; project?: string; resources: string[] } & PlanOptions,
  ): Promise<PlanAnswer>;
  /** Submits finished work of a plan that nobody tracked before: its checks begin. */
  submitPlan(
    plan: { plan?: string; project?: string; snapshots: Snapshots } & PlanOptions,
  ): Promise<PlanAnswer>;
  /** The strategy is made, or revised. */
  strategized(plan: string, options?: PlanOptions): Promise<PlanAnswer>;
  /** The strategy is executed: its checks begin. */
  executed(plan: string, snapshots: Snapshots, options?: PlanOptions): Promise<PlanAnswer>;
  /** The work is mended: what failed is judged first. */
  fix(plan: string, snapshots: Snapshots, options?: PlanOptions): Promise<PlanAnswer>;
  /** A person's answer to an escalation. */
  respond(
    plan: string,
    answer: 'retry' | 'abort',
    options?: { guidance?: string } & PlanOptions,
  ): Promise<PlanAnswer>;
  /** Applies exactly what the gate opened on. */
  apply(plan: string, what: Applied, options?: PlanOptions): Promise<PlanAnswer>;
  cancelPlan(plan: string, options?: { reason?: string } & PlanOptions): Promise<PlanAnswer>;
  /** A plan with its timeline, evaluations, and the first and last result of each check. */
  plan(id: string): Promise<PlanStatus>;
  /** Plans, the newest first; 100 of them unless `limit` says otherwise. */
  plans(filter?: Partial<PlanFilter>): Promise<PlanState[]>;
}

/** Without the keys that are undefined. */
function given<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}

type WithoutActor<T> = T extends unknown ? Omit<T, 'actor'> : never;

type Commands = Pick<
  PlanFleet,
  'createPlan' | 'submitPlan' | 'strategized' | 'executed' | 'fix' | 'respond' | 'apply' | 'cancelPlan'
>;

function commandsOf(plans: PlanService): Commands {
  const run = (request: WithoutActor<PlanRequest> & Actor) =>
    plans.run({ ...given(request), actor: request.actor ?? DEFAULT_ACTOR } as PlanRequest);
  return {
    async createPlan(plan) {
      check('createPlan', plan);
      return run({ ...plan, type: 'create' });
    },
    async submitPlan(plan) {
      check('submitPlan', plan);
      return run({ ...plan, type: 'submit' });
    },
    async strategized(plan, options) {
      check('strategized', { plan, options });
      return run({ type: 'strategized', plan, ...options });
    },
    async executed(plan, snapshots, options) {
      check('executed', { plan, snapshots, options });
      return run({ type: 'executed', plan, snapshots, ...options });
    },
    async fix(plan, snapshots, options) {
      check('fix', { plan, snapshots, options });
      return run({ type: 'fix', plan, snapshots, ...options });
    },
    async respond(plan, answer, options) {
      check('respond', { plan, answer, options });
      return run({ type: 'respond', plan, answer, ...options });
    },
    async apply(plan, what, options) {
      check('apply', { plan, what, options });
      return run({ type: 'apply', plan, ...given(what), ...options });
    },
    async cancelPlan(plan, options) {
      check('cancelPlan', { plan, options });
      return run({ type: 'cancel', plan, ...options });
    },
  };
}

const METHODS = { tool: 'registerTool', validation: 'registerValidation', skill: 'registerSkill' } as const;

type Registrations = Omit<PlanFleet, keyof Commands | 'call' | 'plan' | 'plans'>;

function registrationsOf(registry: RegistryService): Registrations {
  const register = async (kind: Kind, document: unknown, options?: Actor) => {
    check(METHODS[kind], { document, options });
    const [done] = await registry.register([{ kind, value: document }], options?.actor ?? DEFAULT_ACTOR);
    return done as Registered;
  };
  return {
    registerTool: (document, options) => register('tool', document, options),
    registerValidation: (document, options) => register('validation', document, options),
    registerSkill: (document, options) => register('skill', document, options),
    async remove(kind, name) {
      check('remove', { kind, name });
      return registry.remove(kind, name);
    },
    async attach(options) {
      check('attach', options);
      const { actor = DEFAULT_ACTOR, arguments: args = {}, ...request } = options;
      return registry.attach({ ...given(request), arguments: args } as AttachRequest, actor);
    },
    async attachSkill(options) {
      check('attachSkill', options);
      const { actor = DEFAULT_ACTOR, arguments: args = {}, ...request } = options;
      const asked = { ...given(request), arguments: args } as AttachSkillRequest;
      const { attachments, passedOver } = await registry.attachSkill(asked, actor);
      return { attachments, passedOver };
    },
    async detach(attachment) {
      check('detach', { attachment });
      await registry.detach(attachment);
    },
    async resolve(options) {
      check('resolve', options);
      const { resources, project = null, plan = null } = options;
      const { checks, unvalidated } = await registry.applicable({ resources, project, plan }, null);
      return { checks, unvalidated };
    },
    async explain(resource, where) {
      check('explain', { resource, where });
      return registry.explain(resource, where?.project ?? null, where?.plan ?? null);
    },
  };
}

/** What calls tools; opened when it is first needed. */
export type ToolCalls = Pick<ToolCaller, 'call'>;

export function planFleet(registry: RegistryService, plans: PlanService, tools: ToolCalls): PlanFleet {
  return {
    ...registrationsOf(registry),
    ...commandsOf(plans),
    async call(name, input, signal) {
      check('call', { tool: name, input, signal });
      const { args = {}, subject = null, resource = null, slot = null } = input ?? {};
      const tool = await registry.tool(name);
      const problems = schemaProblems(inputSchemaOf(tool), args, 'args');
      if (problems.length > 0) refuse('call', problems);
      const told = signal ?? new AbortController().signal;
      const { outcome, readOnly } = await tools.call(tool, { args, subject, resource, slot }, told);
      return { ...outcome, readOnly };
    },
    async plan(id) {
      check('plan', { id });
      return plans.status(id);
    },
    async plans(filter = {}) {
      check('plans', filter);
      return plans.list({ limit: 100, ...given(filter) });
    },
  };
}
