import type { CheckSample, CommandResult, DeliveryCounts, Meter, PackEnd } from '../ports/meter.js';
import { type Family, PROCESS } from './families.js';
import { type Changes, Counts, type Distribution, Distributions } from './series.js';

type Kept = { [Name in keyof typeof PROCESS]: Counts | Distributions };

const open = (family: Family) =>
  family.type === 'histogram' ? new Distributions(family) : new Counts(family);

/** A metric with its series, to be written on the page. */
export interface Written {
  family: Family;
  series: [labels: string[], value: number | Distribution][];
}

/** Counts in memory; written down when somebody asks. */
export class Recorder implements Meter {
  readonly #kept = Object.fromEntries(
    Object.entries(PROCESS).map(([name, family]) => [name, open(family)]),
  ) as Kept;

  constructor(build?: { version: string; role: string }) {
    if (build !== undefined) this.#counts('build').set(1, build.version, build.role);
  }

  checks(samples: readonly CheckSample[]): void {
    const outcomes = new Map<string, Map<string, number>>();
    const seconds = this.#distributions('checkSeconds');
    for (const sample of samples) {
      const counts = outcomes.get(sample.outcome) ?? new Map<string, number>();
      if (counts.size === 0) outcomes.set(sample.outcome, counts);
      counts.set(sample.validator, (counts.get(sample.validator) ?? 0) + 1);
      seconds.observe(sample.ms / 1000, sample.kind);
    }
    for (const [outcome, counts] of outcomes)
      for (const [validator, count] of counts) this.#counts('checks').add(count, outcome, validator);
  }

  pack(queue: string, end: PackEnd, seconds: number, evaluations: number): void {
    this.#counts('packs').add(1, queue, end);
    this.#distributions('packSeconds').observe(seconds, queue);
    if (end === 'done') this.#distributions('packSize').observe(evaluations);
  }

  retried(queue: string): void {
    this.#counts('retries').add(1, queue);
  }

  stalled(queue: string): void {
    this.#counts('stalled').add(1, queue);
  }

  accepted(evaluations: number): void {
    this.#counts('accepted').add(evaluations);
  }

  decided(status: 'passed' | 'failed' | 'errored'): void {
    this.#counts('decisions').add(1, status);
  }

  decide(seconds: number): void {
    this.#distributions('decideSeconds').observe(seconds);
  }

  deliveries({ name, kind }: { name: string; kind: string }, counts: DeliveryCounts): void {
    for (const result of ['delivered', 'retried', 'dead'] as const)
      if (counts[result] > 0) this.#counts('deliveries').add(counts[result], name, kind, result);
  }

  delivery(kind: string, seconds: number): void {
    this.#distributions('deliverySeconds').observe(seconds, kind);
  }

  command(result: CommandResult): void {
    this.#counts('commands').add(1, result);
  }

  request(operation: string | undefined, status: number): void {
    this.#counts('requests').add(1, operation ?? 'other', `${Math.floor(status / 100)}xx`);
  }

  redis(seconds: number): void {
    this.#distributions('redisSeconds').observe(seconds);
  }

  target(workers: number): void {
    this.#counts('target').set(workers);
  }

  /** Everything that was counted since the last time, to be added up by another process. */
  take(): Changes {
    return Object.fromEntries(Object.entries(this.#kept).map(([name, kept]) => [name, kept.take()]));
  }

  /** Adds what another process counted, without what each says of itself; what is none is passed over. */
  merge(changes: unknown): void {
    if (typeof changes !== 'object' || changes === null) return;
    for (const [name, kept] of Object.entries(this.#kept)) {
      const taken = (changes as Record<string, unknown>)[name];
      const family: Family = PROCESS[name as keyof typeof PROCESS];
      if (family.type !== 'gauge' && typeof taken === 'object' && taken !== null)
        kept.merge(taken as Record<string, unknown>);
    }
  }

  written(): Written[] {
    return Object.entries(this.#kept).map(([name, kept]) => ({
      family: PROCESS[name as keyof typeof PROCESS],
      series: kept.entries(),
    }));
  }

  #counts(name: keyof typeof PROCESS): Counts {
    return this.#kept[name] as Counts;
  }

  #distributions(name: keyof typeof PROCESS): Distributions {
    return this.#kept[name] as Distributions;
  }
}
