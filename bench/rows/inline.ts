import { judge } from '../harness/batch.js';
import { hundredths, median, rate } from '../harness/figures.js';
import { startFleet } from '../harness/fleet.js';
import type { Row } from '../harness/row.js';
import { CHECKS, makeWorkload } from '../harness/workload.js';

interface InlineAnswer {
  ms: number;
  faults: string[];
}

/** The inline engine, one thread of a process of its own, against a fleet with one executor. */
export const inline: Row = {
  name: 'inline',
  lines: [
    {
      row: 'inline',
      what: 'the batch by the inline engine, one thread, against a fleet with one executor',
      unit: 'checks/s',
      figure: 'times as many',
      direction: 'at least',
      bar: 1.3,
    },
  ],
  async measure(place) {
    const runs = place.pick(20_000, 5000, 200);
    const warm = place.pick(2000, 1500, 50);
    const workload = makeWorkload(runs);
    const redis = await place.redis();
    const rounds: { sluice: number; peer: number }[] = [];
    const faults: string[] = [];
    for (let i = 1; i <= place.pick(3, 2, 1); i++) {
      await redis.clear();
      const fleet = await startFleet(place, redis.url, 'bench');
      await judge(fleet.engine, workload, warm, 'warm');
      const byFleet = await judge(fleet.engine, workload, runs, 'judged');
      await fleet.stop();
      const child = await place.child('inline', { runs, warm });
      const alone = await child.ask<InlineAnswer>();
      await child.stop();
      faults.push(...byFleet.faults, ...alone.faults);
      const round = { sluice: rate(runs * CHECKS, alone.ms), peer: rate(runs * CHECKS, byFleet.ms) };
      place.say(`round ${i}: inline ${round.sluice} checks/s, fleet ${round.peer}`);
      rounds.push(round);
    }
    const figure = hundredths(median(rounds.map(({ sluice, peer }) => sluice / peer)));
    const [sluice, peer] = [median(rounds.map((r) => r.sluice)), median(rounds.map((r) => r.peer))];
    return [{ sluice, peer, figure, rounds, faults }];
  },
};
