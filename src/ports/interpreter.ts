export type InterpreterAnswer = (
  | { ok: true; value: unknown }
  /** `threw`: the source itself failed; `malformed`: it returned what JSON cannot carry. */
  | {
      ok: false;
      reason: 'syntax' | 'threw' | 'deadline' | 'memory' | 'stack' | 'malformed' | 'internal';
      message: string;
    }
) & {
  /** Milliseconds that it ran; waiting for its turn does not count. */
  ms?: number;
};

/** Runs pure functions given as JavaScript source: no modules, files, network or clock (DESIGN 6.4). */
export interface Interpreter {
  /**
   * Undefined when the source is a function expression; else why it is none. Throws IO when there is
   * no interpreter to ask.
   */
  check(source: string): Promise<string | undefined>;
  /** Calls the function with arguments that are passed as JSON; never throws, never outlives the deadline once it runs. */
  call(source: string, args: readonly unknown[], deadlineMs: number): Promise<InterpreterAnswer>;
}
