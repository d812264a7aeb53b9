import { describe, expect, it } from 'vitest';
import { runRecordSchema } from '../../../src/core/run-record.js';
import { miniSweAgent, miniSweAgentStatus } from '../../../src/importers/mini-swe-agent.js';

function read(value: unknown) {
  const [found] = [...miniSweAgent.runs(value, 'stem')];
  return runRecordSchema.parse(found?.run);
}

const fence = (body: string, word = 'bash') => `\`\`\`${word}\n${body}\n\`\`\``;
const start = [
  { role: 'system', content: `Answer in this form: ${fence('ls')}` },
  { role: 'user', content: `Fix it. Such as ${fence('pwd')}` },
];

describe('mini-swe-agent', () => {
  it('takes the one block of each assistant message, with the exit code of its answer', () => {
    const run = read([
      ...start,
      { role: 'assistant', content: `First look.\n\n${fence("cat <<'E' > f\na\nE", 'mswea_bash_command')}` },
      { role: 'user', content: '<returncode>2</returncode>\n<output>\n</output>' },
      { role: 'assistant', content: fence('make') },
      { role: 'user', content: '' },
    ]);
    expect(run).toEqual({
      id: 'stem/0',
      job: {},
      tasks: [
        {
          id: '0',
          description: start[1]?.content,
          commands: ["cat <<'E' > f\na\nE", 'make'],
          exit_codes: [2, null],
          messages: ['First look.'],
        },
      ],
    });
  });

  it.each([['no block at all'], [`${fence('rm a')} and ${fence('rm b')}`]])(
    'runs nothing where the agent refused the message: %j',
    (content) => {
      const run = read([
        ...start,
        { role: 'assistant', content },
        { role: 'user', content: 'one block, please' },
      ]);
      expect(run.tasks?.[0]?.commands).toEqual([]);
      expect(run.tasks?.[0]?.exit_codes).toBeUndefined();
    },
  );

  it('reads the object form with recorded actions, each with its own answer', () => {
    const run = read({
      trajectory_format: 'mini-swe-agent-1.1',
      info: { exit_status: 'Submitted', submission: 'done' },
      messages: [
        ...start,
        {
          role: 'assistant',
          content: null,
          extra: {
            actions: [
              { command: 'a', tool_call_id: '1' },
              { command: 'b', tool_call_id: '2' },
            ],
          },
        },
        { role: 'tool', tool_call_id: '2', content: '', extra: { returncode: 9 } },
        { role: 'tool', tool_call_id: '1', content: '', extra: { returncode: 0 } },
      ],
    });
    expect(run.tasks?.[0]?.commands).toEqual(['a', 'b']);
    expect(run.tasks?.[0]?.exit_codes).toEqual([0, 9]);
    expect(run.job).toEqual({ resolution: 'done' });
  });

  it.each([
    ['Submitted', 'x', undefined],
    ['Submitted', '', 'agentic_failure'],
    ['LimitsExceeded', '', 'agentic_failure'],
    ['TimeExceeded', '', 'agentic_failure'],
    ['BadRequestError', '', 'hard_failure'],
    [null, '', undefined],
  ])('maps exit status %s with submission %j to %s, never to success', (exit, submission, status) => {
    expect(miniSweAgentStatus(exit, submission)).toBe(status);
  });

  it.each([
    [start, true],
    [{ messages: start, info: { exit_status: null } }, true],
    [{ messages: start, trajectory_format: 'mini-swe-agent-1' }, true],
    [{ messages: start }, false],
    [[{ id: 'a' }], false],
    [[], false],
    [null, false],
  ])('knows its logs from others: %j', (value, known) => {
    expect(miniSweAgent.sniff(value)).toBe(known);
  });
});
