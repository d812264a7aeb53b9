import type { TaskReport } from './validator.js';

/** Words of ansible-core for a task that could not run: become, interpreter, module, variables, files of its own. */
const COULD_NOT_RUN = [
  'MODULE FAILURE',
  'missing sudo password',
  'incorrect sudo password',
  'missing su password',
  'incorrect su password',
  'missing become password',
  'sudo: a password is required',
  'sudo: no tty present',
  'sudo: command not found',
  'is not in the sudoers file',
  'waiting for privilege escalation prompt',
  'Failed to set permissions on the temporary files',
  'probably need to set the interpreter',
  'The module interpreter',
  'No python interpreters found',
  'Failed to get the interpreter',
  "couldn't resolve module",
  'was not found in configured module paths',
  'Failed to import the required Python library',
  'option with an undefined variable',
  'Finalization of task args',
  'template error while templating string',
  'error while evaluating conditional',
  'on the Ansible Controller',
].map((words) => words.toLowerCase());

/**
 * Whether a task that failed never got as far as looking at the machine (DESIGN 3.3). An assertion that was
 * evaluated did, whatever its author made it say.
 */
export function couldNotRun({ message, cause }: Pick<TaskReport, 'message' | 'cause'>): boolean {
  if (cause !== undefined) return cause === 'crashed';
  const lower = message.toLowerCase();
  return COULD_NOT_RUN.some((words) => lower.includes(words));
}

const IDLE = new Set([
  'gather_facts',
  'include',
  'include_role',
  'include_tasks',
  'import_playbook',
  'import_role',
  'import_tasks',
  'meta',
]);

/** Whether a task's result is of work: not of facts that were gathered, not of other tasks that were read. */
export function worked({ action, status }: Pick<TaskReport, 'action' | 'status'>): boolean {
  if (status === 'skipped' || status === 'unreachable') return false;
  return !IDLE.has(action.replace(/^ansible\.(?:builtin|legacy)\./, ''));
}
