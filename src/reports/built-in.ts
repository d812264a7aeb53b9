import { json } from './json.js';
import { junit } from './junit.js';
import { ndjson } from './ndjson.js';
import type { Report, ReportFactory, ReportOptions } from './report.js';
import { text } from './text.js';

/** Every report. */
const REPORTS: readonly ReportFactory[] = [
  json, //
  junit,
  ndjson,
  text,
];

/** The reports with the given looks. */
export function builtInReports(options: ReportOptions): Report[] {
  return REPORTS.map((create) => create(options));
}
