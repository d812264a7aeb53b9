import { sha256 } from './digest.js';
import { sortedKeys } from './json.js';
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

/**
 * Keys in the order of canonical JSON, spelt out: sorting every object anew costs more than all
 * else that is done to a run.
 */
function ordered({ job, target, tasks, ticket }: RunRecord): unknown {
  return {
    job: job && {
      operational_rules: job.operational_rules,
      plan: job.plan,
      resolution: job.resolution,
      resolution_status: job.resolution_status,
    },
    target: target && { hosts: target.hosts, vars: sortedKeys(target.vars) },
    tasks: tasks?.map((task) => ({
      commands: task.commands,
      description: task.description,
      exit_codes: task.exit_codes,
      id: task.id,
      messages: task.messages,
      plan: task.plan,
      summary: task.summary,
    })),
    ticket: ticket && { messages: ticket.messages, status: ticket.status, summary: ticket.summary },
  };
}

/** The evidence of a run as canonical JSON, ready to be stored by digest. */
export function subjectOf(run: RunRecord): StoredSubject {
  const json = JSON.stringify(ordered(run));
  return { digest: sha256(json), json };
}
