import type { CallableDocument, JsonObject } from '../core/registry/model.js';
import type { RunnerKind } from '../core/registry/needs.js';
import type { ReadOnly } from '../core/result.js';
import type { AnsibleOutcome, AnsibleRequest, RunFailure, Verdict } from '../core/validators/validator.js';

/** Files that a runner needs: path inside their folder to base64 content. */
export interface Bundle {
  files: Readonly<Record<string, string>>;
}

/** What a run came to, and whether something kept it from writing (DESIGN 6.2). */
export interface Ran<T> {
  outcome: T;
  readOnly: ReadOnly;
}

/** Runs playbooks of a bundle. A bad exit is an outcome, not an exception. */
export interface AnsibleRunner {
  /** Throws only when `signal` is aborted. */
  run(
    request: AnsibleRequest,
    bundle: Bundle,
    signal: AbortSignal,
  ): Promise<Ran<AnsibleOutcome | RunFailure>>;
}

/** One call of a tool that needs a process or a connection. */
export interface ToolRun {
  /** The innermost document of a chain: the one that runs. */
  document: CallableDocument;
  args: JsonObject;
  /** The resource's snapshot, any JSON. */
  subject: unknown;
  resource: string | null;
  slot: string | null;
  /** What its `activate` hook returned; absent: it has none. */
  state?: unknown;
  /** Milliseconds, above 0. */
  deadlineMs: number;
}

/**
 * A plain value, which a validation's structured return may be, or a verdict that the runner can
 * tell by itself, such as from an exit code. A failure is neither pass nor fail.
 */
export type ToolOutput =
  | { kind: 'value'; value: unknown; noData?: boolean }
  | { kind: 'verdict'; verdict: Verdict }
  | RunFailure;

/** Runs tools of one kind. A tool that fails, hangs or floods is an outcome, not an exception. */
export interface ToolRunner {
  /** Throws only when `signal` is aborted; all that it started is gone then too. */
  run(call: ToolRun, signal: AbortSignal): Promise<Ran<ToolOutput>>;
  /** Ends what is kept between calls. */
  close(): Promise<void>;
}

/** The runners of this host by kind, and why others are not there, each in one sentence. */
export interface ToolRunners {
  runners: Readonly<Partial<Record<RunnerKind, ToolRunner>>>;
  missing: Readonly<Partial<Record<RunnerKind, string>>>;
}
