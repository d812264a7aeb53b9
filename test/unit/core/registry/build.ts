import type { Problem } from '../../../../src/core/problem.js';
import type { Attachment, Kind, Registry, RegistryChange } from '../../../../src/core/registry/model.js';
import { type GivenDocument, planRegistration } from '../../../../src/core/registry/register.js';

export const EMPTY: Registry = { revision: 0, entries: new Map(), attachments: [] };

export const CODE = '({ args }) => ({ passed: true })';
export const TRANSFORM = '(output) => ({ passed: output.ok })';

/** The registry after a change, as a store makes it. */
export function apply(registry: Registry, change: RegistryChange): Registry {
  const entries = new Map(registry.entries);
  for (const name of change.remove) entries.delete(name);
  for (const entry of change.put) entries.set(entry.document.name, entry);
  const kept = registry.attachments.filter(({ id }) => !change.detach.includes(id));
  return { revision: registry.revision + 1, entries, attachments: [...kept, ...change.attach] };
}

/** Documents as `kind` commands would give them. */
export function given(kind: Kind, ...values: unknown[]): GivenDocument[] {
  return values.map((value) => ({ kind, value }));
}

/** The registry with these documents; throws with the problems where they are refused. */
export function registryOf(documents: readonly GivenDocument[], before: Registry = EMPTY): Registry {
  const planned = planRegistration(before, documents, 1, 'tester');
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems, null, 1));
  return apply(before, planned.change);
}

/** What is held against documents; empty when they are accepted. */
export function problemsOf(documents: readonly GivenDocument[], before: Registry = EMPTY): Problem[] {
  const planned = planRegistration(before, documents, 1, 'tester');
  return planned.ok ? [] : planned.problems;
}

/** `CODE path` of everything that is held against documents. */
export function refusals(documents: readonly GivenDocument[], before: Registry = EMPTY): string[] {
  return problemsOf(documents, before).map(({ code, path }) => `${code} ${path}`.trimEnd());
}

export function attachment(validation: string, more: Partial<Attachment> = {}): Attachment {
  return {
    id: '01HZZZZZZZZZZZZZZZZZZZZZZZ',
    validation,
    resource: 'repo/main',
    arguments: {},
    scope: 'direct',
    target: null,
    slot: null,
    attachedAt: 1,
    actor: 'tester',
    ...more,
  };
}
