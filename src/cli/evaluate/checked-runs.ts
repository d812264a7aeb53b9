import type { Submission } from '../../app/submit.js';
import { type Problem, SluiceError } from '../../core/problem.js';
import type { Scenario } from '../../core/scenario/model.js';
import { subjectOf } from '../../core/subject.js';
import type { KeyNotes } from '../../inputs/key-notes.js';
import { type MatchedRun, matchRuns } from '../../inputs/match-runs.js';
import { readRuns } from '../../inputs/run-files.js';
import type { RunProblem } from '../../inputs/run-items.js';
import type { RunSource } from '../../inputs/run-sources.js';

/** Runs up to this many characters of evidence stay in memory between the two passes. */
const KEPT_CHARACTERS = 64 * 2 ** 20;
/** Problems that are kept; the rest are counted. */
const MOST_PROBLEMS = 1000;

export interface CheckOptions {
  format: string | undefined;
  /** Pass over broken records, and over broken files that were found in a folder. */
  skipInvalid: boolean;
  /** Sources that the user named: these must be readable. */
  named: ReadonlySet<string>;
  signal: AbortSignal;
  /** Keys of scenarios that no file names. */
  keysFromFolders?: ReadonlySet<string>;
  /** Told of keys that look like slips. */
  notes?: KeyNotes;
  /** Told of each problem that is passed over. */
  onSkipped(problem: Problem): void;
  /** Default 64 Mi characters. */
  keptCharacters?: number;
}

/** All runs after the first pass: what is wrong with them, how many there are, and where to get them. */
export interface CheckedRuns {
  total: number;
  /** Records (or files) that are broken and passed over. */
  skipped: number;
  /** Runs of each scenario, by its key. */
  byScenario: ReadonlyMap<string, number>;
  /** The first problems that forbid the batch, and how many there are in all. */
  problems: readonly Problem[];
  problemCount: number;
  /** The valid runs in input order, as often as one likes. */
  submissions(): AsyncIterable<Submission> | Iterable<Submission>;
}

function submissionOf({ run, scenario }: MatchedRun, index: number): Submission {
  return { index, run: run.id, case: run.case ?? run.id, scenario, subject: subjectOf(run) };
}

function interrupted(): SluiceError {
  return new SluiceError('INTERRUPTED', 'Interrupted while the runs were checked; nothing was submitted.');
}

function read(sources: readonly RunSource[], format: string | undefined, notes?: KeyNotes) {
  return readRuns(sources, {
    ...(format === undefined ? {} : { format }),
    ...(notes === undefined ? {} : { notes }),
  });
}

function mayPass({ about, problem }: RunProblem, options: CheckOptions): boolean {
  return options.skipInvalid && (about === 'record' || !options.named.has(problem.file ?? ''));
}

/** The second pass for runs that were too many to keep. */
async function* readAgain(
  sources: readonly RunSource[],
  scenarios: readonly Scenario[],
  options: CheckOptions,
  total: number,
): AsyncGenerator<Submission> {
  const changed = () =>
    new SluiceError(
      'INVALID_RUNS',
      'The runs changed while they were read; call again with the same --batch.',
    );
  let index = 0;
  for await (const item of matchRuns(read(sources, options.format), scenarios)) {
    if ('problem' in item) {
      if (!mayPass(item, options)) throw changed();
    } else if (index >= total) throw changed();
    else yield submissionOf(item, index++);
  }
  if (index !== total) throw changed();
}

/**
 * The first pass: reads and validates every run before anything is submitted. Memory stays flat but
 * for the ids, whatever the size. Throws INTERRUPTED when the signal fires.
 */
export async function checkRuns(
  sources: readonly RunSource[],
  scenarios: readonly Scenario[],
  options: CheckOptions,
): Promise<CheckedRuns> {
  const byScenario = new Map<string, number>(scenarios.map(({ key }) => [key, 0]));
  const problems: Problem[] = [];
  let kept: Submission[] | undefined = [];
  let room = options.keptCharacters ?? KEPT_CHARACTERS;
  let [total, skipped, problemCount] = [0, 0, 0];
  const items = read(sources, options.format, options.notes);
  for await (const item of matchRuns(items, scenarios, options.keysFromFolders)) {
    if (options.signal.aborted) throw interrupted();
    if (!('problem' in item)) {
      byScenario.set(item.scenario.key, (byScenario.get(item.scenario.key) ?? 0) + 1);
      if (kept !== undefined) {
        const submission = submissionOf(item, total);
        kept.push(submission);
        room -= submission.subject.json.length;
        if (room < 0) kept = undefined;
      }
      total += 1;
    } else if (mayPass(item, options)) {
      if (item.first) skipped += 1;
      options.onSkipped(item.problem);
    } else {
      problemCount += 1;
      if (problems.length < MOST_PROBLEMS) problems.push(item.problem);
    }
  }
  const submissions = () => kept ?? readAgain(sources, scenarios, options, total);
  return { total, skipped, byScenario, problems, problemCount, submissions };
}

/** The problems of runs whose scenarios are not known: those of the records themselves. */
export async function recordProblemsOf(
  sources: readonly RunSource[],
  format: string | undefined,
  signal: AbortSignal,
): Promise<{ problems: Problem[]; problemCount: number }> {
  const problems: Problem[] = [];
  let problemCount = 0;
  for await (const item of read(sources, format)) {
    if (signal.aborted) throw interrupted();
    if (!('problem' in item)) continue;
    problemCount += 1;
    if (problems.length < MOST_PROBLEMS) problems.push(item.problem);
  }
  return { problems, problemCount };
}
