import { sha256 } from './digest.js';
import { canonicalJson } from './json.js';
import type { RunRecord } from './run-record.js';

/**
 * The evidence of a run, without what only names it: two runs with the same evidence are one
 * stored subject.
 */
export type Subject = Pick<RunRecord, 'target' | 'job' | 'tasks' | 'ticket'>;

/** A subject as it is stored: its canonical JSON and the SHA-256 of that. */
export interface StoredSubject {
  digest: string;
  json: string;
}

/** The evidence of a run, ready to be stored by digest. */
export function subjectOf(run: RunRecord): StoredSubject {
  const subject: Subject = { target: run.target, job: run.job, tasks: run.tasks, ticket: run.ticket };
  const json = canonicalJson(subject);
  return { digest: sha256(json), json };
}
