import { digestOf } from '../digest.js';
import type { Problem } from '../problem.js';
import { builtInTools } from './built-in.js';
import type { CodedProblem } from './codes.js';
import { refuseConsequences } from './consequences.js';
import { type Draft, type GivenDocument, readDocument, refuse } from './documents.js';
import { nearestOf } from './fields.js';
import { fullName, usedBy } from './lookup.js';
import {
  isSkill,
  type Kind,
  type Registry,
  type RegistryChange,
  type RegistryDocument,
  type RegistryEntry,
} from './model.js';
import { problemsOf } from './told.js';

export type { GivenDocument } from './documents.js';

/** Most versions that an entry remembers having replaced. */
const MOST_PREVIOUS = 100;

/** What became of a document. */
export interface Registered {
  kind: Kind;
  name: string;
  /** SHA-256 of the document's canonical JSON. */
  version: string;
  status: 'added' | 'replaced' | 'unchanged';
}

type Registration =
  /** `report`: one for each given document, in that order. */
  { ok: true; change: RegistryChange; report: Registered[] } | { ok: false; problems: Problem[] };

/**
 * Registers documents together: all of them, or none with every problem of every document (DESIGN 4.1
 * to 4.3). They may name each other in any order. A document that stands as it is changes nothing; one
 * that would break a validation around it, a graph that calls it or an attachment is refused. `flaws`: what else is held
 * against each document, by its position.
 */
export function planRegistration(
  registry: Registry,
  given: readonly GivenDocument[],
  now: number,
  actor: string,
  flaws: readonly CodedProblem[][] = [],
): Registration {
  const drafts = given.map(readDocument);
  refuseDoubles(drafts);
  for (const draft of drafts) refuseTaken(registry, draft);
  refuseConsequences(registry, drafts);
  for (const [position, draft] of drafts.entries())
    for (const flaw of flaws[position] ?? []) refuse(draft, flaw);
  const problems = problemsOf(drafts, given);
  if (problems.length > 0) return { ok: false, problems };
  const report: Registered[] = [];
  const put: RegistryEntry[] = [];
  for (const document of drafts.flatMap((draft) => draft.document ?? [])) {
    const { kind, name } = document;
    const version = digestOf(document);
    const standing = registry.entries.get(name);
    const status = standing === undefined ? 'added' : standing.version === version ? 'unchanged' : 'replaced';
    report.push({ kind, name, version, status });
    if (status !== 'unchanged') put.push(entryOf(document, version, standing, now, actor));
  }
  put.sort((a, b) => (a.document.name < b.document.name ? -1 : 1));
  return { ok: true, change: { put, remove: [], attach: [], detach: [] }, report };
}

function entryOf(
  document: RegistryDocument,
  version: string,
  standing: RegistryEntry | undefined,
  now: number,
  actor: string,
): RegistryEntry {
  const replaced = standing === undefined ? [] : [standing.version, ...standing.previous];
  const previous = [...new Set(replaced)].filter((each) => each !== version).slice(0, MOST_PREVIOUS);
  return { document, version, registeredAt: now, actor, previous };
}

function placeOf({ place }: Draft, position: number): string {
  if (place.file === undefined) return `document ${position + 1}`;
  return place.line === undefined ? place.file : `${place.file}:${place.line}`;
}

function refuseDoubles(drafts: readonly Draft[]): void {
  const first = new Map<string, number>();
  for (const [position, draft] of drafts.entries()) {
    if (draft.name === undefined) continue;
    const before = first.get(draft.name);
    if (before === undefined) first.set(draft.name, position);
    else {
      const other = placeOf(drafts[before] as Draft, before);
      const message = `has the same name as ${other === placeOf(draft, position) ? 'an earlier document there' : other}`;
      refuse(draft, { code: 'DUPLICATE_NAME', path: 'name', message, found: draft.name });
    }
  }
}

function refuseTaken(registry: Registry, draft: Draft): void {
  const standing = draft.name === undefined ? undefined : registry.entries.get(draft.name)?.document;
  if (standing === undefined || standing.kind === draft.kind) return;
  const message = `is the name of a ${standing.kind}; remove that first, or take another name`;
  refuse(draft, { code: 'NAME_TAKEN', path: 'name', message, found: standing.name });
}

/** What goes with a document, or why it stays. */
type Removal =
  /** `attachments`: ids of those that go with a validation. */
  | { ok: true; change: RegistryChange; attachments: string[] }
  | { ok: false; code: 'NOT_FOUND' | 'IN_USE'; problems: Problem[] };

/**
 * Removes a document, and a validation's attachments in the same step (DESIGN 4.5). What a validation
 * wraps, a graph calls or a skill lists stays.
 */
export function planRemoval(registry: Registry, kind: Kind, name: string): Removal {
  const full = fullName(name);
  const standing = registry.entries.get(full)?.document;
  if (standing?.kind !== kind)
    return { ok: false, code: 'NOT_FOUND', problems: [missing(registry, kind, full)] };
  const problems = usersOf(registry, full).map((user): Problem => {
    const message = `is ${useOf(user)} the ${user.kind} ${user.name}`;
    return { code: 'IN_USE', path: 'name', message, found: full };
  });
  if (problems.length > 0) return { ok: false, code: 'IN_USE', problems };
  const attachments = registry.attachments.filter((each) => each.validation === full).map(({ id }) => id);
  return { ok: true, change: { put: [], remove: [full], attach: [], detach: attachments }, attachments };
}

function usersOf(registry: Registry, name: string): RegistryDocument[] {
  const all = [...registry.entries.values()].map(({ document }) => document);
  const users = all.filter((document) => usedBy(document).includes(name));
  return users.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function useOf(user: RegistryDocument): string {
  if (isSkill(user)) return 'listed by';
  return user.source === 'graph' ? 'called by' : 'wrapped by';
}

function missing(registry: Registry, kind: Kind, name: string): Problem {
  const problem = { code: 'NOT_FOUND', path: 'name', found: name };
  if (builtInTools.has(name)) return { ...problem, message: 'comes with Sluice and cannot be removed' };
  const standing = registry.entries.get(name)?.document;
  if (standing !== undefined) return { ...problem, message: `is a ${standing.kind}, not a ${kind}` };
  const all = [...registry.entries.values()].filter(({ document }) => document.kind === kind);
  const nearest = nearestOf(
    name,
    all.map(({ document }) => document.name),
  );
  return { ...problem, message: `is the name of no registered ${kind}`, ...nearest };
}
