import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FromThread, Task, TaskAnswer } from './messages.js';

/** Milliseconds after its deadline that a task is given to say so itself. */
const GRACE_MS = 100;
/** Milliseconds that a thread may take to load. */
const START_MS = 30_000;
/** MiB; QuickJS' own limit of its stack is reached well before. */
const STACK_MB = 4;
/** MiB for arguments and values as text; what QuickJS holds lies elsewhere. */
const HEAP_MB = 128;

const source = import.meta.url.endsWith('.ts');

/** The program of a thread; from a checkout's TypeScript (tests) it is loaded through tsx. */
function program(): URL {
  if (!source) return new URL('./thread.js', import.meta.url);
  const required = createRequire(import.meta.url).resolve('tsx/esm/api');
  const loader = pathToFileURL(required.replace(/\.cjs$/, '.mjs')).href;
  const thread = new URL('./thread.ts', import.meta.url).href;
  const text = `import { register } from '${loader}'; register(); await import('${thread}');`;
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}

export interface ThreadEvents {
  /** Takes a task now. */
  ready(thread: Thread): void;
  /** Gone for good; `reason` says why when it was never ready. */
  ended(thread: Thread, reason: string | undefined): void;
}

interface InHand {
  answer: (answer: TaskAnswer) => void;
  timer: NodeJS.Timeout;
}

/** A thread that runs one task at a time, and is ended when a task overstays its deadline. */
export class Thread {
  readonly #worker: Worker;
  readonly #events: ThreadEvents;
  readonly #startTimer: NodeJS.Timeout;
  #inHand: InHand | undefined;
  #reason: string | undefined = 'it did not start in time';
  #ending = false;

  constructor(events: ThreadEvents) {
    this.#events = events;
    this.#worker = new Worker(program(), {
      env: {},
      execArgv: [],
      resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB },
    });
    this.#startTimer = setTimeout(() => void this.end(), START_MS);
    this.#worker.on('message', (message: FromThread) => this.#hear(message));
    this.#worker.on('error', (error: Error) => this.#fail(error));
    this.#worker.on('exit', () => this.#exit());
  }

  /** Answers in any case; never rejects. Only when it is ready. */
  run(task: Task): Promise<TaskAnswer> {
    return new Promise((resolve) => {
      this.#worker.ref();
      const timer = setTimeout(() => this.#overdue(task), task.deadlineMs + GRACE_MS);
      this.#inHand = { answer: resolve, timer };
      this.#worker.postMessage(task);
    });
  }

  end(): Promise<unknown> {
    this.#ending = true;
    return this.#worker.terminate();
  }

  #hear(message: FromThread): void {
    if (message.kind === 'answer') {
      this.#answer(message.answer);
      return;
    }
    if (this.#ending) return;
    clearTimeout(this.#startTimer);
    this.#reason = undefined;
    // An idle thread keeps no process alive.
    this.#worker.unref();
    this.#events.ready(this);
  }

  #answer(answer: TaskAnswer): void {
    const inHand = this.#inHand;
    if (inHand === undefined) return;
    this.#inHand = undefined;
    clearTimeout(inHand.timer);
    inHand.answer(answer);
  }

  /** An answer may lie here unread, when this thread was busy itself: it is heard first. */
  #overdue(task: Task): void {
    const late = this.#inHand;
    setImmediate(() => {
      if (this.#inHand !== late) return;
      const message = `the function did not return within ${Math.round(task.deadlineMs)} ms`;
      this.#answer({ ok: false, reason: 'deadline', message });
      void this.end();
    });
  }

  #fail(error: Error): void {
    const outOfMemory = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
    this.#reason &&= error.message;
    this.#answer({
      ok: false,
      reason: outOfMemory ? 'memory' : 'internal',
      message: `the interpreter’s thread broke down: ${error.message}`,
    });
  }

  #exit(): void {
    clearTimeout(this.#startTimer);
    this.#answer({ ok: false, reason: 'internal', message: 'the interpreter’s thread has ended' });
    this.#events.ended(this, this.#reason);
  }
}
