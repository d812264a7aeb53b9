import { createReadStream } from 'node:fs';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { isPlainObject } from '../src/core/json.js';
import { nearestName, type Problem, SluiceError, show } from '../src/core/problem.js';
import { withPlaces } from './places.js';
import { type Config, configSchema } from './schema.js';

/** Size limit of a settings file. */
const MAX_BYTES = 2 ** 20;

/** What the command line sets on top of file and environment. */
export interface Overrides {
  fleet?: string | undefined;
  redis?: string | undefined;
}

/** What keys are looked up in: an object, a record or a list of them, or one of several. */
interface SchemaNode {
  shape?: Record<string, SchemaNode>;
  def?: {
    innerType?: SchemaNode;
    in?: SchemaNode;
    valueType?: SchemaNode;
    element?: SchemaNode;
    options?: SchemaNode[];
  };
}

/** Without what a default, a transform or the like puts around it. */
function bare(node: SchemaNode | undefined): SchemaNode | undefined {
  const inner = node?.def?.innerType ?? node?.def?.in;
  return inner === undefined ? node : bare(inner);
}

/** Which of several forms was meant: of objects the one with most of its keys; -1: none of them. */
function branchOf(options: readonly SchemaNode[], value: unknown): number {
  const shapes = options.map((option) => bare(option)?.shape);
  if (!isPlainObject(value)) return typeof value === 'string' ? shapes.indexOf(undefined) : -1;
  const known = shapes.map((shape) =>
    shape === undefined ? -1 : Object.keys(value).filter((key) => Object.hasOwn(shape, key)).length,
  );
  const most = Math.max(...known);
  return most < 0 ? -1 : known.indexOf(most);
}

/** The schema of what stands at `path` in `value`. */
function schemaAt(path: readonly PropertyKey[], value: unknown): SchemaNode | undefined {
  let node = bare(configSchema as unknown as SchemaNode);
  let at = value;
  for (const key of path) {
    const { options } = node?.def ?? {};
    const meant = options === undefined ? node : bare(options[branchOf(options, at)]);
    node = bare(meant?.shape?.[String(key)] ?? meant?.def?.valueType ?? meant?.def?.element);
    at = (at as Record<PropertyKey, unknown> | undefined)?.[key];
  }
  return node;
}

const valueAt = (path: readonly PropertyKey[], value: unknown): unknown =>
  path.reduce<unknown>((node, key) => (node as Record<PropertyKey, unknown>)?.[key], value);

/** Keys that are allowed where an object stands at `path`. */
function keysAt(path: readonly PropertyKey[], value: unknown): string[] {
  const node = schemaAt(path, value);
  const options = node?.def?.options;
  const meant = options === undefined ? node : bare(options[branchOf(options, valueAt(path, value))]);
  return Object.keys(meant?.shape ?? {});
}

/** `sinks[0].target`. */
const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
};

/** A complaint of the schema in plain words. */
function wordsFor(issue: z.core.$ZodIssue, found: unknown): Pick<Problem, 'message' | 'allowed' | 'nearest'> {
  switch (issue.code) {
    case 'invalid_type':
      if (!issue.message.startsWith('Invalid input')) return { message: issue.message };
      return { message: `expected ${KINDS[issue.expected] ?? issue.expected}` };
    case 'invalid_value': {
      const allowed = issue.values.map(String);
      const nearest = typeof found === 'string' ? nearestName(found, allowed) : undefined;
      return { message: 'is not one of its values', allowed, ...(nearest === undefined ? {} : { nearest }) };
    }
    case 'too_small':
      return { message: `expected at least ${issue.minimum}` };
    case 'too_big':
      return { message: `expected at most ${issue.maximum}` };
    case 'invalid_key':
      return { message: 'expected a name of a letter, then letters, digits, _ or -' };
    default:
      return { message: issue.message };
  }
}

function problemsOf(file: string, issues: readonly z.core.$ZodIssue[], value: unknown): Problem[] {
  return issues.flatMap((issue): Problem[] => {
    const path = pathText(issue.path);
    const found = valueAt(issue.path, value);
    if (issue.code === 'invalid_union') {
      const meant = issue.errors[branchOf(schemaAt(issue.path, value)?.def?.options ?? [], found)] ?? [];
      const inside = meant.map((each) => ({ ...each, path: [...issue.path, ...each.path] }));
      if (inside.length > 0) return problemsOf(file, inside, value);
    }
    if (issue.code === 'unrecognized_keys') {
      const allowed = keysAt(issue.path, value);
      return issue.keys.map((key) => {
        const nearest = nearestName(key, allowed);
        const near = nearest === undefined ? {} : { nearest };
        return { file, path: pathText([...issue.path, key]), message: 'unknown key', allowed, ...near };
      });
    }
    return [{ file, path, ...wordsFor(issue, found), found: show(found) }];
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
    const problems = problemsOf(path ?? 'settings', parsed.error.issues, merged);
    throw new SluiceError(
      'INVALID_CONFIG',
      `The settings have ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}.`,
      problems,
    );
  }
  const config = path === undefined ? parsed.data : withPlaces(parsed.data, path);
  const redis = overrides.redis ?? config.redis ?? process.env.REDIS_URL;
  return redis === undefined || redis === '' ? config : { ...config, redis };
}

/** Reads no more than a settings file can hold, from a device or a pipe too. */
async function readBounded(file: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(file, { end: MAX_BYTES })) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (bytes.length > MAX_BYTES) throw new Error(`is larger than ${MAX_BYTES / 2 ** 20} MiB`);
  return bytes.toString('utf8');
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The document's value, or every reason why it has none: YAML that is broken, too deep, or all aliases. */
function parseYaml(text: string): { value: unknown } | { reasons: string[] } {
  try {
    const document = parseDocument(text.replace(/^\uFEFF/, ''));
    if (document.errors.length > 0) return { reasons: document.errors.map(reasonOf) };
    return { value: document.toJS({ maxAliasCount: 100 }) ?? {} };
  } catch (error) {
    return { reasons: [`cannot be read as YAML: ${reasonOf(error)}`] };
  }
}

async function readConfig(file: string): Promise<Record<string, unknown>> {
  const refuse = (...reasons: string[]): never => {
    const problems = reasons.map((message) => ({ file, path: '', message }));
    throw new SluiceError('INVALID_CONFIG', 'The settings cannot be used.', problems);
  };
  const text = await readBounded(file).catch((error: unknown) => refuse(reasonOf(error)));
  const parsed = parseYaml(text);
  if ('reasons' in parsed) return refuse(...parsed.reasons);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(`expected a mapping; found ${show(value)}`);
  return value as Record<string, unknown>;
}
