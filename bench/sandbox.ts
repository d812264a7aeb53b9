import { sandboxTrouble } from '../src/runners/process/available.js';
import { LocalProcesses } from '../src/runners/process/processes.js';
import { hundredths, median, type Row } from './row.js';

/** Milliseconds that a command may cost more in the sandbox than without it. */
const MORE_MS = 10;
/** Times as long that many commands at once may take in it. */
const TIMES = 3;

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

async function many(runner: LocalProcesses): Promise<void> {
  let left = COMMANDS;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await command(runner, 'sleep', SLEEP);
    }),
  );
}

/** One command after the other, with and without in turn, so that noise meets both. */
async function single(runs: number): Promise<Row> {
  const rounds: Row['rounds'] = [];
  for (let i = -5; i < runs; i++) {
    const sluice = await timed(() => command(peers.sluice, 'true'));
    const peer = await timed(() => command(peers.peer, 'true'));
    if (i >= 0) rounds.push({ sluice: hundredths(sluice), peer: hundredths(peer) });
  }
  const [sluice, peer] = [median(rounds.map((r) => r.sluice)), median(rounds.map((r) => r.peer))];
  const ratio = hundredths(sluice - peer);
  const verdict = ratio <= MORE_MS ? 'met' : 'missed';
  return { row: 'sandbox: one command, ms; difference', sluice, peer, ratio, bar: MORE_MS, verdict, rounds };
}

async function concurrent(runs: number): Promise<Row> {
  const rounds: Row['rounds'] = [];
  for (let i = 0; i < runs; i++) {
    const peer = Math.round(await timed(() => many(peers.peer)));
    const sluice = Math.round(await timed(() => many(peers.sluice)));
    rounds.push({ sluice, peer });
  }
  const ratio = hundredths(median(rounds.map((r) => r.sluice / r.peer)));
  const [sluice, peer] = [median(rounds.map((r) => r.sluice)), median(rounds.map((r) => r.peer))];
  const verdict = ratio <= TIMES ? 'met' : 'missed';
  return {
    row: `sandbox: ${COMMANDS} of 50 ms, ${AT_ONCE} at once, ms`,
    sluice,
    peer,
    ratio,
    bar: TIMES,
    verdict,
    rounds,
  };
}

/** What bubblewrap costs a command; these bars are upper ones. */
export async function measureSandbox(quick: boolean): Promise<Row[]> {
  const trouble = await sandboxTrouble({ sandbox: 'bubblewrap' });
  if (trouble !== undefined) throw new Error(trouble);
  return [await single(quick ? 50 : 100), await concurrent(quick ? 1 : 3)];
}
