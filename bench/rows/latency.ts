import { evaluationsOf } from '../../src/compose/intake.js';
import { deliveryFaults } from '../harness/exact.js';
import { hundredths, median, quantile } from '../harness/figures.js';
import { type BenchFleet, startFleet } from '../harness/fleet.js';
import type { Place } from '../harness/place.js';
import type { Row } from '../harness/row.js';
import { expectedOf, makeWorkload, recordOf, type Workload } from '../harness/workload.js';
import { RawFlows } from '../peers/raw-flows.js';

/** `correlationid` of all evaluations of this row. */
const CORRELATION = 'latency';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Follows the outbox, and tells of each decision as soon as it is there. */
class Decisions {
  readonly #waiting = new Map<string, (at: number) => void>();
  readonly #outbox: BenchFleet['engine']['store']['outbox'];
  #following: Promise<void> | undefined;
  #ended = false;

  constructor({ engine }: BenchFleet) {
    this.#outbox = engine.store.outbox;
  }

  async begin(): Promise<void> {
    const from = await this.#outbox.lastEvent();
    this.#following = this.#follow(from);
  }

  /** `performance.now()` at which the run's decision was read. */
  of(run: string): Promise<number> {
    return new Promise((resolve) => this.#waiting.set(run, resolve));
  }

  async #follow(from: string): Promise<void> {
    for (let cursor = from; !this.#ended; ) {
      const entries = await this.#outbox.events(cursor, 100, 500);
      const at = performance.now();
      cursor = entries.at(-1)?.position ?? cursor;
      for (const { event } of entries) {
        const { type, data } = JSON.parse(event.json) as { type: string; data: { run: string } };
        if (!/\.evaluation\.(passed|failed)\./.test(type)) continue;
        this.#waiting.get(data.run)?.(at);
        this.#waiting.delete(data.run);
      }
    }
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#following;
  }
}

/** One evaluation and one flow in turn, each alone: what meets one of them meets the other. */
async function inTurn(place: Place, fleet: BenchFleet, flows: RawFlows, workload: Workload) {
  const intake = evaluationsOf(fleet.engine);
  const decisions = new Decisions(fleet);
  await decisions.begin();
  const warm = place.pick(30, 20, 3);
  const rounds: { sluice: number; peer: number }[] = [];
  for (const [i, run] of workload.runs.entries()) {
    const decided = decisions.of(run.id);
    const started = performance.now();
    await intake.submit({
      origin: '/bench',
      key: run.id,
      actor: 'bench',
      correlation: CORRELATION,
      scenario: { inline: workload.scenarioGiven },
      run: { inline: recordOf(i) },
    });
    const sluice = (await decided) - started;
    // What comes after the event, such as the end of the job, is not to meet the peer.
    await pause(10);
    const submitted = performance.now();
    const { ended } = flows.judgeOne(run, 'latency');
    await ended;
    const peer = performance.now() - submitted;
    await pause(10);
    if (i >= warm) rounds.push({ sluice: hundredths(sluice), peer: hundredths(peer) });
  }
  await decisions.end();
  return rounds;
}

/** One evaluation on an idle fleet, submit to event in the outbox, against a raw flow's submit to parent. */
export const latency: Row = {
  name: 'latency',
  lines: [
    {
      row: 'latency',
      what: 'one evaluation of ten rules on an idle fleet, submit to event, median',
      unit: 'ms',
      figure: 'times as long',
      direction: 'at most',
      bar: 1.5,
    },
  ],
  async measure(place) {
    const workload = makeWorkload(place.pick(230, 120, 10));
    const redis = await place.redis();
    const fleet = await startFleet(place, redis.url, 'bench');
    const flows = await RawFlows.start(place, redis.url);
    const rounds = await inTurn(place, fleet, flows, workload);
    const expected = new Map(workload.runs.map((run) => [run.id, expectedOf(run.text)]));
    const faults = await deliveryFaults(fleet.engine.store.outbox, '', CORRELATION, expected);
    const [ours, theirs] = [rounds.map((r) => r.sluice), rounds.map((r) => r.peer)];
    const [sluice, peer] = [median(ours), median(theirs)];
    const slow = `95 in 100 within ${quantile(ours, 0.95)} ms, raw flows within ${quantile(theirs, 0.95)} ms`;
    place.say(`${rounds.length} each: ${sluice} ms, raw flows ${peer} ms; ${slow}`);
    return [{ sluice, peer, figure: hundredths(sluice / peer), rounds, faults, notes: [slow] }];
  },
};
