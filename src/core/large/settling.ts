import type { Judgement } from '../decision.js';
import type { EvaluationOptions } from '../manifest.js';
import { type CheckResult, OUTCOMES, type RuleResult } from '../result.js';
import { type PackResults, packRows, TextTable } from '../results-codec.js';
import { isSkipped } from '../scenario/checks.js';
import { materialize } from '../scenario/materialize.js';
import type { Rule } from '../scenario/model.js';
import { judge } from '../scoring.js';
import { settleResults } from '../settle.js';
import type { NamedOutline, ScenarioOutline } from './outline.js';

/** Checks that are settled, and stored, together. */
const TOGETHER = 2000;

/** What stands for every result of an outcome where only the outcome counts. */
const standIns = OUTCOMES.flatMap((outcome) =>
  [false, true].map(
    (vacuous): CheckResult => ({
      outcome,
      message: '',
      data: vacuous ? { vacuous } : {},
      duration_ms: 0,
      tries: 0,
      worker: null,
      read_only: 'declared',
    }),
  ),
);

const isBad = (result: CheckResult | undefined): boolean =>
  result?.outcome === 'fail' || result?.outcome === 'error';

/** A part of the results of a large evaluation, settled. */
export interface SettledPart {
  /** As it is stored. */
  results: PackResults;
  /** Those that failed or errored, in the order of their rules. */
  failing: RuleResult[];
}

/**
 * Settles the results of one large evaluation a part at a time, as they come and by the same rules as any
 * other; remembers of each check its outcome alone.
 */
export class LargeSettling {
  readonly #scenario: Pick<NamedOutline, 'key' | 'digest'>;
  readonly #outline: ScenarioOutline;
  readonly #options: EvaluationOptions;
  readonly #attempt: number;
  /** By check: 0 while it has no result, else one more than its place among the stand-ins. */
  readonly #settled: Uint8Array;

  constructor({ key, digest, outline }: NamedOutline, options: EvaluationOptions, attempt: number) {
    this.#scenario = { key, digest };
    this.#outline = outline;
    this.#options = options;
    this.#attempt = attempt;
    this.#settled = new Uint8Array(outline.size);
  }

  /** Takes what one pack brought for the checks from `firstCheck` on; the first result of a check stands. */
  *take(firstCheck: number, raw: readonly unknown[]): Generator<SettledPart> {
    for (let from = 0; from < raw.length; from += TOGETHER) {
      const some = raw.slice(from, from + TOGETHER);
      yield this.#part(firstCheck + from, some, (_, i) => some[i] !== undefined && some[i] !== null);
    }
  }

  /** Settles what nobody brought: errors, and rules that are skipped. */
  *rest(): Generator<SettledPart> {
    for (let from = 0; from < this.#settled.length; from += TOGETHER) {
      const some = this.#settled.subarray(from, from + TOGETHER);
      if (some.includes(0))
        yield this.#part(
          from,
          Array.from(some, () => undefined),
          () => true,
        );
    }
  }

  #part(first: number, raw: readonly unknown[], counts: (rule: Rule, i: number) => boolean): SettledPart {
    const rules = this.#outline.rules(first, first + raw.length);
    const part = { ...this.#scenario, rules };
    const results = settleResults(part, this.#options, raw).map((result, i) => {
      const rule = rules[i] as Rule;
      const isNew = this.#settled[first + i] === 0 && (counts(rule, i) || isSkipped(rule, this.#options));
      if (!isNew) return undefined;
      const vacuous = result.data.vacuous === true ? 1 : 0;
      this.#settled[first + i] = 1 + 2 * OUTCOMES.indexOf(result.outcome) + vacuous;
      return result;
    });
    const bad = results.flatMap((result, i) => (isBad(result) ? [i] : []));
    const failing = materialize(
      { ...part, rules: bad.map((i) => rules[i] as Rule) },
      { id: '' },
      { attempt: this.#attempt },
      bad.map((i) => results[i] as CheckResult),
    );
    const table = new TextTable();
    const rows = packRows(table, results);
    const evaluations = [{ position: 0, firstCheck: first, rows }];
    return { results: { texts: table.texts, evaluations }, failing };
  }

  /** Score, gates and verdict of all that is settled. */
  judgement(): Judgement {
    const results = Array.from(this.#settled, (mark) => standIns[mark - 1] as CheckResult);
    const rules = this.#outline.kinds((at) => isBad(results[at]));
    return judge({ rules }, this.#options, results);
  }
}
