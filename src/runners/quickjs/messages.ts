import type { InterpreterAnswer } from '../../ports/interpreter.js';

/** What a thread is asked: to call a function, or only to see whether the source is one. */
export interface Task {
  kind: 'call' | 'check';
  source: string;
  /** JSON of the list of arguments. */
  args: string;
  /** Milliseconds that it may take. */
  deadlineMs: number;
}

/** A value is JSON: what is not trusted is not made an object before it has left the thread. */
export type TaskAnswer = { ok: true; json: string } | Extract<InterpreterAnswer, { ok: false }>;

/** `ready`: the thread takes a task, the first one or the next. */
export type FromThread = { kind: 'ready' } | { kind: 'answer'; answer: TaskAnswer };
