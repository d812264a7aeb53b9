import { hundredths, rate } from '../harness/figures.js';
import { NotRun, type Row } from '../harness/row.js';
import { CHECKS, makeWorkload } from '../harness/workload.js';
import { howToInstall, peerModule } from '../peers/install.js';
import { type JudgedRun, judgedFaults } from '../peers/judged.js';
import { batchRate } from './batch.js';

/** Runs that it has in hand at a time: with its default of 4 it is slower. */
const AT_ONCE = 200;

interface Evaluated {
  ms: number;
  judged: JudgedRun[];
}

/** The same rules and texts in promptfoo, by its own programming interface, without its cache and database. */
export const promptfoo: Row = {
  name: 'promptfoo',
  lines: [
    {
      row: 'promptfoo',
      what: 'the batch, against the same rules in promptfoo',
      unit: 'checks/s',
      figure: 'times as many',
      direction: 'at least',
      bar: 50,
    },
  ],
  async measure(place) {
    const module = peerModule('promptfoo');
    if (module === undefined) throw new NotRun(`promptfoo is not installed: ${howToInstall}`);
    const ours = await batchRate(place);
    const { runs } = makeWorkload(place.pick(1000, 500, 20));
    const child = await place.child(
      'promptfoo',
      { url: module.url, atOnce: AT_ONCE },
      { flags: ['--no-warnings'] },
    );
    await child.ask<Evaluated>(Math.min(runs.length, 100));
    const faults = [...ours.faults];
    const rounds: { sluice: number; peer: number }[] = [];
    for (let i = 1; i <= place.pick(3, 1, 1); i++) {
      const evaluated = await child.ask<Evaluated>(runs.length);
      faults.push(...judgedFaults('promptfoo', evaluated.judged, runs));
      rounds.push({ sluice: ours.rate, peer: rate(runs.length * CHECKS, evaluated.ms) });
      place.say(`round ${i}: promptfoo ${rounds.at(-1)?.peer} checks/s`);
    }
    await child.stop();
    const peer = Math.max(...rounds.map((round) => round.peer));
    return [
      {
        sluice: ours.rate,
        peer,
        figure: hundredths(ours.rate / peer),
        rounds,
        faults,
        notes: [`promptfoo ${module.version}`],
      },
    ];
  },
};
