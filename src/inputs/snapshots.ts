import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Problem } from '../core/problem.js';
import { MOST_SNAPSHOT_BYTES } from '../core/snapshot.js';
import type { InputCode } from './codes.js';
import { contentOf, folderSnapshot } from './folder-snapshot.js';
import { decode, readFailure } from './text.js';
import { type ReadAnswer, readJson, readYaml } from './yaml-documents.js';

type Read = { value: unknown } | { problems: Problem[] };

const BAD: InputCode = 'BAD_SNAPSHOT';

const failed = (message: string, more: Partial<Problem> = {}): Read => ({
  problems: [{ code: BAD, path: '', message, ...more }],
});

async function readBytes(source: string | NodeJS.ReadableStream): Promise<Buffer | string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    const stream = typeof source === 'string' ? createReadStream(source) : source;
    for await (const piece of stream as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > MOST_SNAPSHOT_BYTES) return `is larger than ${MOST_SNAPSHOT_BYTES / 2 ** 20} MiB`;
      pieces.push(piece);
    }
  } catch (error) {
    return readFailure(error);
  }
  return Buffer.concat(pieces);
}

function oneValue(answer: ReadAnswer): Read {
  if ('problems' in answer) return answer;
  const [only, ...more] = answer.documents;
  if (only === undefined) return failed('holds no value');
  return more.length === 0 ? { value: only.value } : failed('holds several YAML documents; one is expected');
}

function parse(ending: string, bytes: Buffer): Read {
  if (!['.json', '.yaml', '.yml'].includes(ending)) return { value: contentOf(bytes) };
  const decoded = decode(bytes);
  if ('message' in decoded) return failed(decoded.message);
  const read = ending === '.json' ? readJson : readYaml;
  return oneValue(read(decoded.text, { split: false }));
}

async function readPath(path: string): Promise<Read> {
  const info = await stat(path).catch((error: unknown) => readFailure(error));
  if (typeof info === 'string')
    return failed(`${info}; inline JSON starts with {, [ or "`, { file: path, found: path });
  if (info.isDirectory()) {
    const snapshot = await folderSnapshot(path);
    return 'value' in snapshot ? snapshot : failed(snapshot.message, { file: path });
  }
  const bytes = await readBytes(path);
  const read = typeof bytes === 'string' ? failed(bytes) : parse(extname(path).toLowerCase(), bytes);
  if ('value' in read) return read;
  return { problems: read.problems.map((problem) => ({ ...problem, file: path })) };
}

/**
 * Evidence as it is named on the command line: inline JSON (it starts with `{`, `[` or `"`); a file of
 * JSON or YAML by its ending, which is its value; any other file, which is its text; a folder, which is
 * `{"files": {path: text or {"base64"}}}`.
 */
export function readEvidence(what: string): Promise<Read> {
  if (!/^\s*[{["]/.test(what)) return readPath(what);
  return Promise.resolve(oneValue(readJson(what, { split: false })));
}

export interface SnapshotsNamed {
  /** Each as `NAME=WHAT`. */
  snapshot?: readonly string[];
  /** A JSON file with an object of snapshots by resource; `-` is standard input. */
  snapshots?: string;
}

/** `NAME=REST`, taken apart at the first `=`. */
export function splitNamed(
  option: string,
  given: string,
  rest: string,
): { name: string; rest: string } | Problem {
  const at = given.indexOf('=');
  if (at > 0 && at < given.length - 1) return { name: given.slice(0, at), rest: given.slice(at + 1) };
  const message = `expected NAME=${rest}; what has no option of its own comes before the options`;
  return { code: 'NOT_NAMED' satisfies InputCode, path: option, message, found: given };
}

async function readMany(file: string, stdin: NodeJS.ReadableStream): Promise<Read> {
  const place = { path: '--snapshots', file };
  const bytes = await readBytes(file === '-' ? stdin : file);
  const read = typeof bytes === 'string' ? failed(bytes) : parse('.json', bytes);
  if ('problems' in read) return { problems: read.problems.map((problem) => ({ ...problem, file })) };
  const { value } = read;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return read;
  return failed('expected a JSON object of snapshots by resource', place);
}

/**
 * The snapshots that a command names, by resource; every problem with them goes to `problems`.
 * Undefined when it names none.
 */
export async function readSnapshots(
  { snapshot = [], snapshots }: SnapshotsNamed,
  stdin: NodeJS.ReadableStream,
  problems: Problem[],
): Promise<Record<string, unknown> | undefined> {
  const found = new Map<string, unknown>();
  if (snapshots !== undefined) {
    const read = await readMany(snapshots, stdin);
    if ('problems' in read) problems.push(...read.problems);
    else for (const [name, value] of Object.entries(read.value as object)) found.set(name, value);
  }
  for (const given of snapshot) {
    const named = splitNamed('--snapshot', given, 'FILE, FOLDER or JSON');
    if ('message' in named) {
      problems.push(named);
      continue;
    }
    const path = `--snapshot ${named.name}`;
    if (found.has(named.name))
      problems.push({ code: BAD, path, message: 'is given twice', found: named.name });
    const read = await readEvidence(named.rest);
    if ('problems' in read)
      problems.push(
        ...read.problems.map((problem) => ({
          ...problem,
          path: problem.path === '' ? path : `${path}: ${problem.path}`,
        })),
      );
    else found.set(named.name, read.value);
  }
  return snapshots === undefined && snapshot.length === 0 ? undefined : Object.fromEntries(found);
}
