import { describe, expect, it } from 'vitest';
import { formatProblem, type SluiceError } from '../../../src/core/problem.js';
import { parseReportTargets } from '../../../src/reports/report-target.js';
import { plain } from './fixtures.js';

function problems(values: string[]): string[] {
  try {
    parseReportTargets(values, plain);
    return [];
  } catch (error) {
    expect((error as SluiceError).code).toBe('USAGE');
    return (error as SluiceError).problems.map(formatProblem);
  }
}

describe('parseReportTargets', () => {
  it('reads KIND=FILE, where the file may hold = and may be -', () => {
    const targets = parseReportTargets(['junit=out/a=b.xml', 'json=-'], plain);
    expect(targets.map(({ report, file }) => [report.kind, file])).toEqual([
      ['junit', 'out/a=b.xml'],
      ['json', '-'],
    ]);
  });

  it('lists every mistake at once, with the nearest kind', () => {
    expect(problems(['junti=a.xml', 'json', 'text=', 'json=x', 'text=x'])).toEqual([
      '--report: names no report: "junti"; found junti=a.xml; allowed: json, junit, ndjson, text; did you mean "junit"?',
      '--report: is not KIND=FILE; found json; allowed: json=FILE, junit=FILE, ndjson=FILE, text=FILE',
      '--report: names no file; use - for standard output; found text=',
      '--report: writes to x, as another report does; found text=x',
    ]);
  });
});
