import type { Child } from '../harness/child-process.js';
import { hundredths, median, rate } from '../harness/figures.js';
import type { Place } from '../harness/place.js';
import { NotRun, type Row } from '../harness/row.js';
import { CHECKS, makeWorkload } from '../harness/workload.js';
import { hasDatabase, howToInstall, peerModule } from '../peers/install.js';
import { type JudgedRun, judgedFaults } from '../peers/judged.js';
import { bySluice } from './batch.js';

/** Runs that it has in hand at a time: with its default of 4 it is slower. */
const AT_ONCE = 200;

interface Evaluated {
  ms: number;
  judged: JudgedRun[];
}

interface Rounds {
  rounds: { sluice: number; peer: number; unstored: number }[];
  faults: string[];
}

/** In turn, so that noise meets both; promptfoo once more without its database. */
async function inTurn(place: Place, child: Child): Promise<Rounds> {
  const judged = place.pick(20_000, 5000, 200);
  const workload = makeWorkload(judged);
  const runs = workload.runs.slice(0, place.pick(1000, 500, 20));
  const redis = await place.redis();
  const byPromptfoo = async (stored: boolean) => {
    const evaluated = await child.ask<Evaluated>({ count: runs.length, stored });
    faults.push(...judgedFaults('promptfoo', evaluated.judged, runs));
    return rate(runs.length * CHECKS, evaluated.ms);
  };
  const faults: string[] = [];
  const rounds: Rounds['rounds'] = [];
  await child.ask<Evaluated>({ count: Math.min(runs.length, 100), stored: true });
  for (let i = 1; i <= place.pick(3, 1, 1); i++) {
    const ours = await bySluice(place, redis, workload, judged, 'auto');
    faults.push(...ours.faults);
    const round = { sluice: ours.rate, peer: await byPromptfoo(true), unstored: await byPromptfoo(false) };
    rounds.push(round);
    place.say(`round ${i}: ${round.sluice} checks/s, promptfoo ${round.peer}, unstored ${round.unstored}`);
  }
  return { rounds, faults };
}

/** The same rules and texts in promptfoo, by its own programming interface; both keep what they judge. */
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
    if (module === undefined || !hasDatabase())
      throw new NotRun(`promptfoo is not installed: ${howToInstall}`);
    const told = { url: module.url, atOnce: AT_ONCE };
    const child = await place.child('promptfoo', told, { flags: ['--no-warnings'] });
    const { rounds, faults } = await inTurn(place, child);
    const sluice = median(rounds.map((round) => round.sluice));
    const peer = Math.max(...rounds.map((round) => round.peer));
    const unstored = Math.max(...rounds.map((round) => round.unstored));
    const notes = [
      `promptfoo ${module.version}; without its database ${unstored} checks/s (${hundredths(sluice / unstored)} times as many)`,
    ];
    return [{ sluice, peer, figure: hundredths(sluice / peer), rounds, faults, notes }];
  },
};
