import type { Json } from '../json.js';

export const SOURCES = ['builtin', 'command', 'code', 'mcp', 'graph', 'wrapped'] as const;
export type Source = (typeof SOURCES)[number];

export const MODES = ['required', 'informational'] as const;
export type Mode = (typeof MODES)[number];

export const KINDS = ['tool', 'validation', 'skill'] as const;
export type Kind = (typeof KINDS)[number];

export type JsonObject = { [key: string]: Json };

/** What a tool may do to the world (ADR, Relationship to Tool). */
export interface Capability {
  read_only: boolean;
  writes: boolean;
  checkpointable: boolean;
  network: boolean;
}

/** A place for a resource among a tool's inputs. */
export interface ResourceSlot {
  name: string;
  /** Type of the resources that fit; `*` fits all. */
  type: string;
  required: boolean;
}

/** Sources of the functions that a tool runs at each point of its life. */
export interface LifecycleHooks {
  discover?: string;
  activate?: string;
  execute?: string;
  deactivate?: string;
}

/** An argument of the wrapped tool: named otherwise outside, or fixed. */
export type MappedArgument = { from: string } | { value: Json };

/** A registered callable as it is stored: checked, with its defaults filled in (ADR). */
export interface ToolDocument {
  kind: 'tool' | 'validation';
  /** `namespace/name`. */
  name: string;
  description: string;
  source: Source;
  /** JSON Schema of the arguments; absent: inherited where it wraps, else it takes no arguments. */
  input_schema?: JsonObject;
  output_schema?: JsonObject;
  capability: Capability;
  /** Absent: inherited where it wraps, else none: any resource fits. */
  resource_slots?: ResourceSlot[];
  lifecycle: LifecycleHooks;
  /** `builtin`: which validator. */
  validator?: string;
  /** `code`: a JavaScript function expression, `({ args, subject, resource }) => value`. */
  code?: string;
  /** `command`: program and arguments. */
  command?: string[];
  mcp_server?: string;
  mcp_tool_name?: string;
  /** What the MCP server says of the tool. */
  annotations?: JsonObject;
  graph?: JsonObject;
  /** Longest run, in milliseconds; absent: inherited where it wraps, else the default. */
  timeout_ms?: number;
  idempotent: boolean;
}

/** A tool with a mode and a structured result; always read-only (ADR). */
export interface ValidationDocument extends ToolDocument {
  kind: 'validation';
  mode: Mode;
  /** The tool whose output the transform interprets. */
  wraps?: string;
  /** A JavaScript function expression, `(tool_output, { args }) => ({ passed, message, data })`. */
  transform?: string;
  /** By argument of the wrapped tool. */
  argument_mapping?: Record<string, MappedArgument>;
  /** Most fixes that a failure of this validation may ask for under one strategy; lowers the plan's limit. */
  retry?: { limit: number };
  /** How often a failed check is run again to see whether it fails every time; 0: not at all. */
  confirm: number;
}

/** A named list of tools and validations: being in one makes callable, never a gate (ADR; DESIGN 4.11). */
export interface SkillDocument {
  kind: 'skill';
  name: string;
  description: string;
  tools: string[];
}

export type CallableDocument = ToolDocument | ValidationDocument;
export type RegistryDocument = ToolDocument | ValidationDocument | SkillDocument;

export function isValidation(document: RegistryDocument): document is ValidationDocument {
  return document.kind === 'validation';
}

export function isSkill(document: RegistryDocument): document is SkillDocument {
  return document.kind === 'skill';
}

/** A document as it is registered now. */
export interface RegistryEntry {
  document: RegistryDocument;
  /** SHA-256 of the document's canonical JSON: its version. */
  version: string;
  /** Milliseconds since the epoch. */
  registeredAt: number;
  actor: string;
  /** Versions that it replaced, the newest first. */
  previous: string[];
}

export const ATTACHMENT_SCOPES = ['direct', 'project', 'plan'] as const;
export type AttachmentScope = (typeof ATTACHMENT_SCOPES)[number];

/** A validation on a resource, with arguments, in a scope (ADR, Attachment Scoping). */
export interface Attachment {
  /** ULID: the order of ids is the order of attaching. */
  id: string;
  validation: string;
  /** `type/name`, or a name without a type. */
  resource: string;
  arguments: JsonObject;
  scope: AttachmentScope;
  /** Project or plan; null for `direct`. */
  target: string | null;
  /** Slot that the resource is bound to; null for validations without slots. */
  slot: string | null;
  attachedAt: number;
  actor: string;
}

/** Everything that is registered and attached, at one revision. */
export interface Registry {
  /** Raised by one with every change; 0 for an empty one. */
  revision: number;
  entries: ReadonlyMap<string, RegistryEntry>;
  attachments: readonly Attachment[];
}

/** A change that is applied whole or not at all. */
export interface RegistryChange {
  put: RegistryEntry[];
  /** Names of documents that go. */
  remove: string[];
  attach: Attachment[];
  /** Ids of attachments that go. */
  detach: string[];
}

/**
 * A tool with everything that a call of it needs: itself first, then what it wraps, down to the one
 * that runs. Its version is the SHA-256 of this as canonical JSON, so that a running evaluation keeps
 * what it started with.
 */
export interface ResolvedTool {
  chain: CallableDocument[];
}
