import type { Kept, Results } from './results.js';
import type { LineResult } from './row.js';
import { aligned } from './table.js';

/** Percent within which two runs on one machine differ by chance. */
const NOISE = 10;

export interface Difference {
  row: string;
  before: LineResult | undefined;
  after: LineResult | undefined;
  /** Percent by which the figure against the bar differs; undefined: one of them has none. */
  ratio: number | undefined;
  /** Percent by which Sluice's own figure differs. */
  sluice: number | undefined;
  tendency: 'better' | 'worse' | 'alike' | undefined;
}

const percent = (before: number | undefined, after: number | undefined): number | undefined =>
  before === undefined || after === undefined || before === 0
    ? undefined
    : Math.round((1000 * (after - before)) / Math.abs(before)) / 10;

function tendencyOf(line: LineResult, change: number | undefined): Difference['tendency'] {
  if (change === undefined) return undefined;
  if (Math.abs(change) <= NOISE) return 'alike';
  return change > 0 === (line.direction === 'at least') ? 'better' : 'worse';
}

/** Row by row; those that one of them lacks are there, too. */
export function differences(before: readonly LineResult[], after: readonly LineResult[]): Difference[] {
  const names = [...new Set([...before, ...after].map(({ row }) => row))];
  return names.map((row): Difference => {
    const [was, is] = [before, after].map((lines) => lines.find((line) => line.row === row));
    const ratio = percent(was?.ratio, is?.ratio);
    return {
      row,
      before: was,
      after: is,
      ratio,
      sluice: percent(was?.sluice, is?.sluice),
      tendency: is === undefined ? undefined : tendencyOf(is, ratio),
    };
  });
}

/** Why figures of two results are hard to compare; empty: nothing speaks against it. */
export function doubts(a: Results, b: Results): string[] {
  const machine = (Object.keys(a.machine) as (keyof Results['machine'])[])
    .filter((key) => a.machine[key] !== b.machine[key])
    .map((key) => `the machines differ in ${key}: ${a.machine[key]} and ${b.machine[key]}`);
  const size = a.size === b.size ? [] : [`the sizes differ: ${a.size} and ${b.size}`];
  const busy = [a, b]
    .filter(({ before, machine }) => (before.load[0] ?? 0) > machine.cores / 4)
    .map(({ at, before }) => `the machine was busy before the run of ${at}: load ${before.load[0]}`);
  return [...machine, ...size, ...busy];
}

const show = (value: number | undefined, mark = ''): string =>
  value === undefined
    ? '-'
    : `${mark !== '' && value > 0 ? '+' : ''}${value.toLocaleString('en-US', { maximumFractionDigits: 2 })}${mark}`;

/** Two results side by side. */
export function comparisonOf(a: Kept, b: Kept): string {
  const header = ['row', 'sluice', '', 'change', 'ratio', '', 'change', 'verdict', '', ''];
  const body = differences(a.results.rows, b.results.rows).map(({ row, before, after, ...change }) => [
    row,
    show(before?.sluice),
    show(after?.sluice),
    show(change.sluice, ' %'),
    show(before?.ratio),
    show(after?.ratio),
    show(change.ratio, ' %'),
    before?.verdict ?? '-',
    after?.verdict ?? '-',
    change.tendency ?? '',
  ]);
  const warnings = doubts(a.results, b.results).map((doubt) => `Beware: ${doubt}.`);
  return [
    `${a.name} (${a.results.before.commit ?? 'no commit'}) and ${b.name} (${b.results.before.commit ?? 'no commit'})`,
    ...warnings,
    '',
    ...aligned([header, ...body], [1, 2, 3, 4, 5, 6]),
    '',
    `Ratios within ${NOISE} % of each other are alike.`,
  ].join('\n');
}
