import { parse as parsePath } from 'node:path';
import { isPlainObject } from '../core/json.js';
import { joinPath } from '../core/json-path.js';
import type { Problem } from '../core/problem.js';
import { recordProblems } from '../core/run-problems.js';
import { type RunRecord, runRecordSchema } from '../core/run-record.js';
import { IMPORTERS } from '../importers/built-in.js';
import type { Importer } from '../importers/importer.js';
import type { KeyNotes } from './key-notes.js';

/** A run record and where it stands. */
export interface RunItem {
  /** As the user named it; `-` for standard input. */
  file: string;
  /** Line number from 1, for NDJSON. */
  line?: number;
  /** JSON path inside the file or line; empty for all of it. */
  path: string;
  run: RunRecord;
}

export interface RunProblem {
  problem: Problem;
  /** `source`: a file gave nothing; `record`: one record is lost (`--skip-invalid` may pass over it). */
  about: 'source' | 'record';
  /** Whether it is the first problem of its source or record: these are the ones to count. */
  first: boolean;
  /** The record does not look like a run record at all. */
  alien?: true;
}

export type RunOrProblem = RunItem | RunProblem;

/** The format of our own records, for logs that an importer would take. */
export const OWN_FORMAT = 'run-record';

/** Names that `--format` takes. */
export function runFormats(): string[] {
  return [OWN_FORMAT, ...IMPORTERS.map((importer) => importer.name)];
}

/** An importer, or `own` for run records. */
export type RunFormat = Importer | 'own';

/** Where a value stands. */
export interface Place {
  file: string;
  line?: number;
  path: string;
  importer?: string;
}

/** A problem that stands for its whole source or record. */
export function about(
  kind: RunProblem['about'],
  place: Omit<Place, 'importer'>,
  message: string,
): RunProblem {
  const { file, line, path } = place;
  return {
    problem: { file, ...(line === undefined ? {} : { line }), path, message },
    about: kind,
    first: true,
  };
}

function check(record: unknown): { run: RunRecord } | { problems: Problem[] } {
  try {
    const parsed = runRecordSchema.safeParse(record);
    return parsed.success ? { run: parsed.data } : { problems: recordProblems(parsed.error, record) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { problems: [{ path: '', message: 'is nested too deeply' }] };
  }
}

/** Keys of which a run record has at least one. */
export const TELLING_KEYS = ['id', 'job', 'tasks', 'ticket'];

function looksLikeRecord(value: unknown): boolean {
  return isPlainObject(value) && TELLING_KEYS.some((key) => Object.hasOwn(value, key));
}

/** A parsed value as a run record, or what is wrong with it; `notes` are told of keys that look like slips. */
export function* record(value: unknown, place: Place, notes?: KeyNotes): Generator<RunOrProblem> {
  const { file, line, path, importer } = place;
  const at = line === undefined ? { file } : { file, line };
  const checked = check(value);
  const alien = importer === undefined && 'problems' in checked && !looksLikeRecord(value);
  if (importer === undefined && !alien) notes?.look(value);
  if ('run' in checked) {
    yield { ...at, path, run: checked.run };
    return;
  }
  let first = true;
  for (const problem of checked.problems) {
    const message = importer === undefined ? problem.message : `${problem.message} (as read by ${importer})`;
    yield {
      problem: { ...problem, ...at, path: joinPath(path, problem.path), message },
      about: 'record',
      first,
      ...(alien ? { alien } : {}),
    };
    first = false;
  }
}

function* imported(value: unknown, importer: Importer, { file }: Place): Generator<RunOrProblem> {
  const stem = file === '-' ? 'stdin' : parsePath(file).name;
  for (const { path, run } of importer.runs(value, stem)) {
    yield* record(run, { file, path, importer: importer.name });
  }
}

/** The runs of a whole JSON document: records, or a log that an importer knows. */
export function* documentRuns(
  value: unknown,
  place: Place,
  format: RunFormat | undefined,
  notes?: KeyNotes,
): Generator<RunOrProblem> {
  if (format !== undefined && format !== 'own') {
    if (format.sniff(value)) yield* imported(value, format, place);
    else yield about('source', place, `is not what ${format.name} writes`);
    return;
  }
  const own = format === 'own' || (isPlainObject(value) && typeof value.id === 'string');
  const importer = own ? undefined : IMPORTERS.find((candidate) => candidate.sniff(value));
  if (importer !== undefined) {
    yield* imported(value, importer, place);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* record(item, { ...place, path: `[${index}]` }, notes);
  } else {
    yield* record(value, place, notes);
  }
}
