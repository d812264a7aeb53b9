import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type YAMLMap,
  type YAMLWarning,
} from 'yaml';
import { isPlainObject } from '../core/json.js';
import { joinPath, jsonPath } from '../core/json-path.js';
import type { Problem } from '../core/problem.js';
import { linesOf, positionOf, scanJson } from '../core/scenario/json-scan.js';
import type { InputCode } from './codes.js';
import { jsonPathLines, nearestLine, type PathLines, yamlPathLines } from './path-lines.js';

/** A value of a text, and the line (from 1) at which it begins. */
interface ReadDocument {
  line: number;
  value: unknown;
  /** Line of a path in it, or of the nearest that is there above it. */
  lineOf(path: string): number;
}

export interface ReadOptions {
  /** A list is as many documents as it has items. */
  split: boolean;
}

/** Problems stand with their line. */
export type ReadAnswer = { documents: ReadDocument[] } | { problems: Problem[] };

/** Deepest nesting of lists and mappings. */
const MOST_LEVELS = 100;
/** Uses of one anchor, those within what it stands for included. */
const MOST_ALIASES = 100;
/** Values and characters of one document once every alias is written out. */
const MOST_EXPANDED = 16 * 2 ** 20;
/** Problems of one text that are told: one slip can make hundreds. */
const MOST_TOLD = 20;

type Complaint = { code: InputCode; message: string };

const TOO_DEEP: Complaint = { code: 'TOO_DEEP', message: `is nested deeper than ${MOST_LEVELS} levels` };

/** What the parser complains of, in words of ours where its own do not say what to do. */
function complaint(error: { code: string; message: string }): Complaint {
  if (error.code === 'TAG_RESOLVE_FAILED')
    return { code: 'CUSTOM_TAG', message: `the value has a tag of its own (${error.message})` };
  // The parser reports its own exhausted stack as an error of the text.
  if (error.message.startsWith('Maximum call stack')) return TOO_DEEP;
  const text = error.message.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, 200);
  return { code: 'SYNTAX', message: `is not valid YAML: ${text}` };
}

/** The key whose mapping has numbers as keys: exit codes. */
const NUMBERED = 'exit_codes';

/** A key as text; undefined for one that is none, and is no number where it may be one. */
function textOfKey(key: unknown, numbered: boolean): string | undefined {
  if (!isScalar(key)) return undefined;
  if (typeof key.value === 'string') return key.value;
  return numbered && Number.isInteger(key.value) ? String(key.value) : undefined;
}

/** The keys of a mapping that are no text, or there already. */
function keyProblems(map: YAMLMap, numbered: boolean, lineOf: (offset: number) => number): Problem[] {
  const seen = new Set<string>();
  const problems: Problem[] = [];
  for (const { key } of map.items) {
    const text = textOfKey(key, numbered);
    const isNew = text !== undefined && !seen.has(text);
    if (text !== undefined) seen.add(text);
    if (isNew) continue;
    const line = lineOf(isNode(key) ? (key.range?.[0] ?? 0) : 0);
    const found = isScalar(key) ? { found: key.source ?? String(key.value) } : {};
    const told: Complaint =
      text === undefined
        ? { code: 'KEY_NOT_TEXT', message: 'a key is no text; put it in quotes' }
        : { code: 'DUPLICATE_KEY', message: 'the key appears twice in its mapping' };
    problems.push({ ...told, line, path: '', ...found });
  }
  return problems;
}

const isNumbered = (above: unknown): boolean =>
  isPair(above) && isScalar(above.key) && above.key.value === NUMBERED;

/** Keys that are no text or appear twice, and nesting that would exhaust the stack. */
function structureProblems(document: Document.Parsed, lineOf: (offset: number) => number): Problem[] {
  const problems: Problem[] = [];
  visit(document, (_key, node, path) => {
    // Of a mapping's level, the mapping and the pair are each a step.
    if (isNode(node) && path.length > 2 * MOST_LEVELS) {
      problems.push({ ...TOO_DEEP, line: lineOf(node.range?.[0] ?? 0), path: '' });
      return visit.BREAK;
    }
    if (isMap(node)) problems.push(...keyProblems(node, isNumbered(path.at(-1)), lineOf));
    return undefined;
  });
  return problems;
}

/** What JSON cannot carry of a value, or what makes it too large; one that contains itself has no end. */
function valueProblem(root: unknown): (Complaint & { path: string }) | undefined {
  let left = MOST_EXPANDED;
  const path: PropertyKey[] = [];
  const look = (value: unknown): Complaint | undefined => {
    if (path.length > MOST_LEVELS) return TOO_DEEP;
    left -= typeof value === 'string' ? value.length + 1 : 1;
    if (left < 0) return { code: 'TOO_LARGE', message: 'is too large once its aliases are written out' };
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return undefined;
    const isList = Array.isArray(value);
    if (!isList && (!isPlainObject(value) || Object.getPrototypeOf(value) !== Object.prototype))
      return { code: 'NOT_JSON', message: 'is a value that JSON does not have' };
    for (const [key, inner] of isList ? value.entries() : Object.entries(value)) {
      path.push(key);
      const problem = look(inner);
      if (problem !== undefined) return problem;
      path.pop();
    }
    return undefined;
  };
  const problem = look(root);
  return problem === undefined ? undefined : { ...problem, path: jsonPath(path) };
}

function aliasComplaint(error: unknown): Complaint {
  const message = error instanceof Error ? error.message : String(error);
  if (message.startsWith('Excessive alias count'))
    return { code: 'ALIASES', message: `its aliases stand for too much (${MOST_ALIASES} uses of an anchor)` };
  return { code: 'ALIASES', message: `an alias cannot be followed: ${message.slice(0, 200)}` };
}

/** Where things stand in a text. */
interface Places {
  /** Line of each item of a list that is the whole value. */
  items(): (number | undefined)[];
  /** Asked only for problems, and at most once: it takes as long as reading. */
  paths(): PathLines;
}

/** The value as a document, or the items of a list as documents of their own. */
function documentsOf(line: number, value: unknown, options: ReadOptions, places: Places): ReadDocument[] {
  let lines: PathLines | undefined;
  const lineOf = (path: string): number => {
    if (path === '') return line;
    lines ??= places.paths();
    return nearestLine(lines, path) ?? line;
  };
  if (!options.split || !Array.isArray(value)) return [{ line, value, lineOf }];
  const items = places.items();
  return value.map((item: unknown, n) => {
    const start = items[n] ?? line;
    const inItem = (path: string) => (path === '' ? start : lineOf(joinPath(jsonPath([n]), path)));
    return { line: start, value: item, lineOf: inItem };
  });
}

/** Of several errors of syntax the first: the others mostly follow from it. */
function firstOfSyntax(problems: readonly Problem[]): Problem[] {
  const first = problems.findIndex(({ code }) => code === 'SYNTAX');
  return problems.filter(({ code }, n) => code !== 'SYNTAX' || n === first);
}

function readOne(
  document: Document.Parsed,
  lineOf: (offset: number) => number,
  options: ReadOptions,
): ReadAnswer {
  const told: YAMLWarning[] = [...document.errors, ...document.warnings];
  if (told.length > 0) {
    const all = told.map((each) => ({ ...complaint(each), line: lineOf(each.pos[0]), path: '' }));
    return { problems: firstOfSyntax(all) };
  }
  const problems = structureProblems(document, lineOf);
  if (problems.length > 0) return { problems };
  const { contents } = document;
  const line = lineOf(contents?.range?.[0] ?? document.range[0]);
  const places: Places = {
    items: () =>
      (isSeq(contents) ? contents.items : []).map((item) =>
        isNode(item) && item.range ? lineOf(item.range[0]) : undefined,
      ),
    paths: () => yamlPathLines(contents, lineOf),
  };
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    const problem = valueProblem(value);
    if (problem !== undefined) {
      const own = problem.path === '' ? undefined : nearestLine(places.paths(), problem.path);
      return { problems: [{ ...problem, line: own ?? line }] };
    }
    return { documents: documentsOf(line, value, options, places) };
  } catch (error) {
    return { problems: [{ ...aliasComplaint(error), line, path: '' }] };
  }
}

/** Every document of a YAML text (1.2, core schema, no merge keys); empty ones are passed over. */
export function readYaml(text: string, options: ReadOptions): ReadAnswer {
  const lines = new LineCounter();
  const lineOf = (offset: number) => Math.max(1, lines.linePos(offset).line);
  // The parser looks for keys that appear twice in quadratic time: that is done here.
  const parsed = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'silent',
    uniqueKeys: false,
  });
  const documents: ReadDocument[] = [];
  const problems: Problem[] = [];
  for (const document of parsed) {
    const read = readOne(document, lineOf, options);
    if ('problems' in read) problems.push(...read.problems);
    else documents.push(...read.documents.filter(({ value }) => value !== null));
  }
  return problems.length > 0 ? { problems: problems.slice(0, MOST_TOLD) } : { documents };
}

/** The value of a JSON text; a key that appears twice is refused. */
export function readJson(text: string, options: ReadOptions): ReadAnswer {
  const { fatal, flaws } = scanJson(text);
  const problems = (fatal === undefined ? flaws : [fatal]).map(({ offset, path, message }) => {
    const { line, column } = positionOf(text, offset);
    if (fatal === undefined) return { code: 'DUPLICATE_KEY' satisfies InputCode, line, path, message };
    const code: InputCode = message.startsWith('nested deeper') ? 'TOO_DEEP' : 'SYNTAX';
    return { code, line, path, message: `is not valid JSON: ${message} (line ${line}, column ${column})` };
  });
  if (problems.length > 0) return { problems: problems.slice(0, MOST_TOLD) };
  const { line } = positionOf(text, text.search(/\S/));
  const value: unknown = JSON.parse(text);
  const places: Places = {
    items: () => linesOf(text, Array.isArray(value) ? value.map((_, n) => jsonPath([n])) : []),
    paths: () => jsonPathLines(text, value),
  };
  return { documents: documentsOf(line, value, options, places) };
}
