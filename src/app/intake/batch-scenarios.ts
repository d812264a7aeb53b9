import { isPlainObject } from '../../core/json.js';
import { nearestName, type Problem, SluiceError, show } from '../../core/problem.js';
import { loadScenario } from '../../core/scenario/load.js';
import type { ScenarioWithBundle } from '../opening.js';
import { withFiles } from './given.js';

/** Scenarios of one batch. */
const MOST_SCENARIOS = 1000;

interface Given {
  /** Where it stands in the request. */
  path: string;
  defaultKey: string;
  content: unknown;
}

function givenScenarios(scenarios: readonly unknown[] | Readonly<Record<string, unknown>>): Given[] {
  if (Array.isArray(scenarios))
    return scenarios.map((content, n) => ({ path: `scenarios[${n}]`, defaultKey: '', content }));
  return Object.entries(scenarios).map(([key, content]) => ({
    path: `scenarios.${key}`,
    defaultKey: key,
    content,
  }));
}

function load(
  { path, defaultKey, content }: Given,
  files: Readonly<Record<string, Record<string, string>>>,
): { loaded: ScenarioWithBundle } | { problems: Problem[] } {
  // A list has no names to fall back on; its keys are told as missing.
  const named = isPlainObject(content) && defaultKey === '' && content.key === undefined;
  if (named) return { problems: [{ path: `${path}.key`, message: 'is missing' }] };
  const read = loadScenario({
    file: '',
    text: JSON.stringify(content),
    defaultKey: defaultKey || 'scenario',
  });
  const inside = (problem: Problem): Problem => {
    const { file: _file, line: _line, ...rest } = problem;
    return { ...rest, path: rest.path === '' ? path : `${path}.${rest.path}` };
  };
  if (!read.ok) return { problems: read.problems.map(inside) };
  const { scenario } = read;
  const own = Object.hasOwn(files, scenario.key) ? (files[scenario.key] ?? {}) : {};
  const problems: Problem[] = [];
  const at = { scenario: path, files: `files.${scenario.key}` };
  const loaded = withFiles(scenario, own, problems, at);
  return problems.length > 0 ? { problems } : { loaded };
}

/**
 * Scenarios as a request gives them: a list of what scenario.json holds, or an object by key; `files` by
 * scenario and path, for playbooks. Throws INVALID_SCENARIO with every problem of every one.
 */
export function loadScenarios(
  scenarios: readonly unknown[] | Readonly<Record<string, unknown>>,
  files: Readonly<Record<string, Record<string, string>>> = {},
): ScenarioWithBundle[] {
  const given = givenScenarios(scenarios);
  const problems: Problem[] = [];
  const loaded: ScenarioWithBundle[] = [];
  const places = new Map<string, string>();
  if (given.length === 0) problems.push({ path: 'scenarios', message: 'must hold at least one scenario' });
  if (given.length > MOST_SCENARIOS)
    problems.push({ path: 'scenarios', message: `must hold at most ${MOST_SCENARIOS} scenarios` });
  for (const each of given.slice(0, MOST_SCENARIOS)) {
    const read = load(each, files);
    if ('problems' in read) {
      problems.push(...read.problems);
      continue;
    }
    const { key } = read.loaded.scenario;
    const taken = places.get(key);
    if (taken === undefined) loaded.push(read.loaded);
    else problems.push({ path: each.path, message: `has the key of ${taken}`, found: show(key) });
    places.set(key, taken ?? each.path);
  }
  for (const key of Object.keys(files)) {
    if (problems.length > 0 || places.has(key)) continue;
    const nearest = nearestName(key, [...places.keys()]);
    const near = nearest === undefined ? {} : { nearest };
    problems.push({ path: `files.${key}`, message: 'is the key of no scenario', found: show(key), ...near });
  }
  if (problems.length === 0) return loaded;
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  throw new SluiceError('INVALID_SCENARIO', `The scenarios have ${count}.`, problems);
}
