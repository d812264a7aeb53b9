import type { TaskReport } from './validator.js';

/** Words of ansible-core for a module that did not get as far as its work: become, interpreter, libraries, room. */
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
  'No space left on device',
].map((words) => words.toLowerCase());

/** How every module refuses its arguments: it says so in the same form as what it found on the machine. */
const BAD_ARGUMENTS = [
  /^unsupported parameters for /,
  /^missing required arguments/,
  /^parameters are (?:mutually exclusive|required together):/,
  /^one of the following is required:/,
  /^missing parameter\(s\) required by /,
  /^\S+ is .* but (?:any|all) of the following are missing:/s,
  /^argument '.*' is of type /s,
  /^elements value for option /,
  /^value of .* must be one (?:or more )?of:/s,
  /^invalid type .* for option /s,
  /^internal error: choices for argument /,
  /^invalid options for /,
];

/**
 * Whether nothing shows that a task that failed got as far as looking at the machine (DESIGN 3.3): negated,
 * such a failure would pass. A verdict of its own counts whatever its author made it say.
 */
export function couldNotRun({ message, cause }: Pick<TaskReport, 'message' | 'cause'>): boolean {
  if (cause !== 'answered') return cause !== 'judged';
  const lower = message.toLowerCase();
  return (
    COULD_NOT_RUN.some((words) => lower.includes(words)) || BAD_ARGUMENTS.some((form) => form.test(lower))
  );
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
