import type { Attachment, Registry, RegistryChange } from '../../../../src/core/registry/model.js';
import { planRegistration } from '../../../../src/core/registry/register.js';

const EMPTY: Registry = { revision: 0, entries: new Map(), attachments: [] };

/** The registry after a change, as a store would keep it. */
export function applied(registry: Registry, change: RegistryChange): Registry {
  const entries = new Map(registry.entries);
  for (const name of change.remove) entries.delete(name);
  for (const entry of change.put) entries.set(entry.document.name, entry);
  const left = registry.attachments.filter(({ id }) => !change.detach.includes(id));
  return { revision: registry.revision + 1, entries, attachments: [...left, ...change.attach] };
}

/** A registry with these documents; throws with the problems when they are refused. */
export function registryOf(documents: unknown[], attachments: readonly Attachment[] = []): Registry {
  const given = documents.map((value) => ({ kind: 'validation' as const, value }));
  const planned = planRegistration(EMPTY, given, 0, 'tester');
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
  return { ...applied(EMPTY, planned.change), attachments };
}

export const without = (registry: Registry, name: string): Registry => ({
  ...registry,
  entries: new Map([...registry.entries].filter(([key]) => key !== name)),
});

/** A validation that passes. */
export function validation(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    kind: 'validation',
    name,
    description: name,
    mode: 'required',
    code: '() => ({ passed: true })',
    ...more,
  };
}

/** A read-only tool. */
export function tool(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { kind: 'tool', name, description: name, code: '() => 1', ...more };
}

export function skill(name: string, tools: string[]): Record<string, unknown> {
  return { kind: 'skill', name, description: name, tools };
}

/** A direct attachment of `local/lint` to `repo/api`, but for what is given. */
export function attachment(id: string, more: Partial<Attachment> = {}): Attachment {
  return {
    id,
    validation: 'local/lint',
    resource: 'repo/api',
    arguments: {},
    scope: 'direct',
    target: null,
    slot: null,
    attachedAt: 0,
    actor: 'tester',
    ...more,
  };
}

export const inProject = (target: string): Partial<Attachment> => ({ scope: 'project', target });
export const inPlan = (target: string): Partial<Attachment> => ({ scope: 'plan', target });

export const ids = (attachments: readonly Attachment[]): string[] => attachments.map(({ id }) => id);
