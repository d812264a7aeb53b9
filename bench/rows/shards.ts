import { judge } from '../harness/batch.js';
import { hundredths, median, rate } from '../harness/figures.js';
import { startFleet } from '../harness/fleet.js';
import type { Row } from '../harness/row.js';
import { CHECKS, makeWorkload } from '../harness/workload.js';

const SHARDS = [1, 2, 3];

/** The batch by fleets of one, two and three shards, all on one Redis: what spreading costs or gives. */
export const shards: Row = {
  name: 'shards',
  lines: [
    {
      row: 'three shards',
      what: 'the batch on three shards of one Redis, and on one',
      unit: 'checks/s',
      figure: 'times as many',
      direction: 'at least',
    },
  ],
  async measure(place) {
    const runs = place.pick(20_000, 5000, 200);
    const workload = makeWorkload(runs);
    const redis = await place.redis();
    const rounds: { sluice: number; peer: number; two: number }[] = [];
    const faults: string[] = [];
    for (let i = 1; i <= place.pick(2, 1, 1); i++) {
      const rates: number[] = [];
      for (const count of SHARDS) {
        await redis.clear();
        const fleet = await startFleet(place, redis.url, 'bench', { settings: { shards: count } });
        await judge(fleet.engine, workload, Math.min(runs, 1500), 'warm');
        const report = await judge(fleet.engine, workload, runs, 'judged');
        await fleet.stop();
        for (let shard = 0; shard < count; shard++)
          if (!(await redis.has(`bench:{${shard}}:eval:*`)))
            faults.push(`${count} shards: number ${shard} has no evaluation`);
        rates.push(rate(runs * CHECKS, report.ms));
        faults.push(...report.faults.map((fault) => `${count} shards: ${fault}`));
      }
      place.say(`round ${i}: checks/s with 1, 2 and 3 shards: ${rates.join(', ')}`);
      const [peer = 0, two = 0, sluice = 0] = rates;
      rounds.push({ sluice, peer, two });
    }
    const [sluice, peer] = [median(rounds.map((r) => r.sluice)), median(rounds.map((r) => r.peer))];
    const notes = [`two shards: ${median(rounds.map((r) => r.two))} checks/s`];
    return [{ sluice, peer, figure: hundredths(sluice / peer), rounds, faults, notes }];
  },
};
