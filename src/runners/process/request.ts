import type { ReadOnly } from '../../core/result.js';
import type { RunFailure } from '../../core/validators/validator.js';

/** What one process needs of this host; a sandbox gives it that, and nothing else (DESIGN 6.1, 6.2). */
export interface ProcessRequest {
  /** Program and arguments, without a shell. A program without `/` is looked up in PATH. */
  argv: readonly [string, ...string[]];
  /** Variables besides PATH, HOME, TMPDIR, LANG, PWD and SLUICE_RUN, which every process has. */
  env?: Readonly<Record<string, string>>;
  /** Put into its private working folder, which it may write and which goes with it; path to content. */
  files?: ReadonlyMap<string, Uint8Array>;
  /** Files and folders of the host that it may read, absolute; one that is not there is refused. */
  paths?: readonly string[];
  /** It may use the network. */
  network: boolean;
}

export interface RunRequest extends ProcessRequest {
  /** Text for its standard input; absent: at its end at once. */
  stdin?: string;
  /** Milliseconds until SIGTERM; SIGKILL follows after the grace. */
  deadlineMs: number;
  /** Bytes of each output stream that are kept; absent: as configured. */
  outputCap?: number;
}

/** What a process came to. A bad exit is an outcome, never an exception. */
export interface ProcessOutcome {
  kind: 'process';
  /** null when a signal ended it. */
  exitCode: number | null;
  signal?: string;
  /** It was stopped at its deadline. */
  timedOut: boolean;
  /** The middle of an output stream was left out. */
  truncated: boolean;
  /** … of standard output. */
  stdoutTruncated: boolean;
  /** The key `passed` in quotes stood on standard output, be it in what was left out. */
  mentionsPassed: boolean;
  /** UTF-8, with U+FFFD for what is none. */
  stdout: string;
  stderr: string;
  /** Milliseconds. */
  durationMs: number;
  readOnly: ReadOnly;
}

/** A process that is spoken to while it runs, such as an MCP server on its standard streams. */
export interface OpenProcess {
  readonly pid: number;
  readonly readOnly: ReadOnly;
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: NodeJS.ReadableStream;
  /** Tail of its standard error so far, capped. */
  stderr(): string;
  /** Resolves when it is gone, never rejects. */
  readonly ended: Promise<{ exitCode: number | null; signal?: string }>;
  /** SIGTERM to all of it, SIGKILL after the grace; resolves when it is gone and so is its folder. */
  stop(): Promise<void>;
}

/** Runs processes of others, bounded in time, output, memory and number, in a sandbox where there is one. */
export interface Processes {
  /** Throws only when `signal` is aborted, and then after all of it is gone. A failure: it could not be started. */
  run(request: RunRequest, signal: AbortSignal): Promise<ProcessOutcome | RunFailure>;
  open(request: ProcessRequest): Promise<OpenProcess | RunFailure>;
}
