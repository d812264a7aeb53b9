import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concludeCheck, planChecks, requestOf } from '../../../../src/core/scenario/checks.js';
import { SubjectView } from '../../../../src/core/subject-view.js';
import { judgePlaybook } from '../../../../src/core/validators/ansible-verdict.js';
import type {
  AnsibleOutcome,
  HostRecap,
  PlaybookReport,
  RunOutcome,
  TaskReport,
  Verdict,
} from '../../../../src/core/validators/validator.js';
import { DIRECT, scenarioWith, subject } from '../build.js';

const RULE = { label: 'l', validator: 'ansible', ansiblePath: 'validate.yml' };

function judged(outcome: RunOutcome | undefined, more: object = {}): Verdict {
  const [check] = planChecks(scenarioWith({ job: [{ ...RULE, ...more }] }), DIRECT);
  if (check === undefined) throw new Error('no check');
  return concludeCheck(check, new SubjectView(subject({})), outcome);
}

const ended = (exitCode: number | null, more: Partial<AnsibleOutcome> = {}): AnsibleOutcome => ({
  kind: 'ansible',
  exitCode,
  timedOut: false,
  stdout: 'PLAY RECAP',
  stderr: '',
  durationMs: 900,
  ...more,
});

const NONE: HostRecap = { ok: 0, changed: 0, unreachable: 0, failed: 0, skipped: 0, rescued: 0, ignored: 0 };

const task = (status: TaskReport['status'], message = '', more: Partial<TaskReport> = {}): TaskReport => ({
  host: 'web1',
  play: 'all',
  task: 'check port',
  action: 'ansible.builtin.command',
  status,
  message,
  ...(status === 'failed' ? { cause: 'answered' } : {}),
  ...more,
});
const FACTS = task('ok', '', { task: 'Gathering Facts', action: 'ansible.builtin.gather_facts' });

function told(counts: Partial<HostRecap>, tasks: TaskReport[], more: Partial<PlaybookReport> = {}) {
  const report: PlaybookReport = {
    recap: { web1: { ...NONE, ...counts } },
    hostsLeftOut: 0,
    tasks,
    tasksLeftOut: 0,
    noHostsMatched: false,
    ...more,
  };
  return { report };
}

const failing = (message: string, more: Partial<TaskReport> = {}) =>
  told({ failed: 1 }, [FACTS, task('failed', message, more)]);

describe('an ansible rule', () => {
  it.each<[string, AnsibleOutcome, Verdict['outcome'], RegExp, string?]>([
    ['exit 0', ended(0, told({ ok: 2 }, [FACTS, task('ok')])), 'pass', /validate.yml: passed on 1 host$/],
    [
      'exit 0 with an ignored failure',
      ended(0, told({ ok: 1, ignored: 1 }, [task('ignored', 'no')])),
      'pass',
      /passed/,
    ],
    ['exit 0 without a report', ended(0), 'error', /did not tell/, 'no_report'],
    [
      'exit 2 with a failed assertion',
      ended(2, failing('MODULE FAILURE is what the author says', { cause: 'judged' })),
      'fail',
      /failed on web1: \[check port\] MODULE FAILURE is/,
    ],
    [
      'exit 2 with a failed command',
      ended(2, failing('non-zero return code')),
      'fail',
      /non-zero return code/,
    ],
    [
      'exit 2 with a module that says what it found',
      ended(2, failing('Timeout when waiting for file /x')),
      'fail',
      /waiting for file/,
    ],
    [
      'exit 2 with a task of which nothing shows that it ran',
      ended(2, told({ failed: 1 }, [{ ...task('ok', "'x' is undefined"), status: 'failed' }])),
      'error',
      /'x' is undefined/,
      'could_not_run',
    ],
    ...[
      'Unsupported parameters for (stat) module: x. Supported parameters include: path.',
      'missing required arguments: path found in a -> b',
      'parameters are mutually exclusive: a|b',
      'parameters are required together: a, b',
      'one of the following is required: a, b',
      "missing parameter(s) required by 'a': b",
      'state is present but all of the following are missing: a',
      'value of state must be one of: a, b, got: c',
      'value of x must be one or more of: a. Got no match for: c',
      "argument 'timeout' is of type <class 'str'> and we were unable to convert to int: x",
      "Elements value for option 'x' is of type <class 'str'>",
      '[Errno 28] No space left on device',
    ].map((text): [string, AnsibleOutcome, Verdict['outcome'], RegExp, string] => [
      `exit 2, ${text}`,
      ended(2, failing(text)),
      'error',
      /could not run/,
      'could_not_run',
    ]),
    [
      'exit 2 for lack of a sudo password',
      ended(2, failing('Missing sudo password')),
      'error',
      /could not run on web1: Missing sudo/,
      'could_not_run',
    ],
    [
      'exit 2 with a module that broke down',
      ended(2, failing('who knows', { cause: 'crashed' })),
      'error',
      /who knows/,
      'could_not_run',
    ],
    [
      'exit 2 without an interpreter',
      ended(2, failing('The module interpreter "/x" was not found.')),
      'error',
      /interpreter/,
      'could_not_run',
    ],
    [
      'exit 2 without privileges',
      ended(2, failing('Timeout (12s) waiting for privilege escalation prompt: ')),
      'error',
      /escalation/,
      'could_not_run',
    ],
    [
      'exit 2 on an undefined variable',
      ended(2, failing("The task includes an option with an undefined variable. 'x'")),
      'error',
      /undefined/,
      'could_not_run',
    ],
    [
      'exit 2 on an undefined variable, as newer ones say',
      ended(2, failing("Task failed: Finalization of task args for 'debug' failed: 'x' is undefined")),
      'error',
      /Finalization/,
      'could_not_run',
    ],
    [
      'exit 2 on a missing include',
      ended(2, failing("Could not find or access 'gone.yml' on the Ansible Controller.")),
      'error',
      /Controller/,
      'could_not_run',
    ],
    [
      'exit 2 for a bad option',
      ended(2, { stderr: 'usage: x\nansible-playbook: error: unrecognized arguments: --nope' }),
      'error',
      /exit code 2, ansible-playbook: error: unrecognized/,
      'exit_code',
    ],
    [
      'exit 2 with no task that tells why',
      ended(2, told({ failed: 1 }, [])),
      'error',
      /no task tells why/,
      'no_report',
    ],
    [
      'exit 2 with a host that is unreachable too',
      ended(2, told({ failed: 1, unreachable: 1 }, [task('failed', 'no')])),
      'error',
      /unreachable: web1/,
      'unreachable',
    ],
    [
      'exit 4, unreachable',
      ended(4, told({ unreachable: 1 }, [task('unreachable', 'Failed to connect')])),
      'error',
      /unreachable: web1/,
      'unreachable',
    ],
    [
      'exit 4, not valid',
      ended(4, { stderr: 'x', authoring: "[WARNING]: y\nERROR! couldn't resolve module/action 'x'. This" }),
      'error',
      /is not valid: ERROR! couldn't resolve/,
      'authoring',
    ],
    [
      'exit 1',
      ended(1, { stderr: 'ERROR! Specified hosts and/or --limit does not match any hosts' }),
      'error',
      /exit code 1, ERROR! Specified/,
      'exit_code',
    ],
    ['exit 250', ended(250), 'error', /exit code 250$/, 'exit_code'],
    ['a signal', ended(null, { signal: 'SIGKILL' }), 'error', /ended by SIGKILL/, 'signal'],
    [
      'its deadline',
      ended(0, { timedOut: true, ...told({ ok: 1 }, [task('ok')]) }),
      'error',
      /deadline after 900 ms/,
      'deadline',
    ],
  ])('that ends with %s', (_, outcome, expected, message, reason) => {
    const verdict = judged(outcome);
    expect(verdict.message).toMatch(message);
    expect(verdict.outcome).toBe(expected);
    expect(verdict.data.exit_code).toBe(outcome.exitCode);
    expect(verdict.data.reason).toBe(reason);
    expect(verdict.data.output).toContain('PLAY RECAP');
    expect(verdict.data).not.toHaveProperty('vacuous');
    const negated = { pass: 'fail', fail: 'pass', error: 'error' }[expected];
    expect(judged(outcome, { negate: true }).outcome).toBe(negated);
  });

  const INCLUDE = task('ok', '', { action: 'ansible.builtin.include_tasks' });
  it.each<[string, { report: PlaybookReport }, RegExp]>([
    ['no host matched', told({}, [], { recap: {}, noHostsMatched: true }), /no data: no host matched/],
    ['it has no play', told({}, [], { recap: {} }), /no host matched/],
    ['only facts were gathered', told({ ok: 1 }, [FACTS]), /no task ran/],
    ['every task was skipped', told({ skipped: 1 }, [task('skipped')]), /no task ran/],
    ['only an include was read', told({ ok: 2 }, [FACTS, INCLUDE]), /no task ran/],
  ])('passes vacuously when %s, and negated does not pass at all', (_, report, message) => {
    const verdict = judged(ended(0, report));
    expect(verdict).toMatchObject({ outcome: 'pass', data: { vacuous: true } });
    expect(verdict.message).toMatch(message);
    const negated = judged(ended(0, report), { negate: true });
    expect(negated.outcome).toBe('fail');
    expect(negated.data).not.toHaveProperty('vacuous');
  });

  it('reports a change as a possible read-only breach, and who did it', () => {
    const wrote = task('changed', '', { task: 'write it', action: 'ansible.builtin.copy' });
    const verdict = judged(ended(0, told({ ok: 2, changed: 1 }, [FACTS, wrote])));
    expect(verdict.outcome).toBe('pass');
    expect(verdict.message).toMatch(/possible read-only breach/);
    expect(verdict.data).toMatchObject({
      changed: 1,
      changed_tasks: [{ host: 'web1', task: 'write it', action: 'ansible.builtin.copy' }],
      possible_read_only_breach: true,
      hosts: { web1: { ok: 2, changed: 1 } },
    });
  });

  it('judges by the failure that stopped the host, not by ignored or rescued ones', () => {
    const [sudo, plain] = ['Missing sudo password', 'non-zero return code'];
    const first = (status: TaskReport['status'], message: string) => task(status, message, { task: 'try' });
    const outcomeOf = (tasks: TaskReport[]) => judged(ended(2, told({ failed: 1 }, tasks))).outcome;
    expect(outcomeOf([first('ignored', sudo), task('failed', plain)])).toBe('fail');
    expect(outcomeOf([first('failed', sudo), task('failed', plain)])).toBe('fail');
    expect(outcomeOf([first('failed', plain), task('failed', sudo)])).toBe('error');
    const rescued = task('failed', plain, { host: 'web2' });
    const { report } = told({ failed: 1 }, [rescued, task('failed', sudo)]);
    const recap = { ...report.recap, web2: { ...NONE, ok: 1, rescued: 1 } };
    expect(judged(ended(2, { report: { ...report, recap } })).outcome).toBe('error');
  });

  it('fails where one host was looked at, though a task could not run on another', () => {
    const tasks = [task('failed', 'Missing sudo password'), task('failed', 'not 200', { host: 'web2' })];
    const recap = { web1: { ...NONE, failed: 1 }, web2: { ...NONE, failed: 1 } };
    const verdict = judged(ended(2, told({}, tasks, { recap })));
    expect(verdict.outcome).toBe('fail');
    expect(verdict.message).toContain('failed on web1, web2: [check port] not 200');
    expect(verdict.data.failed_tasks).toHaveLength(2);
  });

  it('tells of the first tasks and hosts, and how many were left out', () => {
    const tasks = Array.from({ length: 60 }, () => task('ok'));
    const recap = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`h${i}`, { ...NONE, ok: 1 }]));
    const { data, message } = judged(ended(0, told({}, tasks, { recap, hostsLeftOut: 3, tasksLeftOut: 4 })));
    expect(message).toContain('passed on 63 hosts');
    expect(data.tasks).toHaveLength(50);
    expect(data).toMatchObject({ tasks_left_out: 14, hosts_left_out: 13 });
  });

  it('is an error when the runner could not do it or brought nothing back', () => {
    const failure: RunOutcome = { kind: 'failure', reason: 'not_installed', message: 'is not installed' };
    for (const negate of [false, true]) {
      expect(judged(failure, { negate })).toMatchObject({
        outcome: 'error',
        data: { reason: 'not_installed' },
      });
      expect(judged(undefined, { negate }).outcome).toBe('error');
    }
  });

  it('keeps excerpts without secrets, even at the cut', () => {
    const secret = 'password=hunter2hunter2hunter2';
    for (let pad = 980; pad < 1005; pad += 1) {
      const long = `${'x'.repeat(pad)} ${secret}`;
      const { data, message } = judged(
        ended(2, { stdout: `${secret} ${'x'.repeat(pad + 1000)}`, ...failing(long) }),
      );
      expect(JSON.stringify([data, message])).not.toMatch(/hunter2/);
      expect((data.output as string).length).toBeLessThanOrEqual(2001);
    }
  });

  it('passes only with exit 0 and a report', () => {
    const status = fc.constantFrom('ok', 'changed', 'failed', 'ignored', 'skipped', 'unreachable');
    const outcomes = fc.record({
      exitCode: fc.constantFrom(null, 0, 1, 2, 3, 4, 5, 250),
      timedOut: fc.boolean(),
      counts: fc.record({ ok: fc.nat(2), failed: fc.nat(2), unreachable: fc.nat(2) }),
      tasks: fc.array(fc.tuple(status, fc.constantFrom('', 'Missing sudo password', 'no'))),
      told: fc.boolean(),
    });
    fc.assert(
      fc.property(outcomes, ({ exitCode, timedOut, counts, tasks, told: tells }) => {
        const report = told(
          counts,
          tasks.map(([how, message]) => task(how as TaskReport['status'], message)),
        );
        const outcome = ended(exitCode, { timedOut, ...(tells ? report : {}) });
        const verdict = judgePlaybook('v.yml', outcome, (text) => text);
        if (verdict.outcome === 'pass') expect([exitCode, tells, timedOut]).toEqual([0, true, false]);
        if (verdict.outcome === 'fail') expect([exitCode, tells, counts.failed > 0]).toEqual([2, true, true]);
        if (verdict.outcome === 'error') expect(verdict.data.reason).toMatch(/^[a-z_]+$/);
      }),
    );
  });

  it('asks for the playbook inside the bundle, and keeps what the run says apart', () => {
    const scenario = scenarioWith({
      job: [{ ...RULE, ansiblePath: './a/../v.yml', inventory: 'hosts', extra_vars: { port: 80 } }],
    });
    const [check] = planChecks(scenario, DIRECT);
    const view = new SubjectView(subject({ target: { hosts: 'web1', vars: { port: 1, user: 'x' } } }));
    expect(check && requestOf(check, view)).toEqual({
      kind: 'ansible',
      playbook: 'v.yml',
      inventory: 'hosts',
      extraVars: { port: 80 },
      runVars: { port: 1, user: 'x' },
      hosts: 'web1',
    });
    const [bare] = planChecks(scenarioWith({ job: [RULE] }), DIRECT);
    expect(bare && requestOf(bare, new SubjectView(subject({})))).toEqual({
      kind: 'ansible',
      playbook: 'validate.yml',
    });
  });
});
