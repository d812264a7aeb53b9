import { access, constants } from 'node:fs/promises';
import { readEndpoint, shownEndpoint } from '../../queues/endpoints.js';
import { readSecret } from '../../queues/secrets.js';
import { builtInSinks } from '../../queues/sinks/built-in.js';
import { sourceProblems } from '../../workers/intake.js';
import type { SinkSetting, SourceSetting } from '../core/endpoints.js';
import { isPlainObject } from '../core/json.js';
import { formatProblem, type Problem, SluiceError } from '../core/problem.js';
import { secretSchema } from '../core/secret.js';
import type { EndpointFacts } from '../doctor/check.js';
import { sinkProblems, sinksOfSettings } from './sink-problem.js';

/** Why a secret cannot be read now; undefined when it can. */
async function secretTrouble(value: unknown): Promise<string | undefined> {
  const secret = secretSchema.safeParse(value);
  if (!secret.success) return undefined;
  try {
    await readSecret(secret.data);
    return undefined;
  } catch (error) {
    if (error instanceof SluiceError) return error.message;
    throw error;
  }
}

async function certificateTrouble(tls: Record<string, unknown>): Promise<string[]> {
  const files = Object.values(tls).filter((file) => typeof file === 'string');
  const found = await Promise.all(
    files.map((file) =>
      access(file, constants.R_OK).then(
        () => undefined,
        (error: Error) => error.message,
      ),
    ),
  );
  return found.filter((message) => message !== undefined);
}

/** What the options of a sink name and this machine has not. */
async function missingIn(value: unknown): Promise<string[]> {
  if (Array.isArray(value)) return (await Promise.all(value.map(missingIn))).flat();
  if (!isPlainObject(value)) return [];
  const trouble = await secretTrouble(value);
  if (trouble !== undefined) return [trouble];
  const below = Object.entries(value).map(([name, inside]) =>
    name === 'tls' && isPlainObject(inside) ? certificateTrouble(inside) : missingIn(inside),
  );
  return (await Promise.all(below)).flat();
}

/**
 * What a sink says when it is opened, and closed at once: it waits for no other side. What writes on this
 * machine or to the fleet's Redis is left alone.
 */
async function openingTrouble(setting: SinkSetting): Promise<string[]> {
  const read = readEndpoint(builtInSinks, setting, '');
  if (!('endpoint' in read)) return [];
  const { name, kind, target, options } = read.endpoint;
  if (kind.isFile || kind.kind === 'stdout' || kind.kind === 'redis-stream') return [];
  try {
    const context = { name, fleet: 'doctor', secret: readSecret, onError: () => {} };
    await (await kind.open(target, options, context)).close();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** What doctor is told of the sinks of the settings: found without waiting for them. */
export async function sinkFactsOf(settings: readonly SinkSetting[]): Promise<EndpointFacts[]> {
  const given = sinksOfSettings(settings);
  const problems = await sinkProblems(given);
  return Promise.all(
    given.map(async ({ path, setting }) => {
      const own = ownProblems(problems, path);
      const missing = await missingIn(setting.options);
      const opening = own.length + missing.length === 0 ? await openingTrouble(setting) : [];
      return { shown: shownEndpoint(setting), problems: [...own, ...opening], missing };
    }),
  );
}

/** What doctor is told of the sources of the settings; they are not opened, because they would take messages. */
export async function sourceFactsOf(settings: readonly SourceSetting[]): Promise<EndpointFacts[]> {
  const problems = sourceProblems(settings, 'sources');
  return Promise.all(
    settings.map(async (setting, n) => ({
      shown: shownEndpoint(setting),
      problems: ownProblems(problems, `sources[${n}]`),
      missing: await missingIn(setting.options),
    })),
  );
}

function ownProblems(problems: readonly Problem[], path: string): string[] {
  return problems
    .filter((problem) => problem.path === path || problem.path.startsWith(`${path}.`))
    .map(formatProblem);
}
