export type InterpreterAnswer =
  | { ok: true; value: unknown }
  /** `threw`: the source itself failed; `malformed`: it returned what JSON cannot carry. */
  | {
      ok: false;
      reason: 'syntax' | 'threw' | 'deadline' | 'memory' | 'stack' | 'malformed' | 'internal';
      message: string;
    };

/** Runs pure functions given as JavaScript source: no modules, files, network or clock (DESIGN 6.4). */
export interface Interpreter {
  /** Undefined when the source is a function expression; else what is wrong with it. */
  check(source: string): Promise<string | undefined>;
  /** Calls the function with arguments that are passed as JSON; never throws, never outlives the deadline. */
  call(source: string, args: readonly unknown[], deadlineMs: number): Promise<InterpreterAnswer>;
}
