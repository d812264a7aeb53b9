import { readdir, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Problem, SluiceError } from '../core/problem.js';
import type { Kind } from '../core/registry/model.js';
import type { GivenDocument } from '../core/registry/register.js';
import type { InputCode } from './codes.js';
import { withListedFiles } from './document-files.js';
import { readText } from './read-text.js';
import { readFailure } from './text.js';
import { type ReadAnswer, readJson, readYaml } from './yaml-documents.js';

/** Size limit of a file of documents, in bytes. */
const MAX_DOCUMENT_BYTES = 4 * 2 ** 20;

/** Endings of the files that a folder gives. */
const ENDINGS = ['.yaml', '.yml', '.json'];

/** `-`: standard input. */
const STDIN = '-';

const EMPTY: InputCode = 'NO_DOCUMENT';

type Found = { file: string } | { problem: Problem };

const unreadable = (file: string, message: string): Found => ({
  problem: { code: 'UNREADABLE' satisfies InputCode, file, path: '', message },
});

/** Files of documents in a folder and below it, by name; each real folder once, so that links end. */
async function below(folder: string, seen: Set<string>): Promise<Found[]> {
  let names: string[];
  try {
    const real = await realpath(folder);
    if (seen.has(real)) return [];
    seen.add(real);
    names = (await readdir(folder)).sort();
  } catch (error) {
    return [unreadable(folder, readFailure(error))];
  }
  const found: Found[] = [];
  for (const name of names) {
    if (name.startsWith('.') || name === 'node_modules') continue;
    const file = join(folder, name);
    const isWanted = ENDINGS.includes(extname(name).toLowerCase());
    const info = await stat(file).catch((error: unknown) => readFailure(error));
    if (typeof info === 'string') {
      if (isWanted) found.push(unreadable(file, info));
    } else if (info.isDirectory()) found.push(...(await below(file, seen)));
    else if (info.isFile() && isWanted) found.push({ file });
  }
  return found;
}

async function expand(path: string): Promise<Found[]> {
  if (path === STDIN) return [{ file: path }];
  const info = await stat(path).catch((error: unknown) => readFailure(error));
  if (typeof info === 'string') return [unreadable(path, info)];
  if (!info.isDirectory()) return [{ file: path }];
  const found = await below(path, new Set());
  if (found.length > 0) return found;
  const allowed = ENDINGS.map((ending) => `*${ending}`);
  return [
    {
      problem: { code: EMPTY, file: path, path: '', message: 'holds no files of documents', allowed },
    },
  ];
}

/** JSON by its ending or because it is some; YAML else, which most JSON is as well. */
function parse(file: string, text: string): ReadAnswer {
  const options = { split: true };
  if (extname(file).toLowerCase() === '.json') return readJson(text, options);
  if (/^\s*[{[]/.test(text)) {
    const json = readJson(text, options);
    if ('documents' in json) return json;
  }
  return readYaml(text, options);
}

/** A document, and the line of a path in it. */
interface Located {
  document: GivenDocument;
  lineOf(path: string): number;
}

/** What was read, and where in it something stands. */
export interface DocumentsRead {
  given: GivenDocument[];
  /** Problems with these documents, each with the line of its own path, in the order of the files. */
  locate(problems: readonly Problem[]): Problem[];
}

/** Documents that begin in one line cannot be told apart by it; their problems stay at that line. */
function locate(documents: readonly Located[], problems: readonly Problem[]): Problem[] {
  const places = new Map<string, number[]>();
  const placeOf = ({ file, line }: { file?: string; line?: number }) => JSON.stringify([file, line]);
  for (const [n, { document }] of documents.entries()) {
    const key = placeOf(document);
    places.set(key, [...(places.get(key) ?? []), n]);
  }
  const located = problems.map((problem) => {
    const [first = documents.length, ...others] = places.get(placeOf(problem)) ?? [];
    const document = others.length === 0 ? documents[first] : undefined;
    return { first, problem: document ? { ...problem, line: document.lineOf(problem.path) } : problem };
  });
  return located
    .sort((a, b) => a.first - b.first || (a.problem.line ?? 0) - (b.problem.line ?? 0))
    .map(({ problem }) => problem);
}

async function readFileOf(
  file: string,
  kind: Kind,
  stdin: NodeJS.ReadableStream,
): Promise<{ given: Located[] } | { problems: Problem[] }> {
  const read = await readText(file === STDIN ? stdin : file, MAX_DOCUMENT_BYTES);
  if ('message' in read) {
    const code: InputCode = read.message.startsWith('is larger') ? 'TOO_LARGE' : 'UNREADABLE';
    return { problems: [{ code, file, path: '', message: read.message }] };
  }
  const nothing: Problem = { code: EMPTY, file, path: '', message: 'holds no document' };
  if (read.text.trim() === '') return { problems: [nothing] };
  const answer = parse(file, read.text);
  if ('problems' in answer) return { problems: answer.problems.map((problem) => ({ file, ...problem })) };
  if (answer.documents.length === 0) return { problems: [nothing] };
  const given: Located[] = [];
  const problems: Problem[] = [];
  for (const { line, value, lineOf } of answer.documents) {
    // What comes by standard input has no folder: the list stays, and is refused when it is registered.
    const read = file === STDIN ? { value } : await withListedFiles(file, value);
    if ('value' in read) given.push({ document: { file, line, kind, value: read.value }, lineOf });
    else problems.push(...read.problems.map((problem) => ({ file, line: lineOf(problem.path), ...problem })));
  }
  return problems.length > 0 ? { problems } : { given };
}

/** Each file once, however many of the given paths reach it. */
async function filesOf(paths: readonly string[]): Promise<{ files: string[]; problems: Problem[] }> {
  const files = new Map<string, string>();
  const problems: Problem[] = [];
  for (const path of paths) {
    for (const found of await expand(path)) {
      if ('problem' in found) {
        problems.push(found.problem);
        continue;
      }
      const real = found.file === STDIN ? STDIN : await realpath(found.file).catch(() => found.file);
      if (!files.has(real)) files.set(real, found.file);
    }
  }
  return { files: [...files.values()], problems };
}

/**
 * Documents of the registry as users write them: YAML or JSON, one or many a file; a folder gives its
 * files and those below, in order of their names; `-` is standard input. `kind` is what a document is
 * that does not say it. Files that a document lists by their paths beside its own file stand in it with
 * their content.
 * @throws SluiceError INVALID_DOCUMENT with every problem of every file
 */
export async function readDocuments(
  paths: readonly string[],
  kind: Kind,
  stdin: NodeJS.ReadableStream,
): Promise<DocumentsRead> {
  const { files, problems } = await filesOf(paths);
  const documents: Located[] = [];
  for (const file of files) {
    const read = await readFileOf(file, kind, stdin);
    if ('problems' in read) problems.push(...read.problems);
    else documents.push(...read.given);
  }
  if (problems.length === 0)
    return {
      given: documents.map(({ document }) => document),
      locate: (found) => locate(documents, found),
    };
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  throw new SluiceError('INVALID_DOCUMENT', `${count} in the documents`, problems);
}
