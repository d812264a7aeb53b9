import { describe, expect, it } from 'vitest';
import { SubjectView } from '../../../src/core/subject-view.js';
import { subject } from './build.js';

const view = new SubjectView(
  subject({
    job: { resolution: 'done', plan: '', operational_rules: ['no reboot', 'no\rdelete'] },
    tasks: [
      { id: 'a', commands: ['ls\r\n-l', 'cat x'], exit_codes: [0, null], summary: '' },
      { commands: [], summary: 'Restarted' },
      { id: '', commands: ['whoami', '', 'id'], exit_codes: [0, 0, 7], summary: 'Checked' },
    ],
    ticket: { messages: ['opened', 'closed'], summary: '' },
  }),
);

describe('SubjectView.texts', () => {
  it('gives one normalised text per task that has data', () => {
    expect(view.texts('executed_commands', 'tasks')).toMatchObject([
      { text: 'ls\n-l\ncat x', task: 'a', taskIndex: 0 },
      { text: 'whoami\n\nid', task: '3', taskIndex: 2 },
    ]);
  });

  it('names a task without an id by its position from 1', () => {
    expect(view.texts('task_summary', 'tasks').map(({ task }) => task)).toEqual(['2', '3']);
  });

  it('joins all tasks in scope job', () => {
    expect(view.texts('executed_commands', 'job')).toEqual([{ text: 'ls\n-l\ncat x\nwhoami\n\nid' }]);
  });

  it.each([
    ['job_resolution', 'job', ['done']],
    ['job_plan', 'job', []],
    ['operational_rules', 'job', ['no reboot\nno\ndelete']],
    ['operational_rules', 'tasks', ['no reboot\nno\ndelete']],
    ['gateway_messages', 'gateway', ['opened\nclosed']],
    ['gateway_summary', 'gateway', []],
    ['task_plan', 'job', []],
    ['agent_messages', 'tasks', []],
  ] as const)('%s in scope %s is %j', (where, scope, texts) => {
    expect(view.texts(where, scope).map(({ text }) => text)).toEqual(texts);
  });

  it('has no operational rules to search per task when there is no task', () => {
    const taskless = new SubjectView(subject({ job: { operational_rules: 'never reboot' } }));
    expect(taskless.texts('operational_rules', 'tasks')).toEqual([]);
    expect(taskless.texts('operational_rules', 'job')).toHaveLength(1);
  });

  it('returns the very same list again', () => {
    for (const scope of ['job', 'tasks'] as const) {
      expect(view.texts('executed_commands', scope)).toBe(view.texts('executed_commands', scope));
    }
  });

  it('treats a list of empty strings as no data', () => {
    const empty = new SubjectView(subject({ tasks: [{ commands: ['', ''] }] }));
    expect(empty.texts('executed_commands', 'tasks')).toEqual([]);
    expect(empty.texts('executed_commands', 'job')).toEqual([]);
  });
});

describe('SubjectView.locate', () => {
  it.each([
    ['tasks', 0, 0, { task: 'a', command: 0, exitCode: 0 }],
    ['tasks', 0, 4, { task: 'a', command: 0, exitCode: 0 }],
    ['tasks', 0, 6, { task: 'a', command: 1 }],
    ['tasks', 1, 8, { task: '3', command: 2, exitCode: 7 }],
    ['job', 0, 6, { task: 'a', command: 1 }],
    ['job', 0, 12, { task: '3', command: 0, exitCode: 0 }],
    ['job', 0, 20, { task: '3', command: 2, exitCode: 7 }],
  ] as const)('in scope %s, text %i, offset %i finds %j', (scope, index, offset, place) => {
    expect(view.locate('executed_commands', scope, index, offset)).toEqual(place);
  });

  it('names the task alone for fields without commands', () => {
    expect(view.locate('task_summary', 'job', 0, 12)).toEqual({ task: '3' });
    expect(view.locate('job_resolution', 'job', 0, 0)).toEqual({});
  });
});
