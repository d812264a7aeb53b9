import { setImmediate as nextTurn } from 'node:timers/promises';
import { PatternError } from '../core/patterns/ast.js';
import { type CompiledPattern, compilePattern } from '../core/patterns/compile.js';
import type { MatchRequest, RunFailure } from '../core/validators/validator.js';
import type { Matcher, TimedMatch } from '../ports/matcher.js';
import { Guard } from './matcher/guard.js';
import { Search } from './matcher/search.js';

export interface MatcherOptions {
  /** Milliseconds for one guarded pass over many searches; default 250. */
  nativeBudgetMs?: number;
  /** Milliseconds for all texts of one request in the engine that decides; default 5000. */
  deadlineMs?: number;
}

const DEFAULT_BUDGET_MS = 250;
const DEFAULT_DEADLINE_MS = 5000;
/** A pass gives way of its own accord after this part of its budget, so that what is cut off was slow. */
const VOLUNTARY_PART = 4;
const MAX_SLICE = 1000;
const MAX_SLOW = 1000;

/**
 * The matcher of DESIGN 6.3: one guarded pass with V8's engine over all requests where it agrees with
 * RE2; a search that the guard cuts off is done over by re2js under a deadline of its own, and its
 * pattern goes to re2js from then on. The verdict is the same either way.
 *
 * Texts are searched as they are; callers normalise line ends once per field (`normalizeText`). Failures
 * have the reason `invalid_pattern`, `deadline` or `engine_error`; nothing is thrown. Between passes
 * timers get their turn; one call holds the process for at most `deadlineMs`.
 */
export function createMatcher(options: MatcherOptions = {}): Matcher {
  return new GuardedMatcher(
    options.nativeBudgetMs ?? DEFAULT_BUDGET_MS,
    options.deadlineMs ?? DEFAULT_DEADLINE_MS,
  );
}

class GuardedMatcher implements Matcher {
  private readonly guard = new Guard();
  /** Patterns on which V8's engine once ran out of time. */
  private readonly slow = new Set<string>();

  constructor(
    private readonly budgetMs: number,
    private readonly deadlineMs: number,
  ) {}

  async matchAll(requests: readonly MatchRequest[]): Promise<TimedMatch[]> {
    const answers = new Array<TimedMatch>(requests.length);
    for (let next = 0; next < requests.length; ) {
      const slice: Search[] = [];
      const until = this.endOfPass();
      do {
        const search = this.prepare(requests[next] as MatchRequest, next);
        if (search instanceof Search) slice.push(search);
        else answers[next] = { outcome: search, ms: 0 };
        next += 1;
      } while (next < requests.length && slice.length < MAX_SLICE && performance.now() < until);
      await this.finish(slice);
      for (const { index, outcome, ms } of slice) answers[index] = { outcome: outcome as RunFailure, ms };
      if (next < requests.length) await nextTurn();
    }
    return answers;
  }

  private endOfPass(): number {
    return performance.now() + this.budgetMs / VOLUNTARY_PART;
  }

  private prepare(request: MatchRequest, index: number): Search | RunFailure {
    let compiled: CompiledPattern;
    try {
      compiled = compilePattern(request.pattern);
      const slow = compiled.engine === 'native' && this.slow.has(request.pattern);
      const engine = slow ? 're2' : compiled.engine;
      // Compiling changes state that patterns share: it is kept out of what the guard may cut off.
      if (engine === 're2') compiled.prepareRe2();
      return new Search(index, request, compiled, engine);
    } catch (error) {
      if (!(error instanceof PatternError)) return engineFailure(error);
      return { kind: 'failure', reason: 'invalid_pattern', message: error.message };
    }
  }

  private async finish(slice: Search[]): Promise<void> {
    let pending = slice;
    for (;;) {
      const cutOff = this.pass(pending);
      pending = pending.filter((search) => search.outcome === undefined);
      if (cutOff !== undefined) {
        // Two turns: timers run between them, not before the first.
        await nextTurn();
        await nextTurn();
        this.alone(cutOff);
      }
      if (pending.length === 0) return;
      await nextTurn();
    }
  }

  /** Searches until its time is up; the search that was cut off or failed, if one was. */
  private pass(pending: readonly Search[]): Search | undefined {
    const until = this.endOfPass();
    let current: Search | undefined;
    try {
      this.guard.run(() => {
        for (const search of pending) {
          current = search;
          while (search.outcome === undefined && search.spent < this.deadlineMs) {
            search.step();
            if (performance.now() > until) return;
          }
        }
      }, this.budgetMs);
    } catch (error) {
      // An engine out of stack leaves its search running, as a cut does; all else is no engine's fault.
      if (current !== undefined && !current.running) current.outcome = engineFailure(error);
    }
    for (const search of pending) this.expire(search);
    if (current === undefined || !current.running || current.outcome !== undefined) return undefined;
    current.ms += current.elapsed();
    return current;
  }

  private expire(search: Search): void {
    if (search.outcome !== undefined || search.spent < this.deadlineMs) return;
    search.outcome = this.deadlineFailure();
  }

  /** Does the search that was cut off over again, by the engine that decides, under the deadline. */
  private alone(search: Search): void {
    if (search.engine === 'native') this.remember(search.request.pattern);
    else search.spent += search.elapsed();
    if (search.engine !== 'backtracking') search.engine = 're2';
    search.running = false;
    search.compiled.dropRe2();
    try {
      search.compiled.prepareRe2();
      this.guard.run(() => search.step(), this.deadlineMs - search.spent);
    } catch (error) {
      search.outcome = engineFailure(error);
    }
    if (search.running) {
      search.ms += search.elapsed();
      search.compiled.dropRe2();
      search.outcome ??= this.deadlineFailure();
    }
    this.expire(search);
  }

  private remember(pattern: string): void {
    this.slow.add(pattern);
    if (this.slow.size > MAX_SLOW) this.slow.delete(this.slow.values().next().value as string);
  }

  private deadlineFailure(): RunFailure {
    const message = `the pattern did not finish within ${this.deadlineMs} ms on this text`;
    return { kind: 'failure', reason: 'deadline', message };
  }
}

function engineFailure(error: unknown): RunFailure {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failure', reason: 'engine_error', message };
}
