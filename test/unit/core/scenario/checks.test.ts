import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyNegate,
  concludeCheck,
  markVacuous,
  planChecks,
  requestOf,
} from '../../../../src/core/scenario/checks.js';
import { SubjectView } from '../../../../src/core/subject-view.js';
import type { RunOutcome, Verdict } from '../../../../src/core/validators/validator.js';
import { DIRECT, GATEWAY, scenarioWith, subject, verdictOf } from '../build.js';

const RUN = subject({
  job: { resolution_status: ' Success', resolution: 'nginx is up', operational_rules: ['never reboot'] },
  tasks: [
    { id: 't1', commands: ['ls', 'systemctl restart nginx'], exit_codes: [0, 5], summary: 'Restarted nginx' },
    { commands: ['curl localhost'], summary: '' },
  ],
  ticket: { status: 'Resolved ', messages: ['working on it', 'done'] },
});
const EMPTY = subject({});

const match = (pattern: string, where: string, more: object = {}) => ({
  label: 'l',
  validator: 'pattern_match',
  pattern,
  where,
  ...more,
});
const status = (pattern: string, more: object = {}) => ({
  label: 'l',
  validator: 'job_resolution_status',
  pattern,
  ...more,
});
const count = (more: object) => ({ label: 'l', validator: 'task_count', ...more });

describe('planChecks', () => {
  const scenario = scenarioWith({
    gateway: [
      { label: 'l', validator: 'ticket_status', pattern: 'x' },
      { label: 'l', validator: 'ansible', ansiblePath: 'v.yml' },
    ],
    job: [status('success'), count({ min: 1 })],
    tasks: [match('a', 'executed_commands'), { label: 'l', validator: 'ansible', ansiblePath: 'v.yml' }],
  });

  it('gives every rule its runner, in order', () => {
    expect(planChecks(scenario, GATEWAY).map(({ runner }) => runner)).toEqual([
      'none',
      'ansible',
      'none',
      'none',
      'match',
      'ansible',
    ]);
    expect(planChecks(scenario, GATEWAY).map(({ position }) => position)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it.each(['direct', 'message'] as const)('skips gateway rules of a %s run', (from) => {
    const runners = planChecks(scenario, { from }).map(({ runner }) => runner);
    expect(runners).toEqual(['skip', 'skip', 'none', 'none', 'match', 'ansible']);
  });

  it('plans once per scenario and origin', () => {
    expect(planChecks(scenario, DIRECT)).toBe(planChecks(scenario, { from: 'message' }));
    expect(planChecks(scenario, DIRECT)).not.toBe(planChecks(scenario, GATEWAY));
  });

  it('asks for nothing and passes nothing where a rule is skipped', () => {
    const [check] = planChecks(scenario, DIRECT);
    if (check === undefined) throw new Error('no check');
    expect(requestOf(check, new SubjectView(RUN))).toBeUndefined();
    expect(concludeCheck(check, new SubjectView(RUN)).outcome).toBe('error');
  });

  it('shares one list of texts between rules on the same field', () => {
    const [a, b] = planChecks(
      scenarioWith({ tasks: [match('a', 'executed_commands'), match('b', 'executed_commands')] }),
      DIRECT,
    );
    const view = new SubjectView(RUN);
    const requests = [a, b].map((check) => check && requestOf(check, view));
    expect(requests[0]).toMatchObject({ kind: 'match', pattern: 'a' });
    expect(
      requests[0]?.kind === 'match' &&
        requests[1]?.kind === 'match' &&
        requests[0].texts === requests[1].texts,
    ).toBe(true);
  });
});

describe('the verdict of a rule', () => {
  it.each<[string, object, string, RegExp, object]>([
    [
      'a match on one task',
      { tasks: [match('systemctl.*nginx', 'executed_commands')] },
      'pass',
      /found in executed_commands of task t1 \(exit code 5\)/,
      {
        where: 'executed_commands',
        task: 't1',
        command: 1,
        exit_code: 5,
        excerpt: 'ls\nsystemctl restart nginx',
      },
    ],
    [
      'a match without an exit code',
      { tasks: [match('CURL', 'executed_commands')] },
      'pass',
      /of task 2$/,
      { task: '2', command: 0 },
    ],
    [
      'no match on any task',
      { tasks: [match('reboot', 'executed_commands')] },
      'fail',
      /not found in executed_commands of any of 2 tasks/,
      { where: 'executed_commands' },
    ],
    [
      'no match on the only task with data',
      { tasks: [match('x{9}', 'task_summary')] },
      'fail',
      /the only task that has any/,
      {},
    ],
    [
      'a negated match',
      { tasks: [match('restart', 'executed_commands', { negate: true })] },
      'fail',
      /which the negated rule forbids/,
      { task: 't1' },
    ],
    [
      'a negated match on no task',
      { tasks: [match('reboot', 'executed_commands', { negate: true })] },
      'pass',
      /not found.*as the negated rule wants it/,
      {},
    ],
    [
      'a match across all tasks joined',
      { job: [match('nginx\\ncurl', 'executed_commands')] },
      'pass',
      /of task t1/,
      { task: 't1', command: 1 },
    ],
    [
      'a match on a job field',
      { job: [match('^nginx', 'job_resolution')] },
      'pass',
      /found in job_resolution$/,
      {},
    ],
    [
      'operational rules per task',
      { tasks: [match('reboot', 'operational_rules')] },
      'pass',
      /found in operational_rules$/,
      {},
    ],
    [
      'gateway messages, line by line',
      { gateway: [match('^done$', 'gateway_messages')] },
      'pass',
      /found/,
      {},
    ],
    [
      'the right status',
      { job: [status('SUCCESS')] },
      'pass',
      /is "success"/,
      { expected: 'success', found: 'success' },
    ],
    ['a wrong status', { job: [status('partial')] }, 'fail', /is "success", not "partial"/, {}],
    ['a negated wrong status', { job: [status('partial', { negate: true })] }, 'pass', /wants it/, {}],
    [
      'the ticket status',
      { gateway: [{ label: 'l', validator: 'ticket_status', pattern: ' RESOLVED' }] },
      'pass',
      /ticket status is "resolved"/,
      {},
    ],
    [
      'a ticket status that only contains it',
      { gateway: [{ label: 'l', validator: 'ticket_status', pattern: 'resol' }] },
      'fail',
      /not/,
      {},
    ],
    [
      'a count in range',
      { job: [count({ min: 1, max: 3 })] },
      'pass',
      /2 tasks, within 1 to 3/,
      { count: 2, min: 1, max: 3 },
    ],
    ['a count at both bounds', { job: [count({ min: 2, max: 2 })] }, 'pass', /exactly 2/, {}],
    ['too many', { job: [count({ max: 1 })] }, 'fail', /outside at most 1/, {}],
    ['too few', { job: [count({ min: 3 })] }, 'fail', /outside at least 3/, {}],
  ])('%s', (_, validation, outcome, message, data) => {
    const verdict = verdictOf(validation as Record<string, unknown>, RUN);
    expect(verdict.outcome).toBe(outcome);
    expect(verdict.message).toMatch(message);
    expect(verdict.data).toMatchObject(data);
    expect(verdict.data).not.toHaveProperty('vacuous');
  });

  const ticket = { label: 'l', validator: 'ticket_status', pattern: 'x' };
  it.each<[string, string, object]>([
    ['no task', 'tasks', match('x', 'executed_commands')],
    ['no task, joined', 'job', match('x', 'task_summary')],
    ['no job field', 'job', match('x', 'job_plan')],
    ['no task for operational rules', 'tasks', match('x', 'operational_rules')],
    ['no gateway messages', 'gateway', match('x', 'gateway_messages')],
    ['no resolution status', 'job', status('success')],
    ['no ticket status', 'gateway', ticket],
  ])('with %s: a positive rule fails, a negated one passes vacuously', (_, scope, rule) => {
    const plain = verdictOf({ [scope]: [rule] }, EMPTY);
    expect(plain.outcome).toBe('fail');
    expect(plain.message).toMatch(/^no data: /);
    expect(plain.data).not.toHaveProperty('vacuous');
    const negated = verdictOf({ [scope]: [{ ...rule, negate: true }] }, EMPTY);
    expect(negated).toMatchObject({ outcome: 'pass', data: { vacuous: true } });
    expect(negated.message).toMatch(/^no data: .*vacuously$/);
  });

  it('always has data to count tasks', () => {
    expect(verdictOf({ job: [count({ max: 0 })] }, EMPTY)).toMatchObject({
      outcome: 'pass',
      data: { count: 0 },
    });
    const negated = verdictOf({ job: [count({ min: 1, negate: true })] }, EMPTY);
    expect(negated.outcome).toBe('pass');
    expect(negated.data).not.toHaveProperty('vacuous');
  });

  it('takes a recorded no_tasks_created for no_action', () => {
    const run = subject({ job: { resolution_status: 'No_Tasks_Created' } });
    expect(verdictOf({ job: [status('no_action')] }, run).outcome).toBe('pass');
    expect(verdictOf({ job: [status('no_tasks_created')] }, run).outcome).toBe('pass');
  });

  it.each<[string, RunOutcome]>([
    ['a failed runner', { kind: 'failure', reason: 'deadline', message: 'took too long' }],
    [
      'an outcome of another kind',
      { kind: 'ansible', exitCode: 0, timedOut: false, stdout: '', stderr: '', durationMs: 1 },
    ],
    ['a match outside the texts', { kind: 'match', found: true, text: 9, start: 0, end: 1 }],
    ['offsets outside the text', { kind: 'match', found: true, text: 0, start: 5, end: 5000 }],
  ])('is an error after %s, negated or not', (_, outcome) => {
    for (const negate of [false, true]) {
      const verdict = verdictOf({ tasks: [match('x', 'executed_commands', { negate })] }, RUN, () => outcome);
      expect(verdict.outcome).toBe('error');
    }
  });

  it('says that a backtracking engine searched', () => {
    const found: RunOutcome = {
      kind: 'match',
      found: true,
      text: 0,
      start: 0,
      end: 2,
      engine: 'backtracking',
    };
    const missed: RunOutcome = { kind: 'match', found: false, engine: 'backtracking' };
    for (const outcome of [found, missed]) {
      const verdict = verdictOf({ tasks: [match('(?=l)', 'executed_commands')] }, RUN, () => outcome);
      expect(verdict.data).toMatchObject({ engine: 'backtracking' });
    }
  });
});

describe('excerpts', () => {
  const around = (text: string, pattern: string) =>
    verdictOf({ job: [match(pattern, 'job_resolution')] }, subject({ job: { resolution: text } })).data
      .excerpt as string;

  it('show at most 160 characters around the match', () => {
    const excerpt = around(`${'a'.repeat(500)} NEEDLE ${'b'.repeat(500)}`, 'needle');
    expect(excerpt).toMatch(/^…a+ NEEDLE b+…$/);
    expect(excerpt.length).toBe(162);
    expect(around(`${'a'.repeat(500)} NEEDLE`, 'needle')).toMatch(/^…a{153} NEEDLE$/);
    expect(around('x'.repeat(1000), 'x+').length).toBe(161);
  });

  it('never split a code point', () => {
    for (let pad = 0; pad < 4; pad += 1) {
      const excerpt = around(`${'.'.repeat(pad)}${'😀'.repeat(200)}N${'😀'.repeat(200)}`, 'N');
      expect(excerpt).toMatch(/^…😀+N😀+…$/u);
    }
  });

  it('hide a secret that the cut would split', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    for (let gap = 40; gap < 120; gap += 1) {
      const excerpt = around(`${token}${' '.repeat(gap)}N${' '.repeat(gap)}${token}`, 'N');
      expect(excerpt).not.toMatch(/[ghp_a1B2]{3}/);
    }
  });

  it('hide a secret inside the match, also in the message', () => {
    const verdict = verdictOf(
      { tasks: [match('password=hunter2', 'executed_commands')] },
      subject({ tasks: [{ commands: ['login --x password=hunter2 now'] }] }),
    );
    expect(verdict.outcome).toBe('pass');
    expect(JSON.stringify(verdict)).not.toContain('hunter2');
  });
});

describe('applyNegate', () => {
  const verdict: fc.Arbitrary<Verdict> = fc.record(
    {
      outcome: fc.constantFrom('pass', 'fail', 'error'),
      message: fc.string(),
      data: fc.constant({}),
      noData: fc.boolean(),
    },
    { requiredKeys: ['outcome', 'message', 'data'] },
  );

  it('twice changes nothing; once changes everything but an error', () => {
    fc.assert(
      fc.property(verdict, (before) => {
        expect(applyNegate(applyNegate(before))).toEqual(before);
        expect(applyNegate(before).outcome === before.outcome).toBe(before.outcome === 'error');
      }),
    );
  });

  it('leaves only a pass without data vacuous', () => {
    fc.assert(
      fc.property(verdict, (before) => {
        const marked = markVacuous(before).data.vacuous === true;
        expect(marked).toBe(before.outcome === 'pass' && before.noData === true);
      }),
    );
  });
});
