import type { CompiledPattern, Span } from '../../core/patterns/compile.js';
import type { MatchOutcome, MatchRequest, RunFailure } from '../../core/validators/validator.js';

/** One request on its way through its texts. */
export class Search {
  /** The text that is searched next. */
  text = 0;
  /** Milliseconds in the engine that decides; what V8's engine lost before RE2 took over is not in it. */
  spent = 0;
  /** Milliseconds in all. */
  ms = 0;
  /** A search of this text is under way; still set when the guard cut it off. */
  running = false;
  private started = 0;
  outcome: MatchOutcome | RunFailure | undefined;

  constructor(
    readonly index: number,
    readonly request: MatchRequest,
    readonly compiled: CompiledPattern,
    public engine: CompiledPattern['engine'],
  ) {}

  /** Searches one text and records what came of it. Throws when an engine runs out of stack. */
  step(): void {
    const text = this.request.texts[this.text]?.text;
    if (text === undefined) {
      this.outcome = { kind: 'match', found: false, ...this.engineNote() };
      return;
    }
    this.started = performance.now();
    this.running = true;
    const span = this.find(text);
    const took = this.elapsed();
    this.spent += took;
    this.ms += took;
    if (span === undefined) this.text += 1;
    else this.outcome = { kind: 'match', found: true, text: this.text, ...span, ...this.engineNote() };
    this.running = false;
  }

  /** Milliseconds since the search that runs now, or ran last, began. */
  elapsed(): number {
    return performance.now() - this.started;
  }

  private find(text: string): Span | undefined {
    return this.engine === 're2' ? this.compiled.searchRe2(text) : this.compiled.searchNative(text);
  }

  private engineNote(): { engine?: 'backtracking' } {
    return this.engine === 'backtracking' ? { engine: 'backtracking' } : {};
  }
}
