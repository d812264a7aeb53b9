import { describe, expect, it } from 'vitest';
import { concludeCheck, planChecks, requestOf } from '../../../../src/core/scenario/checks.js';
import { SubjectView } from '../../../../src/core/subject-view.js';
import { parsePlaybookOutput } from '../../../../src/core/validators/ansible-output.js';
import type { AnsibleOutcome, RunOutcome, Verdict } from '../../../../src/core/validators/validator.js';
import { DIRECT, scenarioWith, subject } from '../build.js';

const RULE = { label: 'l', validator: 'ansible', ansiblePath: 'validate.yml' };

function judged(outcome: RunOutcome | undefined, more: object = {}): Verdict {
  const [check] = planChecks(scenarioWith({ job: [{ ...RULE, ...more }] }), DIRECT);
  if (check === undefined) throw new Error('no check');
  return concludeCheck(check, new SubjectView(subject({})), outcome);
}

function ended(exitCode: number | null, stdout: string, more: Partial<AnsibleOutcome> = {}): AnsibleOutcome {
  return { kind: 'ansible', exitCode, timedOut: false, stdout, stderr: '', durationMs: 900, ...more };
}

const recap = (host: string, counts: string) =>
  `\nPLAY RECAP *********************************************************************\n${host}                  : ${counts}   \n\n`;
const OK = 'ok=2    changed=0    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0';
const FAILED = 'ok=0    changed=0    unreachable=0    failed=1    skipped=0    rescued=0    ignored=0';
const PLAY = '\nPLAY [localhost] ***************************************************************\n';
const FACTS =
  '\nTASK [Gathering Facts] *********************************************************\nok: [localhost]\n';
const task = (title: string, line: string) => `\nTASK [${title}] ${'*'.repeat(40)}\n${line}\n`;
const fatal = (body: object) => `fatal: [localhost]: FAILED! => ${JSON.stringify(body)}`;
const failing = (body: object) => `${PLAY}${task('check', fatal(body))}${recap('localhost', FAILED)}`;
const ASSERTION =
  'fatal: [localhost]: FAILED! => {\n    "assertion": "1 == 2",\n    "changed": false,\n    "evaluated_to": false,\n    "msg": "MODULE FAILURE is what the author says"\n}';
const COULD_NOT = {
  sudo: { changed: false, msg: 'Missing sudo password' },
  module: {
    module_stderr: '/bin/sh: 1: /bin/su: not found\n',
    msg: 'MODULE FAILURE\nSee stdout/stderr for the exact error',
    rc: 127,
  },
  interpreter: {
    module_stderr: '/bin/sh: 1: /usr/bin/python9: not found\n',
    msg: 'The module failed to execute correctly, you probably need to set the interpreter.\nSee stdout/stderr for the exact error',
    rc: 127,
  },
  become: { msg: 'Timeout (12s) waiting for privilege escalation prompt: ' },
  undefined: {
    msg: "The task includes an option with an undefined variable. The error was: 'x' is undefined",
  },
  include: { reason: "Could not find or access '/x/gone.yml' on the Ansible Controller." },
};
const UNREACHABLE = `${PLAY}\nTASK [ping] ***\nfatal: [web1]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect", "unreachable": true}\n${recap('web1', 'ok=0    changed=0    unreachable=1    failed=0    skipped=0    rescued=0    ignored=0')}`;

describe('an ansible rule', () => {
  it.each<[string, AnsibleOutcome, Verdict['outcome'], RegExp]>([
    [
      'exit 0',
      ended(0, `${PLAY}${FACTS}${task('a', 'ok: [localhost]')}${recap('localhost', OK)}`),
      'pass',
      /validate.yml: passed on 1 host$/,
    ],
    [
      'exit 2 with a failed assertion',
      ended(2, `${PLAY}${task('check port', ASSERTION)}${recap('localhost', FAILED)}`),
      'fail',
      /failed on localhost: \[check port\] MODULE FAILURE is/,
    ],
    [
      'exit 2 with a failed command',
      ended(2, failing({ msg: 'non-zero return code', rc: 1 })),
      'fail',
      /non-zero return code/,
    ],
    [
      'exit 2 with a failed loop item',
      ended(
        2,
        `${PLAY}${task('loop', 'failed: [localhost] (item=2) => {"msg": "non-zero return code"}')}${recap('localhost', FAILED)}`,
      ),
      'fail',
      /\[loop\] non-zero/,
    ],
    [
      'exit 2 for lack of a sudo password',
      ended(2, failing(COULD_NOT.sudo)),
      'error',
      /could not run on localhost: Missing sudo password/,
    ],
    ['exit 2 with a broken module', ended(2, failing(COULD_NOT.module)), 'error', /MODULE FAILURE/],
    [
      'exit 2 without an interpreter',
      ended(2, failing(COULD_NOT.interpreter)),
      'error',
      /set the interpreter/,
    ],
    ['exit 2 without privileges', ended(2, failing(COULD_NOT.become)), 'error', /privilege escalation/],
    [
      'exit 2 on an undefined variable',
      ended(2, failing(COULD_NOT.undefined)),
      'error',
      /undefined variable/,
    ],
    [
      'exit 2 on a missing include',
      ended(2, failing(COULD_NOT.include)),
      'error',
      /on the Ansible Controller/,
    ],
    [
      'exit 2 for a bad option',
      ended(2, '', {
        stderr: 'usage: ansible-playbook [-h]\nansible-playbook: error: unrecognized arguments: --nope',
      }),
      'error',
      /could not run: exit code 2, ansible-playbook: error: unrecognized/,
    ],
    ['exit 4, unreachable', ended(4, UNREACHABLE), 'error', /unreachable: web1/],
    [
      'exit 4, unknown module',
      ended(4, '', { stderr: "ERROR! couldn't resolve module/action 'x'. This often" }),
      'error',
      /exit code 4, ERROR! couldn't resolve/,
    ],
    [
      'exit 1',
      ended(1, '', { stderr: 'ERROR! the playbook: v.yml could not be found' }),
      'error',
      /exit code 1/,
    ],
    ['exit 250', ended(250, ''), 'error', /exit code 250/],
    ['a signal', ended(null, '', { signal: 'SIGKILL' }), 'error', /ended by SIGKILL/],
    [
      'its deadline',
      ended(0, `${PLAY}${recap('localhost', OK)}`, { timedOut: true }),
      'error',
      /deadline after 900 ms/,
    ],
  ])('that ends with %s', (_, outcome, expected, message) => {
    const verdict = judged(outcome);
    expect(verdict.message).toMatch(message);
    expect(verdict.outcome).toBe(expected);
    expect(verdict.data.exit_code).toBe(outcome.exitCode);
    expect(verdict.data).not.toHaveProperty('vacuous');
    const negated = { pass: 'fail', fail: 'pass', error: 'error' }[expected];
    expect(judged(outcome, { negate: true }).outcome).toBe(negated);
  });

  const NO_HOSTS = `\nPLAY [web] ***\nskipping: no hosts matched\n\nPLAY RECAP ***\n\n`;
  it.each<[string, string, RegExp]>([
    ['no host matched', NO_HOSTS, /no data: no host matched/],
    [
      'only facts were gathered',
      `${PLAY}${FACTS}${recap('localhost', OK.replace('ok=2', 'ok=1'))}`,
      /no task ran/,
    ],
    [
      'every task was skipped',
      `${PLAY}${task('a', 'skipping: [localhost]')}${recap('localhost', OK.replace('ok=2', 'ok=0'))}`,
      /no task ran/,
    ],
    [
      'only an include was read',
      `${PLAY}${FACTS}${task('i', 'included: /x/inc.yml for localhost')}${recap('localhost', OK)}`,
      /no task ran/,
    ],
    ['nothing was printed', '', /no task ran/],
  ])('passes vacuously when %s, and negated does not pass at all', (_, stdout, message) => {
    const verdict = judged(ended(0, stdout));
    expect(verdict).toMatchObject({ outcome: 'pass', data: { vacuous: true } });
    expect(verdict.message).toMatch(message);
    const negated = judged(ended(0, stdout), { negate: true });
    expect(negated.outcome).toBe('fail');
    expect(negated.data).not.toHaveProperty('vacuous');
  });

  it('reports a change as a possible read-only breach', () => {
    const verdict = judged(
      ended(
        0,
        `${PLAY}${task('a', 'changed: [localhost]')}${recap('localhost', OK.replace('changed=0', 'changed=1'))}`,
      ),
    );
    expect(verdict.outcome).toBe('pass');
    expect(verdict.message).toMatch(/possible read-only breach/);
    expect(verdict.data).toMatchObject({
      changed: 1,
      possible_read_only_breach: true,
      hosts: { localhost: { ok: 2, changed: 1 } },
    });
  });

  it('judges by the failure that stopped the host, not by ignored ones', () => {
    const ignored = `${task('try', fatal(COULD_NOT.sudo))}...ignoring\n`;
    const real = task('check', fatal({ msg: 'non-zero return code' }));
    expect(judged(ended(2, `${PLAY}${ignored}${real}${recap('localhost', FAILED)}`)).outcome).toBe('fail');
    const wrong = `${task('try', fatal({ msg: 'non-zero return code' }))}...ignoring\n`;
    const broken = task('check', fatal(COULD_NOT.sudo));
    expect(judged(ended(2, `${PLAY}${wrong}${broken}${recap('localhost', FAILED)}`)).outcome).toBe('error');
  });

  it('is an error when the runner could not do it or brought nothing back', () => {
    const failure: RunOutcome = {
      kind: 'failure',
      reason: 'not_installed',
      message: 'ansible-playbook is not installed',
    };
    for (const negate of [false, true]) {
      expect(judged(failure, { negate })).toMatchObject({
        outcome: 'error',
        data: { reason: 'not_installed' },
      });
      expect(judged(undefined, { negate }).outcome).toBe('error');
    }
  });

  it('keeps an excerpt of the output without secrets, even at the cut', () => {
    const secret = 'password=hunter2hunter2hunter2';
    for (let pad = 1980; pad < 2005; pad += 1) {
      const { data } = judged(ended(1, `${secret} ${'x'.repeat(pad)}`));
      expect(data.output).not.toMatch(/hunter2/);
      expect((data.output as string).length).toBeLessThanOrEqual(2001);
    }
  });

  it('asks for the playbook inside the bundle; variables of the rule win over those of the run', () => {
    const scenario = scenarioWith({
      job: [{ ...RULE, ansiblePath: './a/../v.yml', inventory: 'hosts', extra_vars: { port: 80 } }],
    });
    const [check] = planChecks(scenario, DIRECT);
    const view = new SubjectView(subject({ target: { hosts: 'web1', vars: { port: 1, user: 'x' } } }));
    expect(check && requestOf(check, view)).toEqual({
      kind: 'ansible',
      playbook: 'v.yml',
      inventory: 'hosts',
      extraVars: { port: 80, user: 'x' },
      hosts: 'web1',
    });
    const [bare] = planChecks(scenarioWith({ job: [RULE] }), DIRECT);
    expect(bare && requestOf(bare, new SubjectView(subject({})))).toEqual({
      kind: 'ansible',
      playbook: 'validate.yml',
    });
  });
});

describe('parsePlaybookOutput', () => {
  it('reads colours, several hosts and the last recap', () => {
    const output = `PLAY RECAP ***\nfake : ok=1 changed=0 unreachable=0 failed=0\n\nPLAY RECAP ***\n\u001b[0;32mweb1\u001b[0m : \u001b[0;32mok=3   \u001b[0m changed=0    unreachable=0    failed=0    skipped=1    rescued=0    ignored=0\n::1 : ok=1 changed=0 unreachable=0 failed=0\n`;
    const { recap: hosts, worked } = parsePlaybookOutput(output);
    expect([...(hosts ?? [])].map(([name, { ok, skipped }]) => [name, ok, skipped])).toEqual([
      ['web1', 3, 1],
      ['::1', 1, 0],
    ]);
    expect(worked).toBe(4);
  });

  it.each(['fatal: [h]: FAILED! => {\n', 'PLAY RECAP ***\n', 'h : ok=1 ', 'TASK [', 'included: for for '])(
    'takes no long time on many times %j',
    (unit) => {
      const start = performance.now();
      parsePlaybookOutput(unit.repeat(Math.ceil(1_000_000 / unit.length)));
      expect(performance.now() - start).toBeLessThan(3000);
    },
  );
});
