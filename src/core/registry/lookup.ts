import { builtInTools } from './built-in.js';
import {
  type CallableDocument,
  type GraphNode,
  isSkill,
  isValidation,
  type Registry,
  type RegistryDocument,
  type SkillDocument,
} from './model.js';

/** Namespace of names that are given without one. */
const DEFAULT_NAMESPACE = 'local';

/** Most characters of a namespace, and of a name in it. */
const MOST_CHARACTERS = 128;

const PART = /^[a-zA-Z][a-zA-Z0-9_-]*$/;

/** Registered documents by full name. */
export type Entries = ReadonlyMap<string, { document: RegistryDocument }>;

/** `local/name` for `name`; any other text as it is. */
export function fullName(name: string): string {
  return name.includes('/') ? name : `${DEFAULT_NAMESPACE}/${name}`;
}

/** What is wrong with the name of a document, in full or short (DESIGN 4.1); undefined when nothing is. */
export function nameProblem(name: string): string | undefined {
  const parts = fullName(name).split('/');
  if (parts.length !== 2 || !parts.every((part) => PART.test(part)))
    return 'must be namespace/name or name, each part a letter, then letters, digits, "_" and "-"';
  if (parts.some((part) => part.length > MOST_CHARACTERS))
    return `must have at most ${MOST_CHARACTERS} characters on each side of the "/"`;
  return undefined;
}

/** Nodes of a graph; none of any other document. */
export function nodesOf({ graph }: CallableDocument): readonly GraphNode[] {
  return Array.isArray(graph?.nodes) ? graph.nodes : [];
}

/** Full names that a document refers to: what it wraps, what its nodes call, or what it lists. */
export function usedBy(document: RegistryDocument): string[] {
  if (isSkill(document)) return document.tools;
  const wrapped = isValidation(document) && document.wraps !== undefined ? [document.wraps] : [];
  return [...wrapped, ...nodesOf(document).map(({ tool }) => tool)];
}

/** A registered or built-in tool or validation by its full name. */
export function callableIn(entries: Entries, name: string): CallableDocument | undefined {
  const document = builtInTools.get(name) ?? entries.get(name)?.document;
  return document === undefined || isSkill(document) ? undefined : document;
}

/** A tool or validation, registered or built in, by its name in full or short. */
export function findCallable(registry: Registry, name: string): CallableDocument | undefined {
  return callableIn(registry.entries, fullName(name));
}

/** A skill by its name in full or short. */
export function findSkill(registry: Registry, name: string): SkillDocument | undefined {
  const document = registry.entries.get(fullName(name))?.document;
  return document !== undefined && isSkill(document) ? document : undefined;
}

/** Full names of everything that can be called, built-in tools included, sorted. */
export function callableNames({ entries }: { entries: Entries }): string[] {
  const registered = [...entries.values()].filter(({ document }) => !isSkill(document));
  return [...registered.map(({ document }) => document.name), ...builtInTools.keys()].sort();
}

/** Full names of the registered validations, sorted. */
export function validationNames(registry: Registry): string[] {
  const all = [...registry.entries.values()].filter(({ document }) => isValidation(document));
  return all.map(({ document }) => document.name).sort();
}
