import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { failureWithOutput } from '../../core/failure.js';
import type { ReadOnly } from '../../core/result.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { ToolOutput } from '../../ports/runner.js';
import type { OpenProcess, Processes } from '../process/request.js';
import { commandFor } from './command.js';
import { Lines } from './lines.js';
import type { Located } from './locate.js';
import { type Described, MOST_LINE_BYTES, type PluginAnswer, type PluginCall } from './protocol.js';

/** Milliseconds that a module may take to load. */
const LOAD_MS = 10_000;
/** Milliseconds after its deadline that a call may take to heed its signal; its child goes on then. */
const GRACE_MS = 100;
/** Bytes that are no answer, of one child, before it is taken for broken. */
const MOST_NOISE = 16 * 1024 * 1024;

const schema = z.record(z.string(), z.json()).optional();
const loadingSchema = z.union([
  z.object({
    loaded: z.array(
      z.object({ name: z.string(), description: z.string(), input_schema: schema, output_schema: schema }),
    ),
  }),
  z.object({ broken: z.string() }),
]);
const answerSchema = z.object({
  id: z.string(),
  ms: z.number(),
  value: z.unknown().optional(),
  failed: z.enum(['threw', 'malformed', 'too_large', 'unknown']).optional(),
  message: z.string().default(''),
  raw: z.string().optional(),
});

type Answer = z.infer<typeof answerSchema>;

const REASONS = {
  threw: 'threw',
  malformed: 'malformed',
  too_large: 'too_large',
  unknown: 'no_plugin',
} as const satisfies Record<Extract<PluginAnswer, { failed: string }>['failed'], string>;

/** One process with a module in it: loaded, then one call at a time. */
export class PluginChild {
  readonly #process: OpenProcess;
  readonly #module: string;
  #validations: readonly Described[] = [];
  #noise = 0;
  #hear: (message: unknown) => boolean = () => false;
  /** Ends what is waited for. */
  #interrupt: (failure: RunFailure) => void = () => {};
  #gone = false;
  /** Why it was stopped here, where that says more than how it ended. */
  #why: RunFailure | undefined;

  private constructor(process: OpenProcess, module: string) {
    this.#process = process;
    this.#module = module;
    const flood = (what: string) => () =>
      this.#giveUp(failureWithOutput('plugin_flood', `the plugin ${module} wrote ${what}`));
    const lines = new Lines(MOST_LINE_BYTES, (line) => this.#line(line), flood('a line that never ends'));
    process.stdout.on('data', (chunk: Buffer) => lines.push(chunk));
    process.stdout.on('error', () => {});
    void process.ended.then((ending) => {
      this.#gone = true;
      this.#interrupt(this.#why ?? this.#died(ending));
    });
  }

  /** A child with the module loaded in it, or why there is none; `signal` ends the attempt. */
  static async start(
    located: Located,
    network: boolean,
    processes: Processes,
    signal: AbortSignal,
  ): Promise<PluginChild | RunFailure> {
    const argv = commandFor(located, network);
    const process = await processes.open({ argv, paths: located.readable, network });
    if ('kind' in process) return process;
    const child = new PluginChild(process, located.module);
    const abort = () => child.#giveUp(child.#stopped());
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    const failure = await child.#load();
    signal.removeEventListener('abort', abort);
    if (failure === undefined) return child;
    await child.stop();
    return failure;
  }

  get validations(): readonly Described[] {
    return this.#validations;
  }

  get readOnly(): ReadOnly {
    return this.#process.readOnly;
  }

  /** Whether it can take a call. */
  get isAlive(): boolean {
    return !this.#gone && this.#why === undefined;
  }

  /** Resolves when it is gone. */
  get ended(): Promise<unknown> {
    return this.#process.ended;
  }

  /** Runs a validation; one that overstays its deadline takes the child with it. Never throws. */
  async call(name: string, input: Record<string, unknown>, deadlineMs: number): Promise<ToolOutput> {
    const call: PluginCall = { id: randomUUID(), name, input, deadline_ms: Math.round(deadlineMs) };
    const late = failureWithOutput('deadline', `${name} did not return within ${Math.round(deadlineMs)} ms`);
    const answer = await this.#ask(
      (message) => {
        const parsed = answerSchema.safeParse(message);
        return parsed.success && parsed.data.id === call.id ? parsed.data : undefined;
      },
      { ms: deadlineMs + GRACE_MS, late, question: call },
    );
    if ('kind' in answer) return answer;
    return answer.ms > deadlineMs ? late : outputOf(name, answer);
  }

  /** Ends it and all that it started; resolves when it is gone. */
  async stop(): Promise<void> {
    this.#why ??= this.#stopped();
    await this.#process.stop();
  }

  #stopped(): RunFailure {
    return failureWithOutput('stopped', `the plugin ${this.#module} was stopped`);
  }

  async #load(): Promise<RunFailure | undefined> {
    const late = failureWithOutput('plugin_broken', `it did not load within ${LOAD_MS / 1000} s`);
    const loading = await this.#ask((message) => loadingSchema.safeParse(message).data, {
      ms: LOAD_MS,
      late,
    });
    if ('kind' in loading) return loading;
    if ('broken' in loading) return failureWithOutput('plugin_broken', loading.broken);
    this.#validations = loading.loaded as Described[];
    return undefined;
  }

  /** The first message that `read` takes, or why there is none. */
  #ask<T>(
    read: (message: unknown) => T | undefined,
    { ms, late, question }: { ms: number; late: RunFailure; question?: PluginCall },
  ): Promise<T | RunFailure> {
    return new Promise((resolve) => {
      let isOpen = true;
      const end = (answer: T | RunFailure) => {
        isOpen = false;
        clearTimeout(timer);
        this.#hear = () => false;
        this.#interrupt = () => {};
        resolve(answer);
      };
      // An answer may lie here unread, when this process was busy itself: it is heard first.
      const overdue = () => setImmediate(() => isOpen && this.#giveUp(late));
      const timer = setTimeout(overdue, ms);
      this.#interrupt = end;
      this.#hear = (message) => {
        const answer = read(message);
        if (answer !== undefined) end(answer);
        return answer !== undefined;
      };
      if (!this.isAlive)
        this.#interrupt(
          this.#why ?? failureWithOutput('plugin_died', `the plugin ${this.#module} has ended`),
        );
      else if (question !== undefined) this.#process.stdin.write(`${JSON.stringify(question)}\n`);
    });
  }

  #line(line: string): void {
    if (line === '') return;
    const message = line.startsWith('{') ? parsed(line) : undefined;
    if (message !== undefined && this.#hear(message)) return;
    this.#noise += line.length;
    if (this.#noise <= MOST_NOISE) return;
    this.#giveUp(failureWithOutput('plugin_flood', `the plugin ${this.#module} floods its standard output`));
  }

  /** Answers at once; the child goes in its own time. */
  #giveUp(why: RunFailure): void {
    this.#why ??= why;
    this.#interrupt(this.#why);
    void this.#process.stop();
  }

  #died({ exitCode, signal }: { exitCode: number | null; signal?: string }): RunFailure {
    const how = signal === undefined ? `exit code ${exitCode}` : signal;
    const said = this.#process.stderr().trim();
    return failureWithOutput('plugin_died', `the process of the plugin ${this.#module} ended (${how})`, said);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function outputOf(name: string, { value, failed: kind, message, raw }: Answer): ToolOutput {
  if (kind === undefined) return { kind: 'value', value };
  const whole = kind === 'threw' ? `${name} threw ${message}` : `${name}: ${message}`;
  return failureWithOutput(REASONS[kind], whole, raw);
}
