import { Place, type Size } from './place.js';
import { type LineResult, type Measured, NotRun, type Row, resultOf } from './row.js';

/** Milliseconds after which a row has failed, by size: nothing hangs for good. */
const LONGEST_MS = { full: 10 * 60_000, quick: 5 * 60_000, tiny: 3 * 60_000 };

/** Measures within a time; what it had started is ended by the caller. */
async function within(row: Row, place: Place): Promise<Measured[]> {
  let timer: NodeJS.Timeout | undefined;
  const ms = LONGEST_MS[place.size];
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it was not over after ${ms / 1000} s`)), ms);
  });
  const measuring = row.measure(place);
  // A row that is late goes on until what it needs is taken away; what it says then is of no use.
  measuring.catch(() => {});
  return Promise.race([measuring, late]).finally(() => clearTimeout(timer));
}

function withoutFigures(row: Row, error: Error): LineResult[] {
  const verdict = error instanceof NotRun ? 'not run' : 'FAILED';
  const [faults, notes] = verdict === 'FAILED' ? [[error.message], []] : [[], [error.message]];
  return row.lines.map((line): LineResult => ({ ...line, verdict, rounds: [], faults, notes }));
}

async function measured(row: Row, place: Place): Promise<LineResult[]> {
  try {
    const found = await within(row, place);
    if (found.length !== row.lines.length)
      throw new Error(`it brought ${found.length} of ${row.lines.length} figures`);
    return row.lines.map((line, i) => resultOf(line, found[i] as Measured, place.size !== 'tiny'));
  } catch (error) {
    if (!(error instanceof NotRun)) place.say((error as Error).stack ?? String(error));
    return withoutFigures(row, error as Error);
  }
}

/**
 * Measures row after row, until it is told to end. `say` hears how it goes; `onPlace` of each row's place, so
 * that it can be cleared.
 */
export async function runRows(
  rows: readonly Row[],
  size: Size,
  say: (line: string) => void,
  onPlace: (place: Place) => void,
  ending: AbortSignal,
): Promise<LineResult[]> {
  const found = new Map<string, number>();
  const results: LineResult[] = [];
  for (const row of rows) {
    const place = new Place(size, found, say);
    onPlace(place);
    say(`${row.name}: ${row.lines.map(({ what }) => what).join('; ')}`);
    const started = performance.now();
    const lines = await measured(row, place);
    if (ending.aborted) break;
    await place.clearUp();
    const seconds = Math.round((performance.now() - started) / 1000);
    say(`${row.name}: ${lines.map(({ verdict }) => verdict).join(', ')}, after ${seconds} s`);
    results.push(...lines);
  }
  return results;
}
