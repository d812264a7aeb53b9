import { SluiceError } from '../core/problem.js';
import type { Interpreter, InterpreterAnswer } from '../ports/interpreter.js';
import type { Task, TaskAnswer } from './quickjs/messages.js';
import { Thread } from './quickjs/thread-handle.js';

/** More would take turns with what the process itself has to do. */
const MOST_THREADS = 4;
/** Bytes of JSON that a function may be given. */
const MOST_ARGUMENTS = 8 * 1024 * 1024;
/** Milliseconds that a source may take to become a function. */
const CHECK_MS = 1000;
/** Longest time that a timer can wait, with room for what is added to it. */
const LONGEST_MS = 2 ** 31 - 60_000;

type Failure = Extract<InterpreterAnswer, { ok: false }>;

/** `ms`: how long it ran. */
type Ran = TaskAnswer & { ms: number };

interface Waiting {
  task: Task;
  answer: (answer: Ran) => void;
}

const failure = (reason: Failure['reason'], message: string): Failure => ({ ok: false, reason, message });

/**
 * Runs functions in QuickJS (DESIGN 6.4), each call in a runtime of its own, in threads that are started
 * when they are first needed: this process goes on meanwhile, and what cannot be interrupted is ended with
 * its thread. The deadline counts from when the call's turn comes. 32 MiB of memory, 128 KiB of stack, at most
 * 8 MiB of JSON in and 1 MiB out.
 */
export class QuickJsInterpreter implements Interpreter {
  readonly #most: number;
  readonly #threads = new Set<Thread>();
  readonly #idle: Thread[] = [];
  #waiting: Waiting[] = [];
  /** Threads that are on their way. */
  #starting = 0;

  /** `threads`: how many calls run at a time; those beyond wait for their turn. */
  constructor(threads = MOST_THREADS) {
    this.#most = threads;
  }

  async check(source: string): Promise<string | undefined> {
    const answer = await this.#run({ kind: 'check', source, args: '[]', deadlineMs: CHECK_MS });
    if (answer.ok) return undefined;
    if (answer.reason === 'internal') throw new SluiceError('IO', answer.message);
    const semicolon = source.trimEnd().endsWith(';') ? '; no expression ends with a semicolon' : '';
    return answer.message + semicolon;
  }

  async call(source: string, args: readonly unknown[], deadlineMs: number): Promise<InterpreterAnswer> {
    const given = textOf(args);
    if (typeof given !== 'string') return given;
    if (!(deadlineMs > 0)) return failure('deadline', 'no time is left for the function');
    const limited = Math.min(deadlineMs, LONGEST_MS);
    const answer = await this.#run({ kind: 'call', source, args: given, deadlineMs: limited });
    if (!answer.ok) {
      if (answer.reason !== 'syntax') return answer;
      return { ...answer, message: `the source is no function expression: ${answer.message}` };
    }
    try {
      return { ok: true, value: JSON.parse(answer.json) as unknown, ms: answer.ms };
    } catch {
      return failure('internal', 'the function’s value did not arrive as JSON');
    }
  }

  /** Ends all threads; calls in hand are answered as failures. */
  async close(): Promise<void> {
    this.#give(this.#waiting.splice(0), failure('internal', 'the interpreter was closed'));
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #run(task: Task): Promise<Ran> {
    return new Promise((answer) => {
      this.#waiting.push({ task, answer });
      this.#next();
    });
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop();
      if (thread === undefined) break;
      const { task, answer } = this.#waiting.shift() as Waiting;
      const started = performance.now();
      void thread.run(task).then((came) => answer({ ...came, ms: performance.now() - started }));
    }
    const room = Math.min(this.#most - this.#threads.size, this.#waiting.length - this.#starting);
    for (let n = 0; n < room; n += 1) this.#start();
  }

  #start(): void {
    let started = false;
    const arrived = () => {
      if (!started) this.#starting -= 1;
      started = true;
    };
    this.#starting += 1;
    const thread = new Thread({
      ready: () => {
        arrived();
        this.#idle.push(thread);
        this.#next();
      },
      ended: (_thread, reason) => {
        arrived();
        this.#threads.delete(thread);
        const place = this.#idle.indexOf(thread);
        if (place !== -1) this.#idle.splice(place, 1);
        // One call pays for each thread that does not start, so that none waits for ever.
        if (reason !== undefined)
          this.#give(
            this.#waiting.splice(0, 1),
            failure('internal', `the interpreter did not start: ${reason}`),
          );
        this.#next();
      },
    });
    this.#threads.add(thread);
  }

  #give(waiting: readonly Waiting[], answer: TaskAnswer): void {
    for (const each of waiting) each.answer({ ...answer, ms: 0 });
  }
}

/** The arguments as JSON, or why they cannot be passed. */
function textOf(args: readonly unknown[]): string | Failure {
  try {
    const text = JSON.stringify(args);
    if (Buffer.byteLength(text) <= MOST_ARGUMENTS) return text;
    return failure('memory', 'the function was given more than 8 MiB of JSON');
  } catch (error) {
    if (error instanceof RangeError) return failure('stack', 'the arguments are nested too deeply');
    return failure('internal', `the arguments are no JSON: ${(error as Error).message}`);
  }
}
