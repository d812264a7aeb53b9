import { availableParallelism } from 'node:os';
import { hundredths, rate } from '../harness/figures.js';
import { NotRun, type Row } from '../harness/row.js';
import { CHECKS, makeWorkload } from '../harness/workload.js';
import { CeleryPeer, celeryVersion } from '../peers/celery.js';
import { howToInstall } from '../peers/install.js';
import { judgedFaults } from '../peers/judged.js';
import { batchRate } from './batch.js';

/** Chords of ten tasks and their callback in Celery, on a Redis of its own. */
export const celery: Row = {
  name: 'celery',
  lines: [
    {
      row: 'celery',
      what: 'the batch, against Celery chords of ten tasks with the same text by reference',
      unit: 'checks/s',
      figure: 'times as many',
      direction: 'at least',
    },
  ],
  async measure(place) {
    const version = celeryVersion();
    if (version === undefined) throw new NotRun(`Celery is not installed: ${howToInstall}`);
    const ours = await batchRate(place);
    const { runs } = makeWorkload(place.pick(300, 150, 10));
    const redis = await place.redis();
    const peer = await CeleryPeer.start(place, redis.url, availableParallelism());
    await peer.judge(runs.slice(0, 20), 'warm');
    const faults = [...ours.faults];
    const rounds: { sluice: number; peer: number }[] = [];
    for (let i = 1; i <= place.pick(2, 1, 1); i++) {
      const { ms, judged } = await peer.judge(runs, `judged-${i}`);
      faults.push(...judgedFaults('Celery', judged, runs));
      rounds.push({ sluice: ours.rate, peer: rate(runs.length * CHECKS, ms) });
      place.say(`round ${i}: Celery ${rounds.at(-1)?.peer} checks/s`);
    }
    const best = Math.max(...rounds.map((round) => round.peer));
    const notes = [`Celery ${version}`];
    return [{ sluice: ours.rate, peer: best, figure: hundredths(ours.rate / best), rounds, faults, notes }];
  },
};
