import { hundredths, rate } from '../harness/figures.js';
import { NotRun, type Row } from '../harness/row.js';
import { CHECKS, makeWorkload } from '../harness/workload.js';
import { howToInstall, peerModule } from '../peers/install.js';
import { type JudgedRun, judgedFaults } from '../peers/judged.js';
import { postgresPrograms, startPostgres } from '../peers/postgres.js';
import { batchRate } from './batch.js';

/** graphile-worker on a PostgreSQL of its own: one job a check, and nothing that waits for all of them. */
export const graphile: Row = {
  name: 'graphile',
  lines: [
    {
      row: 'graphile-worker',
      what: 'the batch, against graphile-worker with one job a check and no decision',
      unit: 'checks/s',
      figure: 'times as many',
      direction: 'at least',
    },
  ],
  async measure(place) {
    const module = peerModule('graphile-worker');
    if (module === undefined) throw new NotRun(`graphile-worker is not installed: ${howToInstall}`);
    const programs = postgresPrograms();
    if (programs === undefined) throw new NotRun(`PostgreSQL is not installed: ${howToInstall}`);
    const ours = await batchRate(place);
    const { runs } = makeWorkload(place.pick(1000, 500, 20));
    const postgres = await startPostgres(programs);
    place.later(() => postgres.stop());
    const child = await place.child('graphile', { url: module.url, database: postgres.url });
    await child.ask(Math.min(runs.length, 100));
    const faults = [...ours.faults];
    const rounds: { sluice: number; peer: number }[] = [];
    for (let i = 1; i <= place.pick(2, 1, 1); i++) {
      const { ms, judged } = await child.ask<{ ms: number; judged: JudgedRun[] }>(runs.length);
      faults.push(...judgedFaults('graphile-worker', judged, runs));
      rounds.push({ sluice: ours.rate, peer: rate(runs.length * CHECKS, ms) });
      place.say(`round ${i}: graphile-worker ${rounds.at(-1)?.peer} checks/s`);
    }
    const peer = Math.max(...rounds.map((round) => round.peer));
    const notes = [`graphile-worker ${module.version}, without fan-in`];
    return [{ sluice: ours.rate, peer, figure: hundredths(ours.rate / peer), rounds, faults, notes }];
  },
};
