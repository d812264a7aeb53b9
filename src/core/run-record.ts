import { z } from 'zod';

/** A key that may be missing or null; both mean that there is no data. */
function maybe<T extends z.ZodType>(type: T) {
  return type
    .nullable()
    .transform((value) => value ?? undefined)
    .optional();
}

const text = maybe(z.string());
const texts = maybe(z.array(z.string()));

const targetSchema = z.object({
  hosts: maybe(z.string().min(1)).describe('Ansible host pattern that the playbooks are limited to'),
  vars: maybe(z.record(z.string(), z.json())).describe('Extra variables for the playbooks'),
});

const jobSchema = z.object({
  resolution_status: text.describe('success, agentic_failure, hard_failure, partial or no_action'),
  resolution: text.describe('The resolution summary'),
  plan: text.describe('The job-level plan'),
  operational_rules: maybe(z.union([z.string(), z.array(z.string())])),
});

const taskSchema = z.object({
  id: text,
  description: text,
  commands: texts.describe('Commands that the agent ran, in order'),
  exit_codes: maybe(z.array(z.number().int().nullable())).describe('Exit codes of the commands, by position'),
  summary: text,
  plan: text,
  messages: texts.describe('The agent’s reasoning, in order'),
});

const ticketSchema = z.object({ status: text, messages: texts, summary: text });

/**
 * One recorded run of an agent (DESIGN 8): all but `id` may be missing, unknown keys are dropped,
 * wrong types are refused.
 */
export const runRecordSchema = z.object({
  id: z.string().min(1).max(512),
  case: maybe(z.string().min(1).max(512)).describe('What this run is an attempt at; default: id'),
  scenario: maybe(z.string().min(1).max(256)).describe('Key of the scenario that judges this run'),
  target: maybe(targetSchema),
  job: maybe(jobSchema),
  tasks: maybe(z.array(taskSchema)),
  ticket: maybe(ticketSchema),
});

/** Keys that a run record may have, and those of its parts. */
export const RUN_KEYS = {
  run: Object.keys(runRecordSchema.shape),
  target: Object.keys(targetSchema.shape),
  job: Object.keys(jobSchema.shape),
  tasks: Object.keys(taskSchema.shape),
  ticket: Object.keys(ticketSchema.shape),
} as const;

export type RunRecord = z.output<typeof runRecordSchema>;
export type RunTask = z.output<typeof taskSchema>;
