import { sandboxTrouble } from '../../src/runners/process/available.js';
import { LocalProcesses } from '../../src/runners/process/processes.js';
import { hundredths, median } from '../harness/figures.js';
import type { Place } from '../harness/place.js';
import { type Measured, NotRun, type Row } from '../harness/row.js';

const [COMMANDS, AT_ONCE, SLEEP] = [200, 50, '0.05'];

function processes(sandbox: 'bubblewrap' | 'off'): LocalProcesses {
  const limits = { memoryMiB: 512, processes: 128, scratchMiB: 64, outputCap: 65_536, graceMs: 2_000 };
  return new LocalProcesses({ sandbox, ...limits, paths: ['/'] });
}

const peers = { sluice: processes('bubblewrap'), peer: processes('off') };

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

async function command(runner: LocalProcesses, ...argv: [string, ...string[]]): Promise<void> {
  const { signal } = new AbortController();
  const outcome = await runner.run({ argv, network: false, deadlineMs: 60_000 }, signal);
  if (outcome.kind === 'failure') throw new Error(outcome.message);
  if (outcome.exitCode !== 0) throw new Error(`${argv[0]} ended with ${outcome.exitCode}: ${outcome.stderr}`);
}

async function many(runner: LocalProcesses, commands: number): Promise<void> {
  let left = commands;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await command(runner, 'sleep', SLEEP);
    }),
  );
}

const summary = (rounds: { sluice: number; peer: number }[], figure: number): Measured => ({
  sluice: median(rounds.map(({ sluice }) => sluice)),
  peer: median(rounds.map(({ peer }) => peer)),
  figure: hundredths(figure),
  rounds,
  faults: [],
});

/** One command after the other, with and without in turn, so that noise meets both. */
async function single(place: Place): Promise<Measured> {
  const rounds: { sluice: number; peer: number }[] = [];
  for (let i = -5; i < place.pick(100, 50, 5); i++) {
    const sluice = await timed(() => command(peers.sluice, 'true'));
    const peer = await timed(() => command(peers.peer, 'true'));
    if (i >= 0) rounds.push({ sluice: hundredths(sluice), peer: hundredths(peer) });
  }
  const [sluice, peer] = [median(rounds.map((r) => r.sluice)), median(rounds.map((r) => r.peer))];
  return summary(rounds, sluice - peer);
}

async function concurrent(place: Place): Promise<Measured> {
  const rounds: { sluice: number; peer: number }[] = [];
  const commands = place.pick(COMMANDS, COMMANDS, AT_ONCE);
  for (let i = 0; i < place.pick(3, 1, 1); i++) {
    const peer = Math.round(await timed(() => many(peers.peer, commands)));
    const sluice = Math.round(await timed(() => many(peers.sluice, commands)));
    rounds.push({ sluice, peer });
  }
  return summary(rounds, median(rounds.map(({ sluice, peer }) => sluice / peer)));
}

/** What bubblewrap costs a command. */
export const sandbox: Row = {
  name: 'sandbox',
  lines: [
    {
      row: 'sandbox, one command',
      what: 'one command in the sandbox, and without it',
      unit: 'ms',
      figure: 'ms more',
      direction: 'at most',
      bar: 10,
    },
    {
      row: 'sandbox, many commands',
      what: `${COMMANDS} commands of 50 ms, ${AT_ONCE} at once, in the sandbox and without it`,
      unit: 'ms',
      figure: 'times as long',
      direction: 'at most',
      bar: 3,
    },
  ],
  async measure(place) {
    const trouble = await sandboxTrouble({ sandbox: 'bubblewrap' });
    if (trouble !== undefined) throw new NotRun(trouble);
    return [await single(place), await concurrent(place)];
  },
};
