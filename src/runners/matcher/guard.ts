import { createContext, Script } from 'node:vm';

/**
 * Runs work under a time limit that stops even a regular expression in its tracks: V8 terminates what
 * runs inside a vm call, irregexp's backtracking and our own code called from there included.
 * A call costs about 100 microseconds.
 */
export class Guard {
  private readonly globals: { work: () => void } = { work: () => {} };
  private readonly context = createContext(this.globals);
  private readonly script = new Script('work()');

  /**
   * False when the work was cut off after `ms` milliseconds, at any point of it; what it throws is
   * thrown on. The limit can also strike when the work has just ended, so judge by what it recorded.
   */
  run(work: () => void, ms: number): boolean {
    this.globals.work = work;
    try {
      this.script.runInContext(this.context, { timeout: Math.max(1, Math.ceil(ms)) });
      return true;
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
      throw error;
    } finally {
      this.globals.work = () => {};
    }
  }
}
