import { isPlainObject } from '../core/json.js';
import { field, hasText, isText, list, messageText } from './fields.js';
import type { ImportedRun, Importer } from './importer.js';

/**
 * What an exit status says about the job. `submitted` says that the agent handed something in, not
 * that it is right: no status at all. Handed in by force, at a limit (`submitted (exit_cost)`), is
 * partial; a limit or an empty submission is the agent's failure, an error of model or machine a
 * hard one.
 */
export function sweAgentStatus(exitStatus: unknown, submission: unknown): string | undefined {
  if (!hasText(exitStatus)) return undefined;
  const word = exitStatus.trim().toLowerCase();
  const delivered = hasText(submission);
  if (word === 'submitted') return delivered ? undefined : 'agentic_failure';
  if (word.startsWith('submitted')) return delivered ? 'partial' : 'agentic_failure';
  return /error|environment|api|exception/.test(word) ? 'hard_failure' : 'agentic_failure';
}

/** The issue as the agent was shown it: the first message of a user that is no demonstration. */
function issue(history: unknown): string | undefined {
  for (const message of list(history)) {
    if (field(message, 'role') !== 'user' || field(message, 'is_demo') === true) continue;
    const text = messageText(field(message, 'content'));
    if (text !== '') return text;
  }
  return undefined;
}

/** Steps without an action ran nothing; a command of several lines stays one. */
function present(steps: unknown[], key: string): unknown[] {
  return steps.map((step) => field(step, key) ?? '').filter((item) => !isText(item) || hasText(item));
}

/** Without the ends of lines that older versions leave behind a command. */
function trimEnds(command: unknown): unknown {
  if (!isText(command)) return command;
  let end = command.length;
  while (command[end - 1] === '\n') end -= 1;
  return command.slice(0, end);
}

function* runs(value: unknown, fileStem: string): Iterable<ImportedRun> {
  const info = field(value, 'info');
  const steps = list(field(value, 'trajectory'));
  const submission = field(info, 'submission');
  yield {
    path: '',
    run: {
      id: `${fileStem}/0`,
      job: {
        resolution_status: sweAgentStatus(field(info, 'exit_status'), submission),
        resolution: submission,
      },
      tasks: [
        {
          id: '0',
          description: issue(field(value, 'history')),
          commands: present(steps, 'action').map(trimEnds),
          messages: present(steps, 'thought'),
        },
      ],
    },
  };
}

/** SWE-agent's trajectories: one run a file. */
export const sweAgent: Importer = {
  name: 'swe-agent',
  description: 'SWE-agent trajectories (.traj)',
  sniff(value) {
    return (
      Array.isArray(field(value, 'trajectory')) &&
      (isPlainObject(field(value, 'info')) || Array.isArray(field(value, 'history')))
    );
  },
  runs,
};
