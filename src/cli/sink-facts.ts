import { access, constants } from 'node:fs/promises';
import { shownEndpoint } from '../../queues/endpoints.js';
import { readSecret } from '../../queues/secrets.js';
import type { SinkSetting } from '../core/endpoints.js';
import { isPlainObject } from '../core/json.js';
import { formatProblem, SluiceError } from '../core/problem.js';
import { secretSchema } from '../core/secret.js';
import type { SinkFacts } from '../doctor/check.js';
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

/** What doctor is told of the sinks of the settings: found without connecting to them. */
export async function sinkFactsOf(settings: readonly SinkSetting[]): Promise<SinkFacts[]> {
  const given = sinksOfSettings(settings);
  const problems = await sinkProblems(given);
  return Promise.all(
    given.map(async ({ path, setting }) => ({
      shown: shownEndpoint(setting),
      problems: problems
        .filter((problem) => problem.path === path || problem.path.startsWith(`${path}.`))
        .map(formatProblem),
      missing: await missingIn(setting.options),
    })),
  );
}
