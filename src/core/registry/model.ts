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

/** Sources of the pure functions that a tool runs at each point of its life (ADR; ADR 0015). */
export interface LifecycleHooks {
  /** `({ tool, host }) => true | false | reason`: whether it can run on this worker. */
  discover?: string;
  /** `({ tool, host }) => state`: once per worker and version, before the first run. */
  activate?: string;
  /** `({ args, subject, resource, slot, state }) => the same, changed`: before every run. */
  execute?: string;
  /** `({ tool, state }) => anything`: once for each `activate`, when the worker ends or needs the room. */
  deactivate?: string;
}

/** An argument of the wrapped tool: named otherwise outside, or fixed. */
export type MappedArgument = { from: string } | { value: Json };

/** What an exit code of a command means. */
export const EXIT_MEANINGS = ['pass', 'fail', 'error'] as const;
export type ExitMeaning = (typeof EXIT_MEANINGS)[number];

/**
 * What of a command is its result. `auto`: the structured return where standard output is one, else
 * the exit code; `json`: standard output, which must be JSON; `exit_code`: never the output.
 */
export const COMMAND_OUTPUTS = ['auto', 'json', 'exit_code'] as const;
export type CommandOutput = (typeof COMMAND_OUTPUTS)[number];

/** A value that a node of a graph is given: fixed, or at a JSON pointer into what is known so far. */
export type GraphValue = { from: string } | { value: Json };

/** A tool in a graph (DESIGN 4.11). */
export interface GraphNode {
  id: string;
  /** Full name of a tool or validation. */
  tool: string;
  /** By argument of the tool. */
  arguments: Record<string, GraphValue>;
  /** What it judges; absent: what the graph was given. */
  subject?: GraphValue;
  /** Nodes that end before it begins, besides those that its values point to. */
  needs: string[];
}

/**
 * A DAG of tools. Pointers lead into `{args, subject, resource, slot, nodes}`, where `/nodes/<id>` is
 * the output of a node: any value of a tool, `{passed, message, data}` of a validation.
 */
export interface Graph {
  nodes: GraphNode[];
  /**
   * What the graph returns. Absent: of a validation whether all its validation nodes passed, of a
   * tool all outputs by node.
   */
  output?: GraphValue;
}

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
  /** `builtin`: which validator; `plugin/<name>` for one of an operator’s plugin. */
  validator?: string;
  /** `code`: a JavaScript function expression, `({ args, subject, resource }) => value`. */
  code?: string;
  /**
   * `command`: program and arguments. `${args.NAME}` in one of them is that argument's value,
   * `${resource}` the resource; with `shell` the first is a script, and the others are $1 and so on.
   */
  command?: string[];
  /** `command`: the first part is a script for /bin/sh. */
  shell?: boolean;
  /** `command`: what exit codes mean, by code. Others: 0 pass, 1 fail, all else error. */
  exit_codes?: Record<string, ExitMeaning>;
  /** `command`: absent means `auto`. */
  output?: CommandOutput;
  /** `command`: variables of its environment besides the few that every command has. */
  env?: Record<string, string>;
  /** `command`: files and folders of the host that it reads, absolute. */
  paths?: string[];
  /** `command`: the files of a folder’s snapshot stand in its working folder. */
  snapshot_files?: boolean;
  /** `command` and the validator `ansible`: files in the working folder, as base64 by path. */
  files?: Record<string, string>;
  /** Validator `ansible`: playbook and inventory among `files`. */
  playbook?: string;
  inventory?: string;
  mcp_server?: string;
  mcp_tool_name?: string;
  /** `mcp`: arguments of the MCP tool that are taken from elsewhere: `{args, subject, resource, slot}`. */
  arguments?: Record<string, GraphValue>;
  /** What the MCP server says of the tool. */
  annotations?: JsonObject;
  graph?: Graph;
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
  /** Where the innermost is a graph: the tools that its nodes name, by full name. */
  nodes?: Record<string, ResolvedTool>;
}
