import type { Outbox } from '../../src/ports/store.js';
import type { Expected, Run } from './workload.js';

/** Faults that are told one by one; of all others there is a count. */
const MOST_TOLD = 5;

/** What must have been decided, by run. */
export type Expectations = ReadonlyMap<string, Expected>;

interface Told {
  type: string;
  correlationid: string;
  data: { run: string; score: { passed: number } };
}

/** Collects what is wrong, and tells the first few of it. */
export class Faults {
  readonly #told: string[] = [];
  #more = 0;

  add(fault: string): void {
    if (this.#told.length < MOST_TOLD) this.#told.push(fault);
    else this.#more += 1;
  }

  list(): string[] {
    return this.#more === 0 ? [...this.#told] : [...this.#told, `and ${this.#more} more like these`];
  }
}

/** Compares decision events with what should have been decided. */
export class DeliveryCheck {
  readonly #batch: string;
  readonly #expected: (run: string) => Expected | undefined;
  readonly #seen = new Set<string>();
  readonly #faults = new Faults();

  /** `expected`: of each run of this batch; undefined: it has no such run. */
  constructor(batch: string, expected: (run: string) => Expected | undefined) {
    this.#batch = batch;
    this.#expected = expected;
  }

  take(json: string): void {
    const { type, correlationid, data } = JSON.parse(json) as Told;
    const decided = /\.evaluation\.(passed|failed)\./.exec(type);
    if (decided === null || correlationid !== this.#batch) return;
    const { run } = data;
    if (this.#seen.has(run)) this.#faults.add(`${run} was decided twice`);
    this.#seen.add(run);
    const expected = this.#expected(run);
    const passed = decided[1] === 'passed';
    if (expected === undefined) this.#faults.add(`${run} was never submitted`);
    else if (passed !== expected.passed || data.score.passed !== expected.score)
      this.#faults.add(
        `${run} ${passed ? 'passed' : 'failed'} with ${data.score.passed}, but should have ${
          expected.passed ? 'passed' : 'failed'
        } with ${expected.score}`,
      );
  }

  /** What is wrong, when `count` runs should have been decided. */
  faults(count: number): string[] {
    const missing = count - this.#seen.size;
    if (missing !== 0) this.#faults.add(`${this.#seen.size} of ${count} runs have a decision`);
    return this.#faults.list();
  }
}

/** Every event after `from`, page by page. */
export async function* eventsAfter(outbox: Pick<Outbox, 'events'>, from: string): AsyncIterable<string> {
  for (let cursor = from; ; ) {
    const entries = await outbox.events(cursor, 1000, 0);
    if (entries.length === 0) return;
    for (const { event } of entries) yield event.json;
    cursor = entries.at(-1)?.position ?? cursor;
  }
}

const known = new WeakMap<Run, Expected>();

/** What these runs should come to; told once for each run. */
export function expectationsOf(runs: readonly Run[], tell: (text: string) => Expected): Expectations {
  return new Map(
    runs.map((run): [string, Expected] => {
      const expected = known.get(run) ?? tell(run.text);
      known.set(run, expected);
      return [run.id, expected];
    }),
  );
}

/** What is wrong with the deliveries of a batch; empty: each run has one decision, and the right one. */
export async function deliveryFaults(
  outbox: Pick<Outbox, 'events'>,
  from: string,
  batch: string,
  expected: Expectations,
): Promise<string[]> {
  const check = new DeliveryCheck(batch, (run) => expected.get(run));
  for await (const json of eventsAfter(outbox, from)) check.take(json);
  return check.faults(expected.size);
}
