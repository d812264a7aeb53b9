import { constants } from 'node:buffer';
import { isPlainObject } from '../core/json.js';
import { nearestName, type Problem, SluiceError } from '../core/problem.js';
import { IMPORTERS } from '../importers/built-in.js';
import { withoutAliens } from './alien-records.js';
import { type ByteLine, ByteLines } from './byte-lines.js';
import type { KeyNotes } from './key-notes.js';
import {
  about,
  documentRuns,
  OWN_FORMAT,
  type RunFormat,
  type RunOrProblem,
  record,
  runFormats,
} from './run-items.js';
import { expandSources, openSource, type RunSource } from './run-sources.js';
import { decode, parseJson, readFailure, refuseHead } from './text.js';

export interface ReadRunsOptions {
  /** One of `runFormats()`; default: found out by looking. */
  format?: string;
  stdin?: NodeJS.ReadableStream;
  /** Told of keys that look like slips. */
  notes?: KeyNotes;
  /** Size limit of a line, or of a JSON document, in bytes; default: the longest string, about 512 MiB. */
  maxBytes?: number;
}

interface Settings {
  /** Undefined: look at the document. */
  format: RunFormat | undefined;
  stdin: NodeJS.ReadableStream;
  maxBytes: number;
  notes: KeyNotes | undefined;
}

function parseLine(line: ByteLine): { value: unknown } | { message: string } {
  if (line.tooLong) return { message: 'is longer than can be read; the rest of the file is left out' };
  const decoded = decode(line.bytes);
  if ('message' in decoded) return decoded;
  const parsed = parseJson(decoded.text);
  if ('message' in parsed && !line.ended)
    return { message: `${parsed.message} (the last line may be cut off)` };
  return parsed;
}

function isBlank(line: ByteLine): boolean {
  if (line.tooLong) return false;
  const from = line.number === 1 && line.bytes[0] === 0xef && line.bytes[1] === 0xbb ? 3 : 0;
  for (let i = from; i < line.bytes.length; i += 1) {
    const byte = line.bytes[i];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}

async function nextLine(lines: ByteLines): Promise<ByteLine | undefined> {
  let line = await lines.next();
  while (line !== undefined && isBlank(line)) line = await lines.next();
  return line;
}

async function* lineRuns(
  read: readonly ByteLine[],
  lines: ByteLines,
  file: string,
  notes: KeyNotes | undefined,
): AsyncGenerator<RunOrProblem> {
  const ahead = [...read];
  for (;;) {
    const line = ahead.shift() ?? (await nextLine(lines));
    if (line === undefined) return;
    const parsed = parseLine(line);
    const place = { file, line: line.number, path: '' };
    if ('message' in parsed) yield about('record', place, parsed.message);
    else yield* record(parsed.value, place, notes);
  }
}

async function* wholeRuns(
  read: readonly ByteLine[],
  lines: ByteLines,
  file: string,
  settings: Settings,
): AsyncGenerator<RunOrProblem> {
  const end = Buffer.from('\n');
  const pieces = read.flatMap((line) => (line.ended ? [line.bytes, end] : [line.bytes]));
  let size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  let tooLong = read.some((line) => line.tooLong);
  for await (const chunk of lines.rest()) {
    size += chunk.length;
    tooLong ||= size > settings.maxBytes;
    if (tooLong) break;
    pieces.push(chunk);
  }
  const place = { file, path: '' };
  if (tooLong) {
    const limit = Math.floor(settings.maxBytes / 2 ** 20);
    const message = `is one JSON document of more than ${limit} MiB; give NDJSON (one run record a line) instead`;
    yield about('source', place, message);
    return;
  }
  const decoded = decode(Buffer.concat(pieces));
  const parsed = 'message' in decoded ? decoded : parseJson(decoded.text);
  if ('message' in parsed) yield about('source', place, parsed.message);
  else yield* documentRuns(parsed.value, place, settings.format, settings.notes);
}

/**
 * Whether a first line that is no JSON by itself opens a document of many lines. `asLines`: the name
 * promises one record a line, so a line that may only be broken is no document.
 */
function opensDocument(first: ByteLine, second: ByteLine | undefined, asLines: boolean): boolean {
  const decoded = decode(first.bytes);
  const text = 'text' in decoded ? decoded.text.trim() : '';
  const parsed = second === undefined ? undefined : parseLine(second);
  const isRecordNext = parsed !== undefined && 'value' in parsed && isPlainObject(parsed.value);
  const isOpen = /[{[:,]$/.test(text);
  if (asLines && (second === undefined || !isOpen)) return false;
  if (text.startsWith('[')) return true;
  if (!text.startsWith('{')) return second === undefined;
  if (asLines) return !isRecordNext;
  return isOpen || !isRecordNext;
}

async function* sniffed(lines: ByteLines, file: string, settings: Settings): AsyncGenerator<RunOrProblem> {
  const first = await nextLine(lines);
  if (first === undefined) return;
  const named = settings.format !== undefined && settings.format !== 'own';
  if (named || first.tooLong) {
    yield* wholeRuns([first], lines, file, settings);
    return;
  }
  const asLines = /\.(ndjson|jsonl)$/i.test(file);
  const parsed = parseLine(first);
  const second = await nextLine(lines);
  const read = second === undefined ? [first] : [first, second];
  if ('value' in parsed && second === undefined) {
    const place = { file, line: first.number, path: '' };
    yield* documentRuns(parsed.value, place, settings.format, settings.notes);
    return;
  }

  if ('value' in parsed || !opensDocument(first, second, asLines))
    yield* lineRuns(read, lines, file, settings.notes);
  else yield* wholeRuns(read, lines, file, settings);
}

async function* withHead(
  chunks: AsyncIterable<Buffer | string>,
  refuse: (message: string) => void,
): AsyncGenerator<Buffer> {
  let head = true;
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const message = head ? refuseHead(bytes) : undefined;
    head = false;
    if (message !== undefined) {
      refuse(message);
      return;
    }
    yield bytes;
  }
}

/** The system could not read on, as opposed to a mistake of ours. */
function isReadError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return 'syscall' in error || ('code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE');
}

async function* sourceRuns(source: RunSource, settings: Settings): AsyncGenerator<RunOrProblem> {
  const place = { file: source.file, path: '' };
  const stream = openSource(source, settings.stdin);
  let refused: string | undefined;
  const chunks = withHead(stream as AsyncIterable<Buffer | string>, (message) => {
    refused = message;
  });
  let any = false;
  try {
    const found = sniffed(new ByteLines(chunks, settings.maxBytes), source.file, settings);
    for await (const item of settings.format === undefined ? withoutAliens(found, source.file) : found) {
      any = true;
      yield item;
    }
  } catch (error) {
    if (!isReadError(error)) throw error;
    any = true;
    yield about('source', place, readFailure(error));
  } finally {
    if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy();
  }
  if (refused !== undefined) yield about('source', place, refused);
  else if (!any) yield about('source', place, 'holds no runs');
}

async function* allRuns(
  sources: readonly (string | RunSource)[],
  settings: Settings,
): AsyncGenerator<RunOrProblem> {
  for await (const source of expandSources(sources)) {
    if ('problem' in source) yield { problem: source.problem, about: 'source', first: true };
    else yield* sourceRuns(source, settings);
  }
}

/**
 * Reads runs from files, folders and standard input (`-`), in input order: NDJSON in constant memory,
 * a JSON array or a single record of them, or a log that an importer knows (DESIGN 8). What cannot
 * be read comes as a problem in its place; nothing but a bug throws once reading has begun.
 * @throws SluiceError USAGE when `format` is unknown
 */
export function readRuns(
  sources: readonly (string | RunSource)[],
  options: ReadRunsOptions = {},
): AsyncIterable<RunOrProblem> {
  const { format, stdin = process.stdin, maxBytes = constants.MAX_STRING_LENGTH, notes } = options;
  const importer = IMPORTERS.find((candidate) => candidate.name === format);
  if (format !== undefined && format !== OWN_FORMAT && importer === undefined) {
    const nearest = nearestName(format, runFormats());
    const problem: Problem = {
      path: '--format',
      message: 'is no known format',
      found: format,
      allowed: runFormats(),
    };
    throw new SluiceError('USAGE', `unknown format "${format}"`, [
      nearest === undefined ? problem : { ...problem, nearest },
    ]);
  }
  return allRuns(sources, { format: format === OWN_FORMAT ? 'own' : importer, stdin, maxBytes, notes });
}
