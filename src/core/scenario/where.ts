import type { Scope } from './model.js';

/** The fields that `pattern_match` can search (SV, where targets). */
export const WHERES = [
  'executed_commands',
  'task_summary',
  'task_description',
  'task_plan',
  'agent_messages',
  'job_resolution',
  'job_plan',
  'gateway_messages',
  'gateway_summary',
  'operational_rules',
] as const;
export type Where = (typeof WHERES)[number];

/** Fields that each task has of its own. */
export const TASK_FIELDS = [
  'executed_commands',
  'task_summary',
  'task_description',
  'task_plan',
  'agent_messages',
] as const satisfies readonly Where[];
export type TaskField = (typeof TASK_FIELDS)[number];

/** Where a rule of each scope may search (DESIGN 3.2.2). */
export const WHERE_IN: Readonly<Record<Scope, readonly Where[]>> = {
  gateway: ['gateway_messages', 'gateway_summary'],
  job: ['job_resolution', 'job_plan', 'operational_rules', ...TASK_FIELDS],
  tasks: [...TASK_FIELDS, 'operational_rules'],
};

/** The scopes whose rules may search a field. */
export function scopesOf(where: Where): Scope[] {
  const scopes: Scope[] = ['gateway', 'job', 'tasks'];
  return scopes.filter((scope) => WHERE_IN[scope].includes(where));
}

export function isTaskField(where: Where): where is TaskField {
  return (TASK_FIELDS as readonly Where[]).includes(where);
}
