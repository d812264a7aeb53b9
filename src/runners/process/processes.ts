import { failureWithOutput } from '../../core/failure.js';
import type { ReadOnly } from '../../core/result.js';
import type { RunFailure } from '../../core/validators/validator.js';
import { readOnlyOf, sandboxTrouble } from './available.js';
import { CappedOutput } from './capped.js';
import { endingOf } from './ending.js';
import { lacksInterpreter } from './interpreter.js';
import { type Launch, type LaunchRequest, launchOf } from './launch.js';
import { sweptOnce } from './leftovers.js';
import type { OpenProcess, Processes, ProcessOutcome, ProcessRequest, RunRequest } from './request.js';
import type { ProcessSettings } from './settings.js';
import { type Ending, StartedProcess } from './started.js';

export type { ProcessSettings } from './settings.js';

/** Standard error of a process that is spoken to: what it said last is enough. */
const STDERR_TAIL = 16 * 1024;

/** Runs processes on this host, in bubblewrap unless the operator chose otherwise (DESIGN 6). */
export class LocalProcesses implements Processes {
  readonly #settings: ProcessSettings;

  constructor(settings: ProcessSettings) {
    this.#settings = settings;
  }

  async run(request: RunRequest, signal: AbortSignal): Promise<ProcessOutcome | RunFailure> {
    throwIfAborted(signal);
    const launch = await this.#launch(request);
    if ('kind' in launch) return launch;
    if (signal.aborted) await launch.release();
    throwIfAborted(signal);
    const started = performance.now();
    const process = new StartedProcess(launch, 'ignore', this.#settings.graceMs);
    const cap = request.outputCap ?? this.#settings.outputCap;
    const [stdout, stderr] = [new CappedOutput(cap), new CappedOutput(cap)];
    process.child?.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    process.child?.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      process.stop();
    }, request.deadlineMs);
    const abort = () => process.stop();
    signal.addEventListener('abort', abort, { once: true });
    const ending = await process.ended;
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    throwIfAborted(signal);
    const failure = notStarted(ending, launch, stdout.toString(), stderr.toString());
    if (failure !== undefined) return failure;
    return {
      kind: 'process',
      ...endingOf(ending),
      timedOut,
      truncated: stdout.truncated || stderr.truncated,
      stdoutTruncated: stdout.truncated,
      mentionsPassed: stdout.mentionsPassed,
      stdout: stdout.toString(),
      stderr: stderr.toString(),
      durationMs: performance.now() - started,
      readOnly: this.#readOnly(request),
    };
  }

  async open(request: ProcessRequest): Promise<OpenProcess | RunFailure> {
    const launch = await this.#launch(request);
    if ('kind' in launch) return launch;
    const process = new StartedProcess(launch, 'pipe', this.#settings.graceMs);
    const { child } = process;
    if (!child?.pid || !child.stdin || !child.stdout) {
      return (
        notStarted(await process.ended, launch, '', '') ??
        failureWithOutput('not_started', 'it ended before it began')
      );
    }
    const said = new CappedOutput(STDERR_TAIL);
    child.stderr?.on('data', (chunk: Buffer) => said.push(chunk));
    return {
      pid: child.pid,
      readOnly: this.#readOnly(request),
      stdin: child.stdin,
      stdout: child.stdout,
      stderr: () => said.toString().replaceAll(`${launch.token}\n`, ''),
      ended: process.ended.then(endingOf),
      async stop() {
        process.stop();
        await process.ended;
      },
    };
  }

  async #launch(request: LaunchRequest): Promise<Launch | RunFailure> {
    const trouble = await sandboxTrouble(this.#settings);
    if (trouble !== undefined) return failureWithOutput('no_sandbox', trouble);
    await sweptOnce();
    try {
      return await launchOf(request, this.#settings);
    } catch (error) {
      return failureWithOutput('not_started', `the run could not be prepared: ${(error as Error).message}`);
    }
  }

  /** What the network leads to is not kept from being written. */
  #readOnly({ network }: ProcessRequest): ReadOnly {
    return network ? 'declared' : readOnlyOf(this.#settings);
  }
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Error('stopped: the worker is shutting down', { cause: signal.reason });
}

/** In better words than those of a shell, to which a script without its interpreter is `not found`. */
function whyNot(said: string, { program, sandboxed, head }: Launch): string {
  if (!/not found|No such file/.test(said)) return said;
  const lacks = lacksInterpreter(head(), sandboxed);
  return lacks === undefined ? said : `${program} ${lacks}`;
}

/** Whether the program was never reached, and why. */
function notStarted(ending: Ending, launch: Launch, stdout: string, stderr: string): RunFailure | undefined {
  if (ending.error !== undefined) {
    return failureWithOutput('not_started', `the process could not be started: ${ending.error}`);
  }
  const at = stderr.lastIndexOf(launch.token);
  if (at >= 0) {
    const said = stderr.slice(0, at).trim();
    const why = said.replace(/^.*?(?:exec: )?(?:line \d+: |\d+: )(?:exec: )?/s, '');
    const cause = whyNot(why, launch) || 'its shell gave no reason';
    return failureWithOutput('not_started', `the program could not be started: ${cause}`, said);
  }
  if (launch.sandboxed && ending.exitCode !== 0 && stdout === '' && /^(?:bwrap|setpriv): /.test(stderr)) {
    return failureWithOutput(
      'not_started',
      `the sandbox could not be made: ${stderr.trim().split('\n')[0]}`,
      stderr,
    );
  }
  return undefined;
}
