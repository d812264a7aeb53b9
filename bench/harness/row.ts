import type { Place } from './place.js';

/** Which side of its bar a figure must be on. */
export type Direction = 'at least' | 'at most';

/** One line of the table, and what it promises. */
export interface Line {
  /** Name in the table, in results and in comparisons: it stays the same over the years. */
  row: string;
  what: string;
  /** Of what Sluice and the peer are measured in. */
  unit: string;
  /** What the last figure means: times as fast, milliseconds more. */
  figure: string;
  direction: Direction;
  /** Absent: the line informs and promises nothing. */
  bar?: number;
}

/** What one round brought; the two sides and whatever else is worth keeping. */
export interface Round {
  sluice: number;
  peer?: number;
  [more: string]: number | undefined;
}

/** What was measured for one line. */
export interface Measured {
  sluice: number;
  peer?: number;
  /** What is held against the bar. */
  figure: number;
  rounds: Round[];
  /** What was lost, doubled or judged otherwise than it should be; empty: delivery was exact. */
  faults: string[];
  /** Why the figure proves nothing. */
  invalid?: string;
  notes?: string[];
}

/** One measurement, in one file: one line of the table or several. */
export interface Row {
  /** Name for `--only`. */
  name: string;
  lines: readonly Line[];
  /** As many as there are lines. Throws NotRun when this machine lacks something. */
  measure(place: Place): Promise<Measured[]>;
}

export type Verdict = 'met' | 'missed' | 'measured' | 'INVALID' | 'FAILED' | 'not run';

/** What is kept of a line. */
export interface LineResult extends Line {
  verdict: Verdict;
  sluice?: number;
  peer?: number;
  ratio?: number;
  rounds: Round[];
  faults: string[];
  notes: string[];
}

/** A row that cannot be measured here; the message says what is missing, and how it is had. */
export class NotRun extends Error {}

/** Whether a figure keeps what a line promises. */
const keeps = ({ bar, direction }: Line, figure: number): boolean =>
  bar === undefined || (direction === 'at least' ? figure >= bar : figure <= bar);

/** The verdict over what was measured; `judged`: whether the sizes were such that bars mean something. */
export function verdictOf(line: Line, measured: Measured, judged: boolean): Verdict {
  if (measured.faults.length > 0) return 'FAILED';
  if (!Number.isFinite(measured.figure)) return 'FAILED';
  if (line.bar === undefined || !judged) return 'measured';
  if (measured.invalid !== undefined) return 'INVALID';
  return keeps(line, measured.figure) ? 'met' : 'missed';
}

export function resultOf(line: Line, measured: Measured, judged: boolean): LineResult {
  const verdict = verdictOf(line, measured, judged);
  const faults = [...measured.faults];
  if (!Number.isFinite(measured.figure)) faults.push(`no figure: ${measured.figure}`);
  return {
    ...line,
    verdict,
    sluice: measured.sluice,
    ...(measured.peer === undefined ? {} : { peer: measured.peer }),
    ratio: measured.figure,
    rounds: measured.rounds,
    faults,
    notes: [...(measured.invalid === undefined ? [] : [measured.invalid]), ...(measured.notes ?? [])],
  };
}

/** Whether the bench as a whole kept its promises: the exit code follows from it. */
export const allWell = (results: readonly Pick<LineResult, 'verdict'>[]): boolean =>
  results.every(({ verdict }) => verdict === 'met' || verdict === 'measured' || verdict === 'not run');
