import { PlanService } from '../app/plan/service.js';
import type { PlanAnswer, PlanRequest, PlanStatus } from '../app/plan/requests.js';
import type { RegistryService } from '../app/registry/service.js';
import type { ToolAnswer, ToolCaller, ToolInput } from '../app/tools.js';
import type { AttachRequest } from '../core/attachments/attach.js';
import type { Explanation } from '../core/attachments/resolve.js';
import type { Applicable, PlanState } from '../core/plan/model.js';
import type { SkillInput, ToolInputDocument, ValidationInputDocument } from '../core/registry/document.js';
import type { Attachment, JsonObject, Kind } from '../core/registry/model.js';
import type { Registered } from '../core/registry/register.js';
import type { PlanFilter } from '../ports/plans.js';

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

export interface AttachOptions extends Actor {
  resource: string;
  validation: string;
  arguments?: JsonObject;
  /** Active only when the resource is reached through this project; not together with `plan`. */
  project?: string;
  /** Active only for this plan. */
  plan?: string;
  slot?: string;
}

export interface ResolveOptions {
  resources: readonly string[];
  project?: string;
  plan?: string;
}

/** Registry and plans of a fleet. Every refusal is a SluiceError with a stable code and every problem. */
export interface PlanFleet {
  registerTool(document: ToolInputDocument, options?: Actor): Promise<Registered>;
  registerValidation(document: ValidationInputDocument, options?: Actor): Promise<Registered>;
  registerSkill(document: SkillInput, options?: Actor): Promise<Registered>;
  /** Removes a tool, validation or skill; a validation's attachments go with it. */
  remove(kind: Kind, name: string, options?: Actor): Promise<{ attachments: string[] }>;
  attach(options: AttachOptions): Promise<Attachment>;
  detach(attachment: string): Promise<void>;
  /** The checks that apply, and the resources that have none (DESIGN 4.6). */
  resolve(options: ResolveOptions): Promise<Applicable>;
  /** Every attachment of a resource, with why it applies, does not, or what shadows it. */
  explain(resource: string, where?: { project?: string; plan?: string }): Promise<Explanation[]>;
  /** Calls a tool or validation in this process, outside of any plan. */
  call(tool: string, input?: Partial<ToolInput>, signal?: AbortSignal): Promise<ToolAnswer>;
  createPlan(
    plan: { plan?: string; project?: string; resources: string[] } & PlanOptions,
  ): Promise<PlanAnswer>;
  /** Submits finished work of a plan that nobody tracked before: its checks begin. */
  submitPlan(
    plan: { plan?: string; project?: string; snapshots: Record<string, unknown> } & PlanOptions,
  ): Promise<PlanAnswer>;
  strategized(plan: string, options?: PlanOptions): Promise<PlanAnswer>;
  executed(plan: string, snapshots: Record<string, unknown>, options?: PlanOptions): Promise<PlanAnswer>;
  fix(plan: string, snapshots: Record<string, unknown>, options?: PlanOptions): Promise<PlanAnswer>;
  respond(
    plan: string,
    answer: 'retry' | 'abort',
    options?: { guidance?: string } & PlanOptions,
  ): Promise<PlanAnswer>;
  /** Applies exactly what the gate opened on: `snapshots` are what is about to be applied. */
  apply(
    plan: string,
    what: { snapshots?: Record<string, unknown>; digests?: Record<string, string> },
    options?: PlanOptions,
  ): Promise<PlanAnswer>;
  cancelPlan(plan: string, options?: { reason?: string } & PlanOptions): Promise<PlanAnswer>;
  /** A plan with its timeline, evaluations, and the first and last result of each check. */
  plan(id: string): Promise<PlanStatus>;
  plans(filter?: Partial<PlanFilter>): Promise<PlanState[]>;
}

/** Without the keys that are undefined. */
function given<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}

type WithoutActor<T> = T extends unknown ? Omit<T, 'actor'> : never;

export function planFleet(
  registry: RegistryService,
  plans: PlanService,
  tools: ToolCaller,
): PlanFleet {
  const register = async (kind: Kind, value: unknown, { actor = DEFAULT_ACTOR }: Actor = {}) => {
    const [done] = await registry.register([{ kind, value }], actor);
    return done as Registered;
  };
  const run = (request: WithoutActor<PlanRequest> & Actor) =>
    plans.run({ ...given(request), actor: request.actor ?? DEFAULT_ACTOR } as PlanRequest);
  return {
    registerTool: (document, options) => register('tool', document, options),
    registerValidation: (document, options) => register('validation', document, options),
    registerSkill: (document, options) => register('skill', document, options),
    remove: (kind, name) => registry.remove(kind, name),
    attach: ({ actor = DEFAULT_ACTOR, arguments: args = {}, ...request }) =>
      registry.attach({ ...given(request), arguments: args } as AttachRequest, actor),
    detach: (id) => registry.detach(id),
    async resolve({ resources, project, plan }) {
      const where = { resources, project: project ?? null, plan: plan ?? null };
      const { checks, unvalidated } = await registry.applicable(where, null);
      return { checks, unvalidated };
    },
    explain: (resource, { project, plan } = {}) => registry.explain(resource, project ?? null, plan ?? null),
    async call(name, { args = {}, subject = null, resource = null, slot = null } = {}, signal) {
      const input = { args, subject, resource, slot };
      return tools.call(await registry.tool(name), input, signal ?? new AbortController().signal);
    },
    createPlan: (plan) => run({ type: 'create', ...plan }),
    submitPlan: (plan) => run({ type: 'submit', ...plan }),
    strategized: (plan, options) => run({ type: 'strategized', plan, ...options }),
    executed: (plan, snapshots, options) => run({ type: 'executed', plan, snapshots, ...options }),
    fix: (plan, snapshots, options) => run({ type: 'fix', plan, snapshots, ...options }),
    respond: (plan, answer, options) => run({ type: 'respond', plan, answer, ...options }),
    apply: (plan, what, options) => run({ type: 'apply', plan, ...given(what), ...options }),
    cancelPlan: (plan, options) => run({ type: 'cancel', plan, ...options }),
    plan: (id) => plans.status(id),
    plans: (filter = {}) => plans.list({ limit: 100, ...filter }),
  };
}
