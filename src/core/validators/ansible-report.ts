import { z } from 'zod';
import type { HostRecap, PlaybookReport, TaskReport } from './validator.js';

/** Starts a report (RFC 7464); the word that only the run's own callback knows follows. */
const SEPARATOR = '\u001e';

const count = z.number().int().min(0);

const recapSchema: z.ZodType<HostRecap> = z.object({
  ok: count,
  changed: count,
  unreachable: count,
  failed: count,
  skipped: count,
  rescued: count,
  ignored: count,
});

const taskSchema = z.object({
  host: z.string(),
  play: z.string(),
  task: z.string(),
  action: z.string(),
  status: z.enum(['ok', 'changed', 'failed', 'ignored', 'skipped', 'unreachable']),
  message: z.string(),
  cause: z.enum(['judged', 'answered', 'crashed']).optional(),
  changed: z.boolean().optional(),
});

const reportSchema = z.object({
  hosts: z.array(z.tuple([z.string(), recapSchema])),
  hosts_left_out: count,
  tasks: z.array(taskSchema),
  tasks_left_out: count,
  no_hosts_matched: z.boolean(),
});

function parsed(text: string): PlaybookReport | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { success, data } = reportSchema.safeParse(value);
  if (!success) return undefined;
  return {
    recap: Object.fromEntries(data.hosts),
    hostsLeftOut: data.hosts_left_out,
    tasks: data.tasks as TaskReport[],
    tasksLeftOut: data.tasks_left_out,
    noHostsMatched: data.no_hosts_matched,
  };
}

/**
 * The report of the callback, which it wrote into `text` after `word`, and the text without it. Only a
 * whole report is one: what is missing, cut short or garbled is none.
 */
export function readReport(text: string, word: string): { report?: PlaybookReport; rest: string } {
  const mark = SEPARATOR + word;
  const at = text.lastIndexOf(mark);
  if (at === -1) return { rest: text };
  const end = text.indexOf('\n', at);
  const stop = end === -1 ? text.length : end;
  const report = parsed(text.slice(at + mark.length, stop));
  const rest = text.slice(0, at) + text.slice(stop + 1);
  return report === undefined ? { rest } : { report, rest };
}
