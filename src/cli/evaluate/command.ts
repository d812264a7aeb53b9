import { ulid } from 'ulid';
import type { Config } from '../../../config/schema.js';
import { shownEndpoint } from '../../../queues/endpoints.js';
import type { EvaluationOptions } from '../../core/manifest.js';
import { formatProblem, type Problem } from '../../core/problem.js';
import { KeyNotes } from '../../inputs/key-notes.js';
import type { RunSource } from '../../inputs/run-sources.js';
import { type LoadedScenario, loadScenarios } from '../../inputs/scenario-files.js';
import { spoolSources } from '../../inputs/spool.js';
import { onInterrupt } from '../interrupt.js';
import { ProblemList } from '../options.js';
import { plain, print, say } from '../output.js';
import { defaultSettings, loadSettings } from '../redis.js';
import { fileOf, sinkProblems, sinksOfSettings, stdoutProblems } from '../sink-problem.js';
import { unwritable } from '../writable.js';
import { type CheckedRuns, checkRuns, recordProblemsOf } from './checked-runs.js';
import { Ending } from './ending.js';
import { judge } from './judge.js';
import { checkOptions, type EvaluateSettings, type RawEvaluateOptions } from './options.js';
import { placeClashes, type WrittenFile } from './place-clashes.js';
import { dryRun, dryRunText } from './plan.js';
import { tellPassedBy, tellSlips } from './run-notes.js';

/** Broken records that `--skip-invalid` names before it only counts them. */
const MOST_NAMED = 50;
const NOTHING = 'nothing was judged.';

const configuredSinks = (settings: EvaluateSettings, config: Config) =>
  settings.workers === 0 ? [] : sinksOfSettings(config.sinks);

/** What writes to standard output besides a sink: a document, or a report that was asked for. */
function takerOfStdout(raw: RawEvaluateOptions, { reports }: EvaluateSettings): string | undefined {
  if (raw.json === true) return '--json';
  const report = reports.find(({ file }) => file === '-')?.report;
  return report === undefined ? undefined : `--report ${report.kind}=-`;
}

async function checkPlaces(
  raw: RawEvaluateOptions,
  settings: EvaluateSettings,
  config: Config,
  problems: ProblemList,
): Promise<void> {
  for (const { report, file } of settings.reports) {
    const problem = file === '-' ? undefined : await unwritable('--report', report.kind, file);
    if (problem !== undefined) problems.add(problem);
  }
  const configured = configuredSinks(settings, config);
  problems.add(...(await sinkProblems(settings.sinks)), ...(await sinkProblems(configured)));
  problems.add(...stdoutProblems([...settings.sinks, ...configured], takerOfStdout(raw, settings)));
}

/** The files that reports and sinks write, each where it was given. */
function writtenFiles(settings: EvaluateSettings, config: Config): WrittenFile[] {
  const reports = settings.reports.flatMap(({ report, file }) =>
    file === '-' ? [] : [{ path: '--report', option: `${report.kind}=${file}`, file }],
  );
  const sinks = [...settings.sinks, ...configuredSinks(settings, config)].flatMap(({ path, setting }) => {
    const file = fileOf(setting);
    return file === undefined ? [] : [{ path, option: shownEndpoint(setting), file }];
  });
  return [...reports, ...sinks];
}

function skippedTeller(): { onSkipped(problem: Problem): void; rest(): number } {
  let told = 0;
  return {
    onSkipped(problem) {
      told += 1;
      if (told <= MOST_NAMED) say(`sluice: passed over: ${plain(formatProblem(problem))}`);
    },
    rest: () => Math.max(0, told - MOST_NAMED),
  };
}

/** The first pass over all runs. Throws with every problem of options, scenarios and runs together. */
async function checkAll(
  raw: RawEvaluateOptions,
  settings: EvaluateSettings,
  loaded: readonly LoadedScenario[] | undefined,
  sources: readonly RunSource[],
  problems: ProblemList,
  signal: AbortSignal,
): Promise<CheckedRuns> {
  if (loaded === undefined) {
    const found = await recordProblemsOf(sources, settings.format, signal);
    const others = problems.problems.length;
    if (raw.skipInvalid !== true) problems.add(...found.problems);
    problems.throwIfAny('USAGE', NOTHING, others + (raw.skipInvalid === true ? 0 : found.problemCount));
  }
  const teller = skippedTeller();
  const notes = new KeyNotes();
  const scenarios = (loaded ?? []).map(({ scenario }) => scenario);
  const runs = await checkRuns(sources, scenarios, {
    format: settings.format,
    skipInvalid: raw.skipInvalid === true,
    named: new Set(raw.runs),
    signal,
    onSkipped: teller.onSkipped,
    notes,
    keysFromFolders: new Set(
      (loaded ?? []).flatMap(({ scenario, keyFromFolder }) => (keyFromFolder === true ? [scenario.key] : [])),
    ),
  });
  await tellPassedBy(raw.runs ?? []);
  tellSlips(notes);
  if (teller.rest() > 0) say(`sluice: ... and ${teller.rest()} more problems in what was passed over`);
  if (runs.skipped > 0) say(`sluice: ${runs.skipped} broken records passed over (--skip-invalid)`);
  const others = problems.problems.length;
  problems.add(...runs.problems);
  if (runs.total === 0 && runs.problemCount === 0)
    problems.add({ path: '--runs', message: 'give no valid run', found: (raw.runs ?? []).join(' ') });
  problems.throwIfAny(
    others > 0 ? 'USAGE' : 'INVALID_RUNS',
    NOTHING,
    Math.max(problems.problems.length, others + runs.problemCount),
  );
  return runs;
}

/** `sluice evaluate`; answers with the exit code. Throws SluiceError for everything that is 2 or 3. */
export async function evaluate(paths: readonly string[], raw: RawEvaluateOptions): Promise<number> {
  const problems = new ProblemList();
  const settings = await checkOptions(raw, problems);
  const config = (await problems.take(() => loadSettings(raw))) ?? defaultSettings();
  await checkPlaces(raw, settings, config, problems);
  const loaded = await problems.take(() => loadScenarios(paths));
  const settingsFile = raw.config ?? process.env.SLUICE_CONFIG;
  const inputs = { scenarios: paths, loaded: loaded ?? [], runs: raw.runs ?? [], config: settingsFile };
  problems.add(...(await placeClashes(writtenFiles(settings, config), inputs)));
  if (raw.runs === undefined) problems.throwIfAny('USAGE', NOTHING);
  const named = raw.runs ?? [];
  const ending = new Ending(raw.json === true);
  const interrupt = onInterrupt(
    () => ending.tell(),
    () => ending.stop(),
  );
  const spooled = await spoolSources(named, { signal: interrupt.signal });
  try {
    const runs = await checkAll(raw, settings, loaded, spooled.sources, problems, interrupt.signal);
    const options = optionsOf(raw, settings, config);
    const scenarios = loaded ?? [];
    if (raw.dryRun === true) {
      const plan = dryRun(scenarios, runs, options);
      await print(raw.json === true ? `${JSON.stringify(plan)}\n` : dryRunText(plan));
      return 0;
    }
    const id = settings.batch ?? ulid();
    return await judge({
      raw,
      settings,
      config,
      loaded: scenarios,
      runs,
      options,
      id,
      signal: interrupt.signal,
      ending,
    });
  } finally {
    interrupt.dispose();
    await spooled.cleanup();
  }
}

function optionsOf(raw: RawEvaluateOptions, settings: EvaluateSettings, config: Config): EvaluationOptions {
  return {
    strict: raw.strict === true,
    from: settings.from,
    informationalErrors: config.evaluation.informational_errors,
    ...(config.evaluation.require_enforced ? { requireEnforced: true } : {}),
  };
}
