import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { nearestName, type Problem, SluiceError, show } from '../src/core/problem.js';
import { type Config, configSchema } from './schema.js';

/** What the command line sets on top of file and environment. */
export interface Overrides {
  fleet?: string | undefined;
  redis?: string | undefined;
}

function keysAt(path: readonly PropertyKey[]): string[] {
  let node: unknown = configSchema;
  for (const key of path) {
    const def = node as { shape?: Record<string, unknown>; def?: { innerType?: unknown } };
    node = (def.shape ?? (def.def?.innerType as { shape?: Record<string, unknown> })?.shape)?.[String(key)];
  }
  const found = node as { shape?: object; def?: { innerType?: { shape?: object } } } | undefined;
  return Object.keys(found?.shape ?? found?.def?.innerType?.shape ?? {});
}

function problemsOf(file: string, error: z.ZodError, value: unknown): Problem[] {
  return error.issues.flatMap((issue): Problem[] => {
    const path = issue.path.join('.');
    if (issue.code === 'unrecognized_keys') {
      const allowed = keysAt(issue.path);
      return issue.keys.map((key) => {
        const nearest = nearestName(key, allowed);
        const at = [...issue.path, key].join('.');
        return {
          file,
          path: at,
          message: 'unknown key',
          allowed,
          ...(nearest === undefined ? {} : { nearest }),
        };
      });
    }
    const found = issue.path.reduce<unknown>(
      (node, key) => (node as Record<PropertyKey, unknown>)?.[key],
      value,
    );
    return [{ file, path, message: issue.message, found: show(found) }];
  });
}

/**
 * The settings: defaults, then the file (`--config`, SLUICE_CONFIG), then the environment
 * (REDIS_URL, SLUICE_FLEET), then the command line. Throws INVALID_CONFIG with every problem.
 */
export async function loadConfig(file: string | undefined, overrides: Overrides = {}): Promise<Config> {
  const path = file ?? process.env.SLUICE_CONFIG;
  const value = path === undefined ? {} : await readConfig(path);
  const fleet = overrides.fleet ?? process.env.SLUICE_FLEET;
  const merged = { ...value, ...(fleet === undefined ? {} : { fleet }) };
  const parsed = configSchema.safeParse(merged);
  if (!parsed.success) {
    const problems = problemsOf(path ?? 'settings', parsed.error, merged);
    throw new SluiceError('INVALID_CONFIG', `The configuration has ${problems.length} problem(s).`, problems);
  }
  const redis = overrides.redis ?? parsed.data.redis ?? process.env.REDIS_URL;
  return redis === undefined || redis === '' ? parsed.data : { ...parsed.data, redis };
}

async function readConfig(file: string): Promise<Record<string, unknown>> {
  const refuse = (message: string): never => {
    throw new SluiceError('INVALID_CONFIG', `The configuration cannot be used.`, [
      { file, path: '', message },
    ]);
  };
  const text = await readFile(file, 'utf8').catch((error: Error) => refuse(error.message));
  const document = parseDocument(text.replace(/^\uFEFF/, ''));
  const [first] = document.errors;
  if (first !== undefined) refuse(first.message);
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(`expected a mapping; found ${show(value)}`);
  return value as Record<string, unknown>;
}
