import { nearestName, type Problem, SluiceError } from '../core/problem.js';
import { builtInReports } from './built-in.js';
import type { Report, ReportOptions } from './report.js';

/** One `--report KIND=FILE`. */
export interface ReportTarget {
  report: Report;
  /** File to write; `-` for standard output. */
  file: string;
}

function problemOf(
  option: string,
  reports: readonly Report[],
  taken: ReadonlySet<string>,
): Problem | undefined {
  const kinds = reports.map(({ kind }) => kind);
  const [kind = '', file = ''] = split(option);
  const place = { path: '--report', found: option };
  if (!option.includes('='))
    return { ...place, message: 'is not KIND=FILE', allowed: kinds.map((k) => `${k}=FILE`) };
  if (!kinds.includes(kind)) {
    const nearest = nearestName(kind, kinds);
    const unknown = { ...place, message: `names no report: "${kind}"`, allowed: kinds };
    return nearest === undefined ? unknown : { ...unknown, nearest };
  }
  if (file === '') return { ...place, message: 'names no file; use - for standard output' };
  return taken.has(file) ? { ...place, message: `writes to ${file}, as another report does` } : undefined;
}

function split(option: string): [string, string] {
  const at = option.indexOf('=');
  return at < 0 ? [option, ''] : [option.slice(0, at).trim(), option.slice(at + 1)];
}

/**
 * Reads the values of `--report KIND=FILE`.
 * @throws SluiceError USAGE with every problem of every value
 */
export function parseReportTargets(values: readonly string[], options: ReportOptions): ReportTarget[] {
  const reports = builtInReports(options);
  const problems: Problem[] = [];
  const taken = new Set<string>();
  const targets: ReportTarget[] = [];
  for (const option of values) {
    const problem = problemOf(option, reports, taken);
    const [kind, file] = split(option);
    const report = reports.find((candidate) => candidate.kind === kind);
    if (problem !== undefined || report === undefined) {
      if (problem !== undefined) problems.push(problem);
      continue;
    }
    taken.add(file);
    targets.push({ report, file });
  }
  if (problems.length > 0) throw new SluiceError('USAGE', 'a report cannot be written as asked', problems);
  return targets;
}
