import { isPlainObject, type Json } from '../json.js';
import { type Problem, show } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import { isExtension } from '../scenario/schema.js';
import { BUILT_IN_NAMESPACE } from './built-in.js';
import { readCallable } from './callable.js';
import type { CodedProblem } from './codes.js';
import { SHAPES } from './document.js';
import { nearestOf, own, type Raw, type Report, readFields, reportUnknownKeys } from './fields.js';
import { fullName, nameProblem } from './lookup.js';
import { type Graph, isSkill, KINDS, type Kind, type RegistryDocument, type SkillDocument } from './model.js';
import { plainCopy } from './plain.js';

/** A document as a user gives it, parsed but not yet looked at. */
export interface GivenDocument {
  /** File as the user named it; `-` for standard input. */
  file?: string;
  /** Line, from 1, at which it begins. */
  line?: number;
  /** Kind of the command that was called; a `kind` in the document overrules it. */
  kind: Kind;
  value: unknown;
}

/** A document after reading, before it meets the others. */
export interface Draft {
  /** Where it was given. */
  place: Pick<GivenDocument, 'file' | 'line'>;
  kind: Kind;
  /** Full name, where it has one that is well-formed. */
  name: string | undefined;
  /** What it wraps and the arguments that it maps, even where something is wrong with it. */
  wrapping?: { wraps: string; mapped: string[] };
  /** As far as it could be read, even where something is wrong with it. */
  graph?: Graph;
  /** Undefined when something is wrong with it. */
  document: RegistryDocument | undefined;
  problems: Problem[];
}

/** Adds a problem to a document, which is then not registered. */
export function refuse(draft: Draft, { code, ...problem }: CodedProblem): void {
  draft.problems.push({ code, ...draft.place, ...problem });
  draft.document = undefined;
}

/** Namespaces of names that Sluice gives: tools of its own, and the rules of scenarios. */
const RESERVED: readonly string[] = [BUILT_IN_NAMESPACE, 'scenario'];

/** Reads a document and tells everything that is wrong with it by itself. Never throws. */
export function readDocument({ file, line, kind: called, value }: GivenDocument): Draft {
  const place = { ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
  const problems: Problem[] = [];
  const report: Report = ({ code, ...problem }) => problems.push({ code, ...place, ...problem });
  const plain = plainCopy(value);
  const draft = { place, kind: called, name: nameIn(value), document: undefined, problems };
  if (!plain.ok) {
    problems.push(...plain.problems.map((problem) => ({ ...place, ...problem })));
    return draft;
  }
  if (!isPlainObject(plain.value)) {
    const message = 'a document must be an object with a name';
    report({ code: 'NOT_AN_OBJECT', path: '', message, found: show(plain.value) });
    return draft;
  }
  const raw = plain.value;
  const kind = readKind(raw, called, report);
  const name = readName(raw, report);
  reportKeys(raw, kind, report);
  const document =
    kind === 'skill' ? readSkill(raw, name ?? '', report) : readCallable(raw, kind, name ?? '', report);
  const wrapping = kind === 'validation' ? wrappingIn(raw) : {};
  const graph = isSkill(document) || document.graph === undefined ? {} : { graph: document.graph };
  const sound = problems.length === 0 ? document : undefined;
  return { place, kind, name, ...wrapping, ...graph, document: sound, problems };
}

/** The name of a document that cannot be read, so that others may refer to it. */
function nameIn(value: unknown): string | undefined {
  try {
    const name = isPlainObject(value) ? value.name : undefined;
    return typeof name === 'string' && nameProblem(name) === undefined ? fullName(name) : undefined;
  } catch {
    return undefined;
  }
}

function wrappingIn(raw: Raw): Pick<Draft, 'wrapping'> {
  const wraps = own(raw, 'wraps');
  const mapping = own(raw, 'argument_mapping');
  if (typeof wraps !== 'string' || !isPlainObject(mapping)) return {};
  return { wrapping: { wraps: fullName(wraps), mapped: Object.keys(mapping) } };
}

function readKind(raw: Raw, called: Kind, report: Report): Kind {
  const given = own(raw, 'kind');
  if (given === undefined) return called;
  const kind = KINDS.find((each) => each === given);
  if (kind !== undefined) return kind;
  const message = 'is no kind of document';
  report({
    code: 'UNKNOWN_KIND',
    path: 'kind',
    message,
    found: show(given),
    allowed: [...KINDS],
    ...nearestOf(given, KINDS),
  });
  return called;
}

function readName(raw: Raw, report: Report): string | undefined {
  const given = own(raw, 'name');
  if (given === undefined) report({ code: 'MISSING_FIELD', path: 'name', message: 'is missing' });
  else if (typeof given !== 'string')
    report({ code: 'WRONG_TYPE', path: 'name', message: 'must be a string', found: show(given) });
  else {
    const message = nameProblem(given);
    const [namespace = ''] = fullName(given).split('/');
    if (message !== undefined) report({ code: 'BAD_NAME', path: 'name', message, found: show(given) });
    else if (RESERVED.includes(namespace)) {
      const reserved = `the namespace ${namespace} belongs to Sluice itself`;
      report({ code: 'RESERVED_NAME', path: 'name', message: reserved, found: show(given) });
    } else return fullName(given);
  }
  return undefined;
}

/** Keys that another kind has are told apart from slips. */
function reportKeys(raw: Raw, kind: Kind, report: Report): void {
  const allowed = Object.keys(SHAPES[kind]);
  const foreign = new Set<string>();
  for (const key of Object.keys(raw)) {
    if (allowed.includes(key) || isExtension(key)) continue;
    const owner = KINDS.find((each) => Object.hasOwn(SHAPES[each], key));
    if (owner === undefined) continue;
    foreign.add(key);
    const message = `belongs to a ${owner}, and this is a ${kind}`;
    report({ code: 'FOREIGN_FIELD', path: childPath('', key), message });
  }
  const others = Object.fromEntries(Object.entries(raw).filter(([key]) => !foreign.has(key)));
  reportUnknownKeys(others, allowed, '', report);
}

function readSkill(raw: Raw, name: string, report: Report): SkillDocument {
  const { description, tools } = SHAPES.skill;
  const fields = readFields({ description, tools }, raw, '', report);
  const names = ((fields.tools ?? []) as string[]).map(fullName);
  names.forEach((each, n) => {
    if (names.indexOf(each) === n) return;
    const message = `is listed twice, first at tools[${names.indexOf(each)}]`;
    report({ code: 'DUPLICATE_MEMBER', path: childPath('tools', n), message, found: each });
  });
  return { kind: 'skill', name, description: (fields.description ?? '') as string & Json, tools: names };
}
