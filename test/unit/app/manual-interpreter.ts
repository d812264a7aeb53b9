import type { Interpreter, InterpreterAnswer } from '../../../src/ports/interpreter.js';

/** A call that was made. */
export interface HookCall {
  hook: string;
  /** Version of the tool, from what the hook is given. */
  version: string;
}

interface Waiting extends HookCall {
  answer: (answer: InterpreterAnswer) => void;
}

/**
 * An interpreter whose calls end when and how the test says. Sources are the bare names of hooks; which
 * one is called is found in the source around it.
 */
export class ManualInterpreter implements Interpreter {
  /** Answer every call at once, those that wait included from then on. */
  auto = false;
  /** Calls by hook. */
  readonly counts: Record<string, number> = {};
  /** Told of every call, and of its end. */
  onCall: (call: HookCall) => void = () => {};
  onEnd: (call: HookCall, answer: InterpreterAnswer) => void = () => {};
  #waiting: Waiting[] = [];
  #heard: (() => void)[] = [];

  async check(): Promise<undefined> {}

  call(source: string, [given]: readonly unknown[]): Promise<InterpreterAnswer> {
    const hook = /\((discover|activate|execute|deactivate)\n\)/.exec(source)?.[1] ?? source;
    this.counts[hook] = (this.counts[hook] ?? 0) + 1;
    const version = (given as { tool?: { version: string } }).tool?.version ?? '';
    const call = { hook, version };
    this.onCall(call);
    return new Promise((resolve) => {
      const answer = (came: InterpreterAnswer) => {
        this.onEnd(call, came);
        resolve(came);
      };
      if (this.auto) return answer({ ok: true, value: null });
      this.#waiting.push({ ...call, answer });
      for (const heard of this.#heard.splice(0)) heard();
    });
  }

  /** Hooks that wait for their answer. */
  get waiting(): readonly string[] {
    return this.#waiting.map(({ hook }) => hook);
  }

  /** Answers what waits at a place, if anything does. */
  end(place: number, ok: boolean): void {
    const answer: InterpreterAnswer = ok
      ? { ok, value: true }
      : { ok, reason: 'threw', message: 'Error: failed' };
    this.#waiting.splice(place, 1)[0]?.answer(answer);
  }

  /** Ends the next call of a hook with a value, once it has been made. */
  answer(hook: string, value: unknown): Promise<void> {
    return this.#end(hook, { ok: true, value });
  }

  /** The same with a throw. */
  fail(hook: string): Promise<void> {
    return this.#end(hook, { ok: false, reason: 'threw', message: `Error: ${hook} failed` });
  }

  async #end(hook: string, answer: InterpreterAnswer): Promise<void> {
    let place = this.waiting.indexOf(hook);
    for (; place === -1; place = this.waiting.indexOf(hook))
      await new Promise<void>((resolve) => this.#heard.push(resolve));
    this.#waiting.splice(place, 1)[0]?.answer(answer);
  }
}
