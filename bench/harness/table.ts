import { machineLine } from './machine.js';
import type { Results } from './results.js';
import type { LineResult } from './row.js';

const COLUMNS = ['row', 'unit', 'sluice', 'peer', 'ratio', 'bar', 'verdict'] as const;

const number = (value: number | undefined): string =>
  value === undefined ? '-' : value.toLocaleString('en-US', { maximumFractionDigits: 2 });

const barOf = ({ bar, direction }: LineResult): string =>
  bar === undefined ? '-' : `${direction === 'at least' ? '>=' : '<='} ${number(bar)}`;

/** Cells in columns that are as wide as their widest cell; numbers stand to the right. */
export function aligned(rows: readonly (readonly string[])[], right: readonly number[]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

const cells = (line: LineResult): string[] => [
  line.row,
  line.unit,
  number(line.sluice),
  number(line.peer),
  number(line.ratio),
  barOf(line),
  line.verdict,
];

const HINTS = {
  quick: 'quick: small sizes and few rounds. Only the full bench says whether a bar is met.',
  tiny: 'tiny: every row was tried. The figures mean nothing, and no bar was judged.',
};

/** The table of a run, then what is to be said of single rows. */
export function tableOf({ size, rows, machine }: Pick<Results, 'size' | 'rows' | 'machine'>): string {
  const lines = aligned([[...COLUMNS], ...rows.map(cells)], [2, 3, 4, 5]);
  const notes = rows.flatMap((line) => [
    ...line.faults.map((fault) => `  ${line.row}: FAILED: ${fault}`),
    ...line.notes.map((note) => `  ${line.row}: ${note}`),
  ]);
  const hint = size === 'full' ? [] : ['', HINTS[size]];
  return [machineLine(machine), '', ...lines, ...(notes.length > 0 ? ['', ...notes] : []), ...hint].join(
    '\n',
  );
}
