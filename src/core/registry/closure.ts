import { sha256 } from '../digest.js';
import { canonicalJson, isPlainObject } from '../json.js';
import { BUILT_IN_NAMESPACE, builtInTools } from './built-in.js';
import { callableIn, type Entries, fullName, nodesOf } from './lookup.js';
import { type Mapping, mappedArguments, mappedSchema, UnfollowedSchema } from './mapping.js';
import {
  type CallableDocument,
  isValidation,
  type JsonObject,
  type Registry,
  type ResolvedTool,
  type ResourceSlot,
} from './model.js';
import { runnerKindOf } from './needs.js';
import { defaultTimeout } from './timeout.js';

/** Most validations that may be wrapped around each other over a tool (DESIGN 4.3). */
export const MOST_WRAPPINGS = 10;
/** Most graphs that may be nested in each other, the outermost included (DESIGN 4.11). */
export const MOST_GRAPHS = 5;

/** A document and what it wraps, down to the one that runs; `trouble` when that cannot be followed. */
type Chain =
  | { ok: true; chain: CallableDocument[] }
  | { ok: false; trouble: 'unknown' | 'cycle' | 'depth'; names: string[] };

function wrappedBy(document: CallableDocument): string | undefined {
  return isValidation(document) ? document.wraps : undefined;
}

/** Follows `wraps` from a full name on. */
export function chainOf(entries: Entries, name: string): Chain {
  const chain: CallableDocument[] = [];
  const names: string[] = [];
  for (let next: string | undefined = name; next !== undefined; ) {
    const isKnown = names.includes(next);
    names.push(next);
    if (isKnown) return { ok: false, trouble: 'cycle', names };
    const document = callableIn(entries, next);
    if (document === undefined) return { ok: false, trouble: 'unknown', names };
    chain.push(document);
    if (chain.length > MOST_WRAPPINGS + 1) return { ok: false, trouble: 'depth', names };
    next = wrappedBy(document);
  }
  return { ok: true, chain };
}

/**
 * A tool or validation with all that it wraps and that the nodes of its graph call, by its name in full
 * or short. Throws for an unknown one.
 */
export function resolveTool(registry: Pick<Registry, 'entries'>, name: string): ResolvedTool {
  return resolved(registry.entries, fullName(name), 0);
}

function resolved(entries: Entries, name: string, graphs: number): ResolvedTool {
  const followed = chainOf(entries, name);
  if (!followed.ok)
    throw new Error(`${name} cannot be resolved (${followed.trouble}): ${followed.names.join(' > ')}`);
  const { chain } = followed;
  const nodes = nodesOf(innermostOf({ chain }));
  if (nodes.length === 0) return { chain };
  if (graphs === MOST_GRAPHS) throw new Error(`${name} cannot be resolved (depth)`);
  const names = [...new Set(nodes.map(({ tool }) => tool))].sort();
  return {
    chain,
    nodes: Object.fromEntries(names.map((each) => [each, resolved(entries, each, graphs + 1)])),
  };
}

/** A resolved tool as it is stored: canonical JSON, whose SHA-256 is its version. */
export function sealTool(resolved: ResolvedTool): { digest: string; json: string } {
  const json = canonicalJson(resolved);
  return { digest: sha256(json), json };
}

/** Reads what `sealTool` wrote. Throws when it is anything else. */
export function parseTool(json: string): ResolvedTool {
  const tool = resolvedIn(JSON.parse(json), 0);
  if (tool === undefined) throw new Error('not a resolved tool');
  return tool;
}

function resolvedIn(value: unknown, graphs: number): ResolvedTool | undefined {
  if (!isPlainObject(value) || graphs > MOST_GRAPHS) return undefined;
  const { chain: documents, nodes = {} } = value;
  if (!Array.isArray(documents) || documents.length === 0 || !documents.every(isCallable)) return undefined;
  const chain: CallableDocument[] = documents;
  const called = nodesOf(innermostOf({ chain })).map(({ tool }) => tool);
  if (called.length === 0) return { chain };
  if (!isPlainObject(nodes) || !called.every((name) => Object.hasOwn(nodes, name))) return undefined;
  const tools: [string, ResolvedTool][] = [];
  for (const [name, each] of Object.entries(nodes)) {
    const tool = resolvedIn(each, graphs + 1);
    if (tool === undefined) return undefined;
    tools.push([name, tool]);
  }
  return { chain, nodes: Object.fromEntries(tools) };
}

function isCallable(value: unknown): boolean {
  return isPlainObject(value) && (value.kind === 'tool' || value.kind === 'validation');
}

function innermostOf({ chain }: ResolvedTool): CallableDocument {
  const last = chain.at(-1);
  if (last === undefined) throw new Error('a resolved tool has at least itself in its chain');
  return last;
}

function mappingOf(document: CallableDocument): Mapping {
  return (isValidation(document) ? document.argument_mapping : undefined) ?? {};
}

/** Of a document without an input_schema: it takes no arguments. */
const NO_ARGUMENTS: JsonObject = { type: 'object', additionalProperties: false };

/** The schema of what runs, which wrapping inherits. */
function ownSchema(document: CallableDocument): JsonObject {
  const builtIn = builtInTools.get(`${BUILT_IN_NAMESPACE}/${document.validator}`);
  return document.input_schema ?? builtIn?.input_schema ?? NO_ARGUMENTS;
}

const schemas = new WeakMap<CallableDocument, { inner: JsonObject; schema: JsonObject }>();

/** The same object for the same documents, so that it is compiled once. */
function mapped(document: CallableDocument, inner: JsonObject): JsonObject {
  const known = schemas.get(document);
  if (known?.inner === inner) return known.schema;
  const schema = mappedSchema(inner, mappingOf(document));
  schemas.set(document, { inner, schema });
  return schema;
}

/**
 * JSON Schema of the arguments that a call gives: the innermost document's, as it reads through
 * every `argument_mapping` on the way out.
 */
export function inputSchemaOf(resolved: ResolvedTool): JsonObject {
  const wrapping = resolved.chain.slice(0, -1);
  return wrapping.reduceRight((inner, document) => mapped(document, inner), ownSchema(innermostOf(resolved)));
}

/** The same, or undefined where a mapping on the way cannot be followed; no such tool is ever registered. */
export function inputSchemaIfAny(resolved: ResolvedTool): JsonObject | undefined {
  try {
    return inputSchemaOf(resolved);
  } catch (error) {
    if (error instanceof UnfollowedSchema) return undefined;
    throw error;
  }
}

/** Places for resources, inherited where it wraps (ADR, Tool Wrapping); none: any resource fits. */
export function slotsOf(resolved: ResolvedTool): ResourceSlot[] {
  return innermostOf(resolved).resource_slots ?? [];
}

/** Milliseconds that a whole call may take: the shortest of the chain's. */
export function timeoutOf(resolved: ResolvedTool): number {
  const innermost = innermostOf(resolved);
  const own = innermost.timeout_ms ?? defaultTimeout(innermost.source);
  return Math.min(own, ...resolved.chain.flatMap(({ timeout_ms }) => timeout_ms ?? []));
}

/** Whether a call needs a process or a connection (`runner`), or is judged in the worker (`pure`). */
export function runnerOf(resolved: ResolvedTool): 'pure' | 'runner' {
  const innermost = innermostOf(resolved);
  return innermost.source === 'graph' || runnerKindOf(innermost) !== undefined ? 'runner' : 'pure';
}

/** The arguments of `chain[depth]` for a call of `chain[0]` with `args`. */
export function argumentsOf(resolved: ResolvedTool, depth: number, args: JsonObject): JsonObject {
  const wrapping = resolved.chain.slice(0, depth);
  return wrapping.reduce((given, document) => mappedArguments(mappingOf(document), given), args);
}
