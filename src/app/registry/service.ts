import { monotonicFactory } from 'ulid';
import {
  type AttachRequest,
  type AttachSkillRequest,
  planAttachment,
  planDetachment,
  planSkillAttachment,
  type SkillAttached,
} from '../../core/attachments/attach.js';
import {
  applicableChecks,
  type Explanation,
  explainResource,
  type Where,
} from '../../core/attachments/resolve.js';
import type { Applicable } from '../../core/plan/model.js';
import { type ErrorCode, nearestName, type Problem, SluiceError } from '../../core/problem.js';
import { builtInEntries } from '../../core/registry/built-in.js';
import { resolveTool } from '../../core/registry/closure.js';
import { callableNames, findCallable, fullName } from '../../core/registry/lookup.js';
import type {
  Attachment,
  Kind,
  Registry,
  RegistryChange,
  RegistryDocument,
  RegistryEntry,
  ResolvedTool,
} from '../../core/registry/model.js';
import {
  type GivenDocument,
  planRegistration,
  planRemoval,
  type Registered,
} from '../../core/registry/register.js';
import type { Clock } from '../../ports/clock.js';
import type { Interpreter } from '../../ports/interpreter.js';
import type { RegistryStore } from '../../ports/registry.js';
import { sourceFlaws } from './sources.js';

export interface RegistryDeps {
  store: RegistryStore;
  interpreter: Interpreter;
  clock: Clock;
}

type Planned<T> =
  | { ok: true; change: RegistryChange; value: T }
  | { ok: false; code: ErrorCode; consequence: string; problems: Problem[] };

const newId = monotonicFactory();

const isEmpty = (change: RegistryChange): boolean =>
  change.put.length + change.remove.length + change.attach.length + change.detach.length === 0;

/** Registers, attaches and explains; a change is made whole or not at all, whoever else is at it. */
export class RegistryService {
  readonly #deps: RegistryDeps;

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
  }

  /** Registers documents together. Throws INVALID_DOCUMENT with every problem of every document. */
  async register(given: readonly GivenDocument[], actor: string): Promise<Registered[]> {
    const flaws = await sourceFlaws(this.#deps.interpreter, given);
    return this.#change((registry) => {
      const planned = planRegistration(registry, given, this.#deps.clock.now(), actor, flaws);
      if (!planned.ok) {
        const { problems } = planned;
        return { ok: false, code: 'INVALID_DOCUMENT', consequence: 'nothing was registered.', problems };
      }
      return { ok: true, change: planned.change, value: planned.report };
    });
  }

  /** Removes a document, and a validation's attachments with it. Throws NOT_FOUND or IN_USE. */
  async remove(kind: Kind, name: string): Promise<{ attachments: string[] }> {
    return this.#change((registry) => {
      const planned = planRemoval(registry, kind, name);
      if (!planned.ok)
        return {
          ok: false,
          code: planned.code,
          consequence: 'nothing was removed.',
          problems: planned.problems,
        };
      return { ok: true, change: planned.change, value: { attachments: planned.attachments } };
    });
  }

  /** Everything of a kind, by name. */
  async entries(kind: Kind): Promise<RegistryEntry[]> {
    const { entries } = await this.#deps.store.read();
    return [...entries.values()]
      .filter(({ document }) => document.kind === kind)
      .sort((a, b) => (a.document.name < b.document.name ? -1 : 1));
  }

  /** One document with its attachments. Throws NOT_FOUND. A built-in tool counts as registered at 0. */
  async entry(kind: Kind, name: string): Promise<{ entry: RegistryEntry; attachments: Attachment[] }> {
    const registry = await this.#deps.store.read();
    const entry = registry.entries.get(fullName(name)) ?? builtInEntries.get(name);
    if (entry === undefined || !isOfKind(entry.document, kind)) throw notFound(registry, kind, name);
    return {
      entry,
      attachments: registry.attachments.filter((each) => each.validation === entry.document.name),
    };
  }

  /** A document by its version, whether it is registered now or was. */
  version(digest: string): Promise<RegistryDocument | undefined> {
    return this.#deps.store.version(digest);
  }

  /** Attaches a validation; one that is attached just so already is returned. Throws INVALID_ATTACHMENT. */
  async attach(request: AttachRequest, actor: string): Promise<Attachment> {
    return (await this.attachOnce(request, actor)).attachment;
  }

  /** As `attach`, and says whether it was attached just so before (`existing`). */
  async attachOnce(
    request: AttachRequest,
    actor: string,
  ): Promise<{ attachment: Attachment; existing: boolean }> {
    return this.#change((registry) => {
      const now = this.#deps.clock.now();
      const planned = planAttachment(registry, request, newId(now), now, actor);
      if (!planned.ok) return notAttached(planned.problems);
      const { change, attachment, existing } = planned;
      return { ok: true, change, value: { attachment, existing } };
    });
  }

  /** Attaches every validation of a skill in one step. Throws INVALID_ATTACHMENT. */
  async attachSkill(request: AttachSkillRequest, actor: string): Promise<SkillAttached> {
    return this.#change((registry) => {
      const now = this.#deps.clock.now();
      const planned = planSkillAttachment(registry, request, () => newId(now), now, actor);
      if (!planned.ok) return notAttached(planned.problems);
      const { change, attachments, existing, passedOver } = planned;
      return { ok: true, change, value: { attachments, existing, passedOver } };
    });
  }

  /** Throws NOT_FOUND. */
  async detach(id: string): Promise<void> {
    await this.#change((registry) => {
      const planned = planDetachment(registry, id);
      if (!planned.ok)
        return {
          ok: false,
          code: 'NOT_FOUND',
          consequence: 'nothing was detached.',
          problems: planned.problems,
        };
      return { ok: true, change: planned.change, value: undefined };
    });
  }

  /** Removes every attachment to these plans; returns how many. */
  async detachFromPlans(plans: readonly string[]): Promise<number> {
    return this.#change((registry) => {
      const gone = registry.attachments.filter(
        ({ scope, target }) => scope === 'plan' && target !== null && plans.includes(target),
      );
      const change = { put: [], remove: [], attach: [], detach: gone.map(({ id }) => id) };
      return { ok: true, change, value: gone.length };
    });
  }

  /** Attachments, the oldest first. */
  async attachments(filter: { resource?: string; validation?: string } = {}): Promise<Attachment[]> {
    const { attachments } = await this.#deps.store.read();
    const validation = filter.validation === undefined ? undefined : fullName(filter.validation);
    return attachments
      .filter((each) => filter.resource === undefined || each.resource === filter.resource)
      .filter((each) => validation === undefined || each.validation === validation)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Every attachment of a resource, with why it applies or does not. */
  async explain(resource: string, project: string | null, plan: string | null): Promise<Explanation[]> {
    return explainResource(await this.#deps.store.read(), resource, project, plan);
  }

  /** The checks that apply, the resolved tools that they need by version, and the registry's revision. */
  async applicable(
    where: Where,
    snapshots: Record<string, string> | null,
  ): Promise<Applicable & { tools: Map<string, string>; registry: number }> {
    const registry = await this.#deps.store.read();
    return { ...applicableChecks(registry, where, snapshots), registry: registry.revision };
  }

  /** A tool or validation with all that a call of it needs. Throws NOT_FOUND. */
  async tool(name: string): Promise<ResolvedTool> {
    const registry = await this.#deps.store.read();
    const found = findCallable(registry, name);
    if (found === undefined) throw notFound(registry, 'tool', name);
    return resolveTool(registry, found.name);
  }

  async #change<T>(plan: (registry: Registry) => Planned<T>): Promise<T> {
    for (;;) {
      const registry = await this.#deps.store.read();
      const planned = plan(registry);
      if (!planned.ok) {
        const { code, consequence, problems } = planned;
        const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
        throw new SluiceError(code, `${count}; ${consequence}`, problems);
      }
      if (isEmpty(planned.change)) return planned.value;
      if ((await this.#deps.store.change(registry.revision, planned.change)) !== undefined)
        return planned.value;
    }
  }
}

/** A validation is a tool as well (ADR: IS-A). */
function isOfKind(document: RegistryDocument, kind: Kind): boolean {
  return document.kind === kind || (kind === 'tool' && document.kind === 'validation');
}

function notFound(registry: Registry, kind: Kind, name: string): SluiceError {
  const skills = [...registry.entries.values()].flatMap(({ document }) =>
    document.kind === 'skill' ? [document.name] : [],
  );
  const allowed =
    kind === 'skill'
      ? skills
      : callableNames(registry).filter(
          (each) => kind === 'tool' || registry.entries.get(each)?.document.kind === 'validation',
        );
  const nearest = nearestName(fullName(name), allowed);
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return new SluiceError('NOT_FOUND', `There is no ${kind} ${fullName(name)}.${meant}`);
}

const notAttached = (problems: Problem[]): Planned<never> => ({
  ok: false,
  code: 'INVALID_ATTACHMENT',
  consequence: 'nothing was attached.',
  problems,
});
