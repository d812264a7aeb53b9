import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import type { BatchDocument, EvaluationDocument, IndexedEvaluation } from '../core/document.js';
import { SluiceError } from '../core/problem.js';
import type { ReportTarget } from './report-target.js';

/** A report whose place is ready: a path that cannot be written shows before the batch runs. */
export type OpenReport =
  | {
      order: 'input';
      file: string;
      write(batch: BatchDocument, evaluations: AsyncIterable<EvaluationDocument>): Promise<void>;
      /** Leaves nothing behind; for a batch that does not come to its end. */
      abort(): Promise<void>;
    }
  | {
      order: 'decision';
      file: string;
      write(evaluations: AsyncIterable<IndexedEvaluation>): Promise<void>;
      /** Closes the file; the lines already written stay. */
      abort(): Promise<void>;
    };

interface Place {
  out: Writable;
  commit(): Promise<void>;
  abort(): Promise<void>;
}

function failure(kind: string, file: string, error: unknown): Error {
  if (!(error instanceof Error && 'code' in error))
    return error instanceof Error ? error : new Error(String(error));
  const name = file === '-' ? 'standard output' : file;
  const wrong = [
    'ENOENT',
    'ENOTDIR',
    'EISDIR',
    'EEXIST',
    'EACCES',
    'EPERM',
    'EROFS',
    'ENAMETOOLONG',
    'ELOOP',
  ];
  const code = wrong.includes(String(error.code)) ? 'USAGE' : 'IO';
  const message = `the ${kind} report cannot be written to ${name}: ${error.message}`;
  const problem = {
    path: '--report',
    message: `cannot be written: ${error.message}`,
    found: `${kind}=${file}`,
  };
  return new SluiceError(code, message, code === 'USAGE' ? [problem] : []);
}

/** Later errors of a stream that is already given up have no one left to hear them. */
function quiet(out: Writable): Writable {
  return out.on('error', () => {});
}

function standardOutput(stdout: Writable): Place {
  return { out: quiet(stdout), commit: async () => {}, abort: async () => {} };
}

function handlePlace(handle: FileHandle, settle: { commit(): Promise<void>; abort(): Promise<void> }): Place {
  const out = quiet(createWriteStream('', { fd: handle }));
  const close = async () => {
    if (out.closed) return;
    const closed = new Promise<void>((done) => out.once('close', done));
    out.destroy();
    await closed;
  };
  return {
    out,
    async commit() {
      out.end();
      if (!out.closed) await once(out, 'close');
      if (out.errored) throw out.errored;
      await settle.commit();
    },
    async abort() {
      await close();
      await settle.abort();
    },
  };
}

const NOTHING = { commit: async () => {}, abort: async () => {} };

async function filePlace(file: string, order: 'input' | 'decision'): Promise<Place> {
  const existing = await stat(file).catch(() => undefined);
  if (order === 'decision' || (existing !== undefined && !existing.isFile())) {
    return handlePlace(await open(file, 'w'), NOTHING);
  }
  const target = existing === undefined ? file : await realpath(file);
  const draft = join(
    dirname(target),
    `.${basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`,
  );
  return handlePlace(await open(draft, 'wx'), {
    commit: () => rename(draft, target),
    abort: () => rm(draft, { force: true }),
  });
}

async function settled(place: Place, kind: string, file: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
    await place.commit();
  } catch (error) {
    await place.abort();
    throw failure(kind, file, error);
  }
}

/**
 * Makes a report's file ready. A report in input order appears under its name only when it is
 * complete; one in decision order grows where it is. `write` may be called once.
 * @throws SluiceError USAGE when the path cannot be written, IO when the machine refuses (both also from `write`)
 */
export async function openReport(
  { report, file }: ReportTarget,
  stdout: Writable = process.stdout,
): Promise<OpenReport> {
  let place: Place;
  try {
    place = file === '-' ? standardOutput(stdout) : await filePlace(file, report.order);
  } catch (error) {
    throw failure(report.kind, file, error);
  }
  const abort = () => place.abort();
  if (report.order === 'input') {
    return {
      order: 'input',
      file,
      abort,
      write: (batch, evaluations) =>
        settled(place, report.kind, file, () => report.write(batch, evaluations, place.out)),
    };
  }
  return {
    order: 'decision',
    file,
    abort,
    write: (evaluations) => settled(place, report.kind, file, () => report.write(evaluations, place.out)),
  };
}
