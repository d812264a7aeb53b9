import { endpointName, readEndpoint, shownEndpoint } from '../../queues/endpoints.js';
import { builtInSinks } from '../../queues/sinks/built-in.js';
import { type SinkSetting, sinkObjectOf } from '../core/endpoints.js';
import { type Problem, SluiceError } from '../core/problem.js';
import { filterProblems } from '../core/sink-filter.js';
import { unwritable } from './writable.js';

/** A sink, and where it was given. */
export interface GivenSink {
  /** `--sink`, or `sinks[n]` of the settings. */
  path: string;
  setting: SinkSetting;
}

/** Sinks of a command line; the same one twice is one. */
export const sinksOfLine = (options: readonly string[] = []): GivenSink[] =>
  [...new Set(options)].map((option) => ({ path: '--sink', setting: sinkObjectOf(option) }));

/** Sinks of the settings. */
export const sinksOfSettings = (settings: readonly SinkSetting[] = []): GivenSink[] =>
  settings.map((setting, n) => ({ path: `sinks[${n}]`, setting }));

/** Those of settings and command line together; one that is given in both places is one. */
export function sinksOfBoth(
  settings: readonly SinkSetting[] = [],
  options: readonly string[] = [],
): GivenSink[] {
  const configured = sinksOfSettings(settings);
  const known = new Set(configured.map(({ setting }) => JSON.stringify(setting)));
  return [
    ...configured,
    ...sinksOfLine(options).filter(({ setting }) => !known.has(JSON.stringify(setting))),
  ];
}

/** The file that a sink writes; undefined when it writes none. */
export function fileOf({ kind, target }: SinkSetting): string | undefined {
  const isFile = builtInSinks.some((candidate) => candidate.kind === kind && candidate.isFile === true);
  return isFile && target !== '' ? target : undefined;
}

async function projectionProblems({ path, setting }: GivenSink): Promise<Problem[]> {
  if (setting.projection === undefined) return [];
  const { openProjection } = await import('../../queues/projection.js');
  try {
    await openProjection(setting.projection);
    return [];
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return error.problems.map((problem) => ({ ...problem, path: `${path}.projection` }));
  }
}

/** What is wrong with a sink, found without opening it: everything at once. */
async function problemsOf(given: GivenSink): Promise<Problem[]> {
  const { path, setting } = given;
  const { problems } = readEndpoint(builtInSinks, setting, path);
  const file = problems.length > 0 ? undefined : fileOf(setting);
  const place = file === undefined ? undefined : await unwritable(path, setting.kind, file);
  return [
    ...problems,
    ...(place === undefined ? [] : [place]),
    ...filterProblems(setting, path),
    ...(await projectionProblems(given)),
  ];
}

/** Sinks that would share one place in the outbox, so that each would get a part of the events. */
function nameProblems(sinks: readonly GivenSink[]): Problem[] {
  const taken = new Map<string, string>();
  return sinks.flatMap(({ path, setting }): Problem[] => {
    const name = endpointName(setting);
    const other = taken.get(name);
    taken.set(name, other ?? path);
    if (other === undefined) return [];
    const message =
      setting.name === undefined
        ? `has the target of ${other}; give it a name of its own`
        : `has the name of ${other}; give it one of its own`;
    return [{ path, message, found: setting.name ?? shownEndpoint(setting) }];
  });
}

/** The problems of sinks that one command opens for the same events, each where it was given. */
export async function sinkProblems(sinks: readonly GivenSink[]): Promise<Problem[]> {
  const all = await Promise.all(sinks.map(problemsOf));
  return [...all.flat(), ...nameProblems(sinks)];
}

/** Whether a sink writes to standard output. */
export const isOfStdout = ({ setting }: GivenSink): boolean => setting.kind === 'stdout';

/** Sinks that write to standard output where something else does; `other` is what. */
export function stdoutProblems(sinks: readonly GivenSink[], other: string | undefined): Problem[] {
  if (other === undefined) return [];
  return sinks.filter(isOfStdout).map(({ path, setting }) => ({
    path,
    message: `standard output is taken by ${other}; leave out one of them`,
    found: shownEndpoint(setting),
  }));
}
