import { z } from 'zod';
import { sha256 } from '../digest.js';
import { canonicalJson, isPlainObject } from '../json.js';
import { type Problem, show } from '../problem.js';
import { findValidator } from '../validators/built-in.js';
import { normalBundlePath } from '../validators/bundle-path.js';
import { issueProblem } from './issues.js';
import { childPath, type JsonFlaw, linesOf, positionOf, scanJson } from './json-scan.js';
import { type Rule, SCOPES, type Scenario } from './model.js';
import { nearestOf, type Report, readRule, reportUnknownKeys } from './rules.js';
import { keyField } from './schema.js';

/** A scenario file after loading, before its bundle is known. */
export interface ScenarioSource {
  key: string;
  /** The file names no key; it is the folder's name. */
  keyFromFolder?: true;
  title?: string;
  /** In the order of results: gateway, job, tasks. */
  rules: Rule[];
  /** The file's other top-level keys, as they stand. */
  extra: Record<string, unknown>;
}

export interface ScenarioInput {
  /** The file as the user named it. */
  file: string;
  /** Its content; a byte order mark is accepted. */
  text: string;
  /** The key when the file names none: its folder's name. */
  defaultKey: string;
}

export type LoadedScenario = { ok: true; scenario: ScenarioSource } | { ok: false; problems: Problem[] };

function readJson(text: string, report: Report): unknown {
  if (text.trim() === '') {
    report({ path: '', message: 'the file is empty' });
    return undefined;
  }
  const { fatal, flaws } = scanJson(text);
  const located = (flaw: JsonFlaw, prefix: string): Problem => {
    const { line, column } = positionOf(text, flaw.offset);
    return { line, path: flaw.path, message: `${prefix}${flaw.message} (line ${line}, column ${column})` };
  };
  if (fatal !== undefined) {
    report(located(fatal, 'not valid JSON: '));
    return undefined;
  }
  for (const flaw of flaws) report(located(flaw, ''));
  return JSON.parse(text);
}

function readKey(document: Record<string, unknown>, defaultKey: string, report: Report): string {
  if (!Object.hasOwn(document, 'key')) {
    if (keyField.safeParse(defaultKey).success) return defaultKey;
    const message = 'is missing, and the name of the scenario’s folder cannot serve as one';
    report({ path: 'key', message, found: show(defaultKey) });
    return '';
  }
  const parsed = keyField.safeParse(document.key);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue !== undefined) report(issueProblem(issue, document.key, 'key'));
  return '';
}

function readRules(document: Record<string, unknown>, report: Report): Rule[] {
  if (!Object.hasOwn(document, 'validation')) {
    report({ path: 'validation', message: 'is missing', ...nearestKey(document) });
    return [];
  }
  const validation = document.validation;
  if (!isPlainObject(validation)) {
    report({
      path: 'validation',
      message: 'must be an object',
      found: show(validation),
      allowed: [...SCOPES],
    });
    return [];
  }
  reportUnknownKeys(validation, SCOPES, 'validation', report);
  return SCOPES.filter((scope) => Object.hasOwn(validation, scope)).flatMap((scope) => {
    const path = childPath('validation', scope);
    const entries = validation[scope];
    if (!Array.isArray(entries)) {
      report({ path, message: 'must be a list of rules', found: show(entries) });
      return [];
    }
    return entries.flatMap((raw: unknown, index) => {
      const rule = readRule(raw, scope, index, childPath(path, index), report);
      return rule === undefined ? [] : [rule];
    });
  });
}

/** Adds the line of what each problem is about. */
function withLines(problems: readonly Problem[], text: string): Problem[] {
  const lines = linesOf(
    text,
    problems.map(({ path }) => path),
  );
  return problems.map((problem, n) => {
    const line = problem.line ?? lines[n];
    if (line === undefined) return problem;
    const { file, ...rest } = problem;
    return { ...(file === undefined ? {} : { file }), line, ...rest };
  });
}

/** The slip that most likely stands for `validation`. */
function nearestKey(document: Record<string, unknown>): { found?: string; nearest?: string } {
  for (const key of Object.keys(document)) {
    if ('nearest' in nearestOf(key, ['validation'])) return { found: show(key), nearest: 'validation' };
  }
  return {};
}

/**
 * Reads a scenario file and refuses it with **every** problem at once (DESIGN 3.2.1): file, path,
 * found, allowed and nearest name. Never throws. A scenario without any rule loads; it fails at
 * the gate, where nothing was verified.
 */
export function loadScenario({ file, text, defaultKey }: ScenarioInput): LoadedScenario {
  const problems: Problem[] = [];
  const report: Report = (problem) => problems.push({ file, ...problem });
  const content = text.startsWith('\ufeff') ? text.slice(1) : text;
  const document = readJson(content, report);
  if (document === undefined) return { ok: false, problems };
  if (!isPlainObject(document)) {
    report({ path: '', message: 'must be an object with the key "validation"', found: show(document) });
    return { ok: false, problems };
  }
  const key = readKey(document, defaultKey, report);
  const rules = readRules(document, report);
  if (problems.length > 0) return { ok: false, problems: withLines(problems, content) };
  const { key: _key, validation: _validation, ...extra } = document;
  const title = typeof document.title === 'string' ? { title: document.title } : {};
  const keyFromFolder = Object.hasOwn(document, 'key') ? {} : { keyFromFolder: true as const };
  return { ok: true, scenario: { key, ...keyFromFolder, ...title, rules, extra } };
}

/** The files that a scenario's rules name, relative to its folder, with the path of the field that names each. */
export function neededFiles(source: Pick<ScenarioSource, 'rules'>): { path: string; file: string }[] {
  return source.rules.flatMap(({ scope, index, validator, params }) =>
    (findValidator(validator)?.fileFields ?? []).flatMap((field) => {
      const file = params[field];
      if (typeof file !== 'string') return [];
      return [{ path: `validation.${scope}[${index}].${field}`, file: normalBundlePath(file) }];
    }),
  );
}

type Content = Omit<Scenario, 'digest'>;

const contentSchema = z.object({
  key: z.string(),
  title: z.string().optional(),
  rules: z.array(
    z.object({
      scope: z.enum(SCOPES),
      index: z.number().int().min(0),
      label: z.string(),
      validator: z.string().refine((name) => findValidator(name) !== undefined, 'is not a known validator'),
      required: z.boolean(),
      negate: z.boolean(),
      params: z.record(z.string(), z.unknown()),
    }),
  ),
  bundle: z.string().optional(),
});

function contentJson({ key, title, rules, bundle }: Content): string {
  return canonicalJson({ key, title, rules, bundle });
}

/** SHA-256 over the canonical JSON of key, title, rules with their parameters, and bundle. */
export function scenarioDigest(content: Content): string {
  return sha256(contentJson(content));
}

/** The scenario that evaluations refer to; `bundleDigest` when its rules need files. */
export function sealScenario(source: ScenarioSource, bundleDigest?: string): Scenario {
  const content: Content = {
    key: source.key,
    ...(source.title === undefined ? {} : { title: source.title }),
    rules: source.rules,
    ...(bundleDigest === undefined ? {} : { bundle: bundleDigest }),
  };
  return { ...content, digest: scenarioDigest(content) };
}

/** A scenario as it is stored: a text whose SHA-256 is the scenario's digest. */
export function scenarioJson(scenario: Scenario): string {
  return contentJson(scenario);
}

/** Reads what `scenarioJson` wrote. Throws when it is anything else, or from a version with other validators. */
export function parseScenario(json: string): Scenario {
  const parsed = contentSchema.parse(JSON.parse(json));
  const { title, bundle, ...rest } = parsed;
  const content: Content = {
    ...rest,
    ...(title === undefined ? {} : { title }),
    ...(bundle === undefined ? {} : { bundle }),
  };
  return { ...content, digest: sha256(json) };
}
