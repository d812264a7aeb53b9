/** Score over non-Ansible rules (DESIGN 3.4). */
export interface Score {
  passed: number;
  total: number;
  /** Integer 0-100, rounded down; null when no rule counted. */
  percent: number | null;
}

export interface Gate {
  passed: boolean;
  reason: string;
}

export interface Gates {
  compliance: Gate;
  resolution: Gate;
}

export interface ResultCounts {
  passed: number;
  failed: number;
  errored: number;
  skipped: number;
  /** Results with `data.vacuous`. */
  vacuous: number;
  /** Informational results that failed or errored. */
  advisories: number;
}

/** What the gates made of a set of results. */
export interface Judgement {
  passed: boolean;
  /** Disjoint: `errored` is not passed with at least one error among the results. */
  status: 'passed' | 'failed' | 'errored';
  score: Score;
  gates: Gates;
  counts: ResultCounts;
}

/**
 * The immutable outcome of an evaluation, as it is stored; what was judged stands in the manifest
 * entry of the same position.
 */
export interface Decision extends Judgement {
  scenarioKey: string;
  /** Who asked for the evaluation; null: not known. */
  actor: string | null;
  /** SHA-256 of its chunk's results as they are stored. */
  resultsDigest: string;
  /** Milliseconds since the epoch. */
  decidedAt: number;
}

/** A judgement as it is decided. */
export function decisionOf(
  { passed, status, score, gates, counts }: Judgement,
  more: Omit<Decision, keyof Judgement>,
): Decision {
  return { passed, status, score, gates, counts, ...more };
}

const judgementTexts = new WeakMap<Gates, { score: Score; counts: ResultCounts; text: string }>();

/** Score, gates and counts as JSON members. Those of a judgement that many evaluations share are made once. */
export function judgementText({
  score,
  gates,
  counts,
}: Pick<Judgement, 'score' | 'gates' | 'counts'>): string {
  const known = judgementTexts.get(gates);
  if (known !== undefined && known.score === score && known.counts === counts) return known.text;
  const [s, g, c] = [score, gates, counts].map((part) => JSON.stringify(part));
  const text = `"score":${s},"gates":${g},"counts":${c}`;
  judgementTexts.set(gates, { score, counts, text });
  return text;
}

/** A decision as it is stored: its JSON, put together from what many share. */
export function decisionText(decision: Decision): string {
  const { passed, status, scenarioKey, actor, resultsDigest, decidedAt } = decision;
  return (
    `{"passed":${passed},"status":"${status}",${judgementText(decision)},"scenarioKey":${JSON.stringify(scenarioKey)},` +
    `"actor":${JSON.stringify(actor)},"resultsDigest":"${resultsDigest}","decidedAt":${decidedAt}}`
  );
}
