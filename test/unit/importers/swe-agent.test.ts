import { describe, expect, it } from 'vitest';
import { runRecordSchema } from '../../../src/core/run-record.js';
import { sweAgent, sweAgentStatus } from '../../../src/importers/swe-agent.js';

function read(value: unknown) {
  const [found] = [...sweAgent.runs(value, 'stem')];
  return runRecordSchema.parse(found?.run);
}

describe('swe-agent', () => {
  it('keeps a command of several lines one command, and drops steps that ran nothing', () => {
    const edit = 'edit 1:1\nimport os\nend_of_edit';
    const run = read({
      trajectory: [
        { action: 'ls -F\n', thought: 'look' },
        { action: '', thought: '' },
        { action: edit, thought: 'change' },
        { observation: 'nothing' },
      ],
      info: {},
    });
    expect(run.id).toBe('stem/0');
    expect(run.tasks?.[0]?.commands).toEqual(['ls -F', edit]);
    expect(run.tasks?.[0]?.messages).toEqual(['look', 'change']);
  });

  it('describes the task by the first message of a user that is no demonstration', () => {
    const run = read({
      trajectory: [],
      info: { exit_status: 'submitted', submission: 'diff' },
      history: [
        { role: 'system', content: 'rules' },
        { role: 'user', is_demo: true, content: 'demo' },
        { role: 'user', content: [{ type: 'text', text: 'the issue' }] },
      ],
    });
    expect(run.tasks?.[0]?.description).toBe('the issue');
    expect(run.job).toEqual({ resolution: 'diff' });
  });

  it.each([
    ['submitted', 'diff', undefined],
    ['submitted', '', 'agentic_failure'],
    ['submitted', null, 'agentic_failure'],
    ['submitted (exit_cost)', 'diff', 'partial'],
    ['submitted (exit_cost)', '', 'agentic_failure'],
    ['exit_cost', null, 'agentic_failure'],
    ['exit_context', null, 'agentic_failure'],
    ['exit_format', null, 'agentic_failure'],
    ['exit_error', null, 'hard_failure'],
    ['exit_api', null, 'hard_failure'],
    ['exit_environment_error', null, 'hard_failure'],
    [null, null, undefined],
    [undefined, 'diff', undefined],
    [7, 'diff', undefined],
  ])('maps exit status %s with submission %j to %s, never to success', (exit, submission, status) => {
    expect(sweAgentStatus(exit, submission)).toBe(status);
  });

  it.each([
    [{ trajectory: [], info: {} }, true],
    [{ trajectory: [], history: [] }, true],
    [{ trajectory: [] }, false],
    [{ trajectory: {}, info: {} }, false],
    [[], false],
    [null, false],
  ])('knows its logs from others: %j', (value, known) => {
    expect(sweAgent.sniff(value)).toBe(known);
  });

  it('hands on commands that are no text, for the schema to refuse', () => {
    const [found] = [...sweAgent.runs({ trajectory: [{ action: 5 }], info: {} }, 'stem')];
    expect(runRecordSchema.safeParse(found?.run).success).toBe(false);
  });

  it('cuts many line ends behind a command in linear time', () => {
    const action = `${'\n'.repeat(300_000)}x`;
    expect(read({ trajectory: [{ action: `${action}\n` }], info: {} }).tasks?.[0]?.commands).toEqual([
      action,
    ]);
  }, 2_000);
});
