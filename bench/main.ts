import { comparisonOf } from './harness/compare.js';
import { before, machine } from './harness/machine.js';
import { type Options, readOptions, USAGE, UsageError } from './harness/options.js';
import type { Place } from './harness/place.js';
import { redisVersion } from './harness/redis.js';
import { keep, keptNames, readKept } from './harness/results.js';
import { allWell } from './harness/row.js';
import { runRows } from './harness/run.js';
import { aligned, tableOf } from './harness/table.js';
import { installPeers } from './peers/install.js';
import { ROWS } from './rows/built-in.js';

/** Exit codes, as the command line has them. */
const [WELL, NOT_WELL, USED_WRONGLY, NO_REDIS] = [0, 1, 2, 3];

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

function list(): string {
  const lines = ROWS.flatMap(({ name, lines: of }) =>
    of.map(({ row, what, unit, figure, direction, bar }) => [
      name,
      row,
      what,
      unit,
      bar === undefined ? `${figure}, no bar` : `${direction} ${bar} ${figure}`,
    ]),
  );
  return aligned([['--only', 'row', 'what', 'unit', 'bar'], ...lines], []).join('\n');
}

/** The two results that are meant. */
function compared(files: readonly string[]): string {
  const names = keptNames();
  const given = files.length === 0 ? names.slice(-2) : [...files, ...names.slice(-1)].slice(0, 2);
  if (given.length < 2) throw new UsageError('There are no two results in bench/results to compare.');
  try {
    const [a, b] = given.map((name) => readKept(name));
    return a === undefined || b === undefined ? '' : comparisonOf(a, b);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function run({ size, rows }: Extract<Options, { kind: 'run' }>): Promise<number> {
  if (redisVersion() === undefined) {
    say('There is no redis-server on the PATH; without it nothing can be measured.');
    return NO_REDIS;
  }
  const [at, started, earlier] = [new Date().toISOString(), performance.now(), before()];
  let place: Place | undefined;
  const ending = new AbortController();
  const end = async (signal: NodeJS.Signals) => {
    ending.abort();
    say(`${signal}: ending what was started`);
    await place?.clearUp();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  const wanted = ROWS.filter(({ name }) => rows.includes(name));
  const onPlace = (next: Place) => {
    place = next;
  };
  const results = await runRows(wanted, size, say, onPlace, ending.signal);
  if (ending.signal.aborted) return new Promise(() => {});
  const seconds = Math.round((performance.now() - started) / 1000);
  const kept = { at, size, seconds, machine: machine(), before: earlier, rows: results };
  console.log(tableOf(kept));
  console.log(`Kept in bench/results/${keep(kept)}`);
  return allWell(results) ? WELL : NOT_WELL;
}

async function main(): Promise<number> {
  const options = readOptions(
    process.argv.slice(2),
    ROWS.map(({ name }) => name),
  );
  if (options.kind === 'run') return run(options);
  if (options.kind === 'install-peers') return (await installPeers(say)) ? WELL : NOT_WELL;
  if (options.kind === 'compare') console.log(compared(options.files));
  else console.log(options.kind === 'list' ? list() : USAGE);
  return WELL;
}

async function exitCode(): Promise<number> {
  try {
    return await main();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    say(error.message);
    return USED_WRONGLY;
  }
}

const code = await exitCode();
// A row that was late may still ask for a Redis that is gone: it must not keep this process.
process.stdout.write('', () => process.exit(code));
