import { LONGEST_KEPT } from '../../../config/schema.js';
import { parseDuration } from '../../core/duration.js';
import { LEAST_WEIGHT, MOST_WEIGHT } from '../../core/fairness.js';
import type { EvaluationOptions } from '../../core/manifest.js';
import type { Packing } from '../../core/packing.js';
import { runFormats } from '../../inputs/run-items.js';
import { parseReportTargets, type ReportTarget } from '../../reports/report-target.js';
import { actorOf } from '../asker.js';
import { checkLogLevel } from '../log.js';
import { choice, type FleetOptions, type ProblemList, wholeNumber } from '../options.js';
import { type GivenSink, sinksOfLine } from '../sink-problem.js';
import { REPORT_WIDTH } from './batch-reports.js';

/** `sluice evaluate`'s options as commander hands them over. */
export interface RawEvaluateOptions extends FleetOptions {
  runs?: string[];
  format?: string;
  from?: string;
  engine?: string;
  workers?: string;
  packing?: string;
  strict?: boolean;
  skipInvalid?: boolean;
  batch?: string;
  dryRun?: boolean;
  report?: string[];
  sink?: string[];
  exitZero?: boolean;
  retention?: string;
  weight?: string;
  actor?: string;
}

/** … and after checking. */
export interface EvaluateSettings {
  format: string | undefined;
  from: EvaluationOptions['from'];
  /** `auto`: a Redis where there is one, else inline. */
  engine: 'auto' | 'fleet' | 'inline';
  /** undefined: as many as the machine has room for, when no worker is alive. */
  workers: number | undefined;
  packing: Packing;
  batch: string | undefined;
  retentionMs: number | undefined;
  /** undefined: that of the batch where it stands, else 1. */
  weight: number | undefined;
  reports: ReportTarget[];
  sinks: GivenSink[];
  logLevel: string;
  /** Who asks. */
  actor: string;
}

const BATCH_ID = /^[A-Za-z0-9._-]{1,128}$/;

function checkBatch(id: string | undefined, problems: ProblemList): void {
  if (id === undefined || BATCH_ID.test(id)) return;
  const message = 'expected 1 to 128 letters, digits, dots, hyphens and underscores';
  problems.add({ path: '--batch', message, found: JSON.stringify(id) });
}

function checkRetention(text: string | undefined, problems: ProblemList): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  const isLong = ms !== undefined && ms > (parseDuration(LONGEST_KEPT) ?? 0);
  if (ms !== undefined && ms > 0 && !isLong) return ms;
  const message = isLong
    ? `expected at most ${LONGEST_KEPT}`
    : 'expected a duration such as 90s, 30m, 24h or 7d';
  problems.add({ path: '--retention', message, found: JSON.stringify(text) });
  return undefined;
}

function checkCombinations(
  raw: RawEvaluateOptions,
  reports: readonly ReportTarget[],
  problems: ProblemList,
): void {
  if (raw.engine === 'inline' && raw.redis !== undefined)
    problems.add({ path: '--engine', message: 'inline needs no --redis; leave out one of them' });
  if (raw.engine === 'inline' && raw.workers !== undefined)
    problems.add({ path: '--engine', message: 'inline has no workers; leave out --workers or it' });
  if (raw.json && reports.some(({ file }) => file === '-'))
    problems.add({ path: '--report', message: 'standard output is taken by --json; give the report a file' });
}

/** Checks every option but the targets of `--sink`; what is wrong goes to `problems`. */
export async function checkOptions(
  raw: RawEvaluateOptions,
  problems: ProblemList,
): Promise<EvaluateSettings> {
  const engine = choice('--engine', raw.engine, ['fleet', 'inline'] as const, problems) ?? 'auto';
  const from = choice('--from', raw.from, ['direct', 'message', 'gateway'] as const, problems) ?? 'direct';
  const packing = choice('--packing', raw.packing, ['auto', 'off'] as const, problems) ?? 'auto';
  const format = choice('--format', raw.format, [...runFormats()], problems);
  const workers = wholeNumber('--workers', raw.workers, 0, problems);
  if (raw.runs === undefined)
    problems.add({
      path: '--runs',
      message: 'is missing; name the files or folders of runs, or - for standard input',
    });
  checkBatch(raw.batch, problems);
  const retentionMs = checkRetention(raw.retention, problems);
  const weight = wholeNumber('--weight', raw.weight, LEAST_WEIGHT, problems, MOST_WEIGHT);
  const look = { colour: false, width: REPORT_WIDTH };
  const reports = (await problems.take(() => parseReportTargets(raw.report ?? [], look))) ?? [];
  checkCombinations(raw, reports, problems);
  const logLevel = (await problems.take(() => checkLogLevel(raw.logLevel, 'warn'))) ?? 'warn';
  const actor = actorOf(raw.actor, process.env, problems);
  const sinks = sinksOfLine(raw.sink);
  const { batch } = raw;
  return {
    format,
    from,
    engine,
    workers,
    packing,
    batch,
    retentionMs,
    weight,
    reports,
    sinks,
    logLevel,
    actor,
  };
}
