import type { Family } from './families.js';

/** Series of one metric that a process keeps; what comes after has `other` for every label. */
export const MOST_SERIES = 1000;

const SEPARATOR = '\u0000';
const OTHER = 'other';

/** Sums of a histogram's series: observations in each bucket (the last has no upper bound), and their sum. */
export interface Distribution {
  counts: number[];
  sum: number;
}

/** Values by the labels of their series, joined. */
export type Changes = Record<string, Record<string, number | Distribution>>;

/** One metric's counts by their labels. */
export class Counts {
  readonly #values = new Map<string, number>();
  readonly #labels: number;

  constructor({ labels }: Family) {
    this.#labels = labels.length;
  }

  add(count: number, ...labels: string[]): void {
    const key = keyOf(this.#values, labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + count);
  }

  set(value: number, ...labels: string[]): void {
    this.#values.set(keyOf(this.#values, labels), value);
  }

  entries(): [labels: string[], value: number][] {
    return [...this.#values].map(([key, value]) => [labelsOf(key, this.#labels), value]);
  }

  /** What was counted since the last time; it is counted here no more. */
  take(): Record<string, number> {
    const taken = Object.fromEntries(this.#values);
    this.#values.clear();
    return taken;
  }

  /** Adds what another process counted; whatever is no number is passed over. */
  merge(taken: Record<string, unknown>): void {
    for (const [key, value] of Object.entries(taken))
      if (isCount(value)) this.add(value, ...labelsOf(key, this.#labels));
  }
}

/** One metric's distributions by their labels. */
export class Distributions {
  readonly #values = new Map<string, Distribution>();
  readonly #labels: number;
  readonly #bounds: readonly number[];

  constructor({ labels, buckets = [] }: Family) {
    this.#labels = labels.length;
    this.#bounds = buckets;
  }

  observe(value: number, ...labels: string[]): void {
    const series = this.#of(labels);
    let place = 0;
    while (place < this.#bounds.length && value > (this.#bounds[place] as number)) place += 1;
    series.counts[place] = (series.counts[place] ?? 0) + 1;
    series.sum += value;
  }

  entries(): [labels: string[], value: Distribution][] {
    return [...this.#values].map(([key, value]) => [labelsOf(key, this.#labels), value]);
  }

  take(): Record<string, Distribution> {
    const taken = Object.fromEntries(this.#values);
    this.#values.clear();
    return taken;
  }

  merge(taken: Record<string, unknown>): void {
    for (const [key, value] of Object.entries(taken)) {
      const { counts, sum } = (value ?? {}) as Partial<Distribution>;
      const fits =
        Array.isArray(counts) && counts.length === this.#bounds.length + 1 && counts.every(isCount);
      if (!fits || !isCount(sum)) continue;
      const series = this.#of(labelsOf(key, this.#labels));
      series.sum += sum;
      counts.forEach((count, n) => {
        series.counts[n] = (series.counts[n] ?? 0) + count;
      });
    }
  }

  #of(labels: readonly string[]): Distribution {
    const key = keyOf(this.#values, labels);
    let series = this.#values.get(key);
    if (series === undefined) {
      series = { counts: new Array<number>(this.#bounds.length + 1).fill(0), sum: 0 };
      this.#values.set(key, series);
    }
    return series;
  }
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

function keyOf(values: ReadonlyMap<string, unknown>, labels: readonly string[]): string {
  const key = labels.length === 1 ? (labels[0] as string) : labels.join(SEPARATOR);
  return values.has(key) || values.size < MOST_SERIES ? key : labels.map(() => OTHER).join(SEPARATOR);
}

function labelsOf(key: string, count: number): string[] {
  const labels = count === 0 ? [] : key.split(SEPARATOR);
  return Array.from({ length: count }, (_, n) => labels[n] ?? OTHER);
}
