import { sha256 } from '../../core/digest.js';
import { canonicalJson } from '../../core/json.js';
import { joinPath } from '../../core/json-path.js';
import { type Problem, SluiceError, show } from '../../core/problem.js';
import { recordProblems } from '../../core/run-problems.js';
import { type RunRecord, runRecordSchema } from '../../core/run-record.js';
import { MOST_BUNDLE_BYTES, MOST_BUNDLE_FILES, missingFiles } from '../../core/scenario/bundle.js';
import { scanJson } from '../../core/scenario/json-scan.js';
import { loadScenario, neededFiles, type ScenarioSource, sealScenario } from '../../core/scenario/load.js';
import { type StoredSubject, subjectOf } from '../../core/subject.js';
import { bundlePathProblem, normalBundlePath } from '../../core/validators/bundle-path.js';
import type { ReferenceReader } from '../../ports/references.js';
import type { ScenarioWithBundle } from '../opening.js';
import type { EvaluationRequest, Given } from './requests.js';

/** Key of a scenario that has none, where the run names none either. */
const DEFAULT_KEY = 'scenario';

/** What a request asks to be judged, checked and complete. */
export interface GivenEvaluation extends ScenarioWithBundle {
  run: RunRecord;
  subject: StoredSubject;
}

type Text = { text: string } | { problems: Problem[] };

/** The JSON text of something that a request carries or refers to. */
async function textOf(given: Given, path: string, references: ReferenceReader): Promise<Text> {
  if ('inline' in given) return { text: JSON.stringify(given.inline) ?? 'null' };
  try {
    return { text: await references.read(given.reference) };
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== 'BAD_REFERENCE') throw error;
    return { problems: referenceProblems(error, path) };
  }
}

/** What is wrong with a reference that stands at this path. */
export function referenceProblems(error: SluiceError, path: string): Problem[] {
  if (error.problems.length === 0) return [{ code: error.code, path, message: error.message }];
  return error.problems.map((problem) => ({
    code: error.code,
    ...problem,
    path: joinPath(path, problem.path),
  }));
}

/** Reads JSON that was referred to; every problem at once, below `path`. */
export function parseGiven(text: string, path: string): { value: unknown } | { problems: Problem[] } {
  const { fatal, flaws } = scanJson(text);
  if (fatal !== undefined) return { problems: [{ path, message: `is not valid JSON: ${fatal.message}` }] };
  const problems = flaws.map((flaw) => ({ path: joinPath(path, flaw.path), message: flaw.message }));
  return problems.length > 0 ? { problems } : { value: JSON.parse(text) };
}

function readRun(text: string): { run: RunRecord } | { problems: Problem[] } {
  const read = parseGiven(text, 'run');
  if ('problems' in read) return read;
  const parsed = runRecordSchema.safeParse(read.value);
  if (parsed.success) return { run: parsed.data };
  const problems = recordProblems(parsed.error, read.value);
  return { problems: problems.map((problem) => ({ ...problem, path: joinPath('run', problem.path) })) };
}

function readScenario(
  text: string,
  defaultKey: string,
): { source: ScenarioSource } | { problems: Problem[] } {
  const loaded = loadScenario({ file: '', text, defaultKey });
  if (loaded.ok) return { source: loaded.scenario };
  const problems = loaded.problems.map(({ file: _file, line: _line, ...problem }) => ({
    ...problem,
    path: joinPath('scenario', problem.path),
  }));
  return { problems };
}

type Files = Record<string, string>;

/** The files of a request by their plain paths; what is wrong with them goes to `problems`. */
function plainFiles(files: Files, problems: Problem[], filesPath = 'files'): Map<string, string> {
  const found = new Map<string, string>();
  let bytes = 0;
  for (const [path, text] of Object.entries(files)) {
    const at = `${filesPath}[${JSON.stringify(path)}]`;
    const message = bundlePathProblem(path);
    if (message !== undefined) problems.push({ path: at, message });
    else if (found.has(normalBundlePath(path)))
      problems.push({ path: at, message: 'names a file that is given under another path as well' });
    else found.set(normalBundlePath(path), text);
    bytes += Buffer.byteLength(text);
  }
  if (found.size > MOST_BUNDLE_FILES)
    problems.push({
      path: filesPath,
      message: `holds ${found.size} files; ${MOST_BUNDLE_FILES} are allowed`,
    });
  if (bytes > MOST_BUNDLE_BYTES)
    problems.push({ path: filesPath, message: `holds ${bytes} bytes; ${MOST_BUNDLE_BYTES} are allowed` });
  return found;
}

/** The scenario with the files that its rules need; `at`: where both stand in the request. */
export function withFiles(
  source: ScenarioSource,
  given: Files,
  problems: Problem[],
  at = { scenario: 'scenario', files: 'files' },
): ScenarioWithBundle {
  const needed = neededFiles(source);
  const files = plainFiles(given, problems, at.files);
  if (needed.length === 0) {
    if (files.size > 0)
      problems.push({ path: at.files, message: 'no rule of the scenario needs files; give none' });
    return { scenario: sealScenario(source) };
  }
  const missing = missingFiles(needed, new Set(files.keys()), 'is not among the files of the request');
  problems.push(...missing.map((each) => ({ ...each, path: joinPath(at.scenario, each.path) })));
  const entries = [...files].map(([path, text]) => [path, Buffer.from(text).toString('base64')]);
  const json = canonicalJson({ files: Object.fromEntries(entries) });
  const bundle = { digest: sha256(json), json };
  return { scenario: sealScenario(source, bundle.digest), bundle };
}

/** Throws the refusal of a request; BAD_REFERENCE when nothing but references is wrong. */
function refuse(problems: readonly Problem[]): never {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  const onlyReferences = problems.every(({ code }) => code === 'BAD_REFERENCE');
  const code = onlyReferences ? 'BAD_REFERENCE' : 'INVALID_REQUEST';
  throw new SluiceError(code, `The request has ${count}; nothing was accepted.`, problems);
}

/**
 * Reads what a request asks to be judged. Throws INVALID_REQUEST or BAD_REFERENCE with every problem of
 * scenario, files and run at once; UNAVAILABLE when what it refers to cannot be had now.
 */
export async function readEvaluation(
  request: EvaluationRequest,
  references: ReferenceReader,
): Promise<GivenEvaluation> {
  const [scenarioText, runText] = await Promise.all([
    textOf(request.scenario, 'scenario', references),
    textOf(request.run, 'run', references),
  ]);
  const problems: Problem[] = [];
  const run = 'text' in runText ? readRun(runText.text) : runText;
  const named = 'run' in run ? run.run.scenario : undefined;
  const scenario =
    'text' in scenarioText ? readScenario(scenarioText.text, named ?? DEFAULT_KEY) : scenarioText;
  if ('problems' in scenario) problems.push(...scenario.problems);
  if ('problems' in run) problems.push(...run.problems);
  if ('problems' in scenario || 'problems' in run) {
    if ('problems' in scenario) plainFiles(request.files ?? {}, problems);
    else withFiles(scenario.source, request.files ?? {}, problems);
    return refuse(problems);
  }
  const { key } = scenario.source;
  if (named !== undefined && named !== key)
    problems.push({
      path: 'run.scenario',
      message: 'names another scenario than the one given',
      found: show(named),
      allowed: [key],
    });
  const loaded = withFiles(scenario.source, request.files ?? {}, problems);
  return problems.length > 0 ? refuse(problems) : { ...loaded, run: run.run, subject: subjectOf(run.run) };
}
