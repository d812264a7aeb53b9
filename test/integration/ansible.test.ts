import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolDocument } from '../../src/core/registry/model.js';
import { judgePlaybook } from '../../src/core/validators/ansible-verdict.js';
import type { AnsibleRequest, Verdict } from '../../src/core/validators/validator.js';
import { SandboxedAnsibleRunner } from '../../src/runners/ansible/runner.js';
import { AnsibleToolRunner } from '../../src/runners/ansible/tool.js';
import { bundleOf, inTurn, play, playbook, playbookTrouble, processes } from '../support/playbooks.js';

const trouble = playbookTrouble();
if (trouble !== undefined) console.warn(`SKIPPED test/integration/ansible.test.ts: ${trouble}`);

/** Waiting for a turn counts. */
const LONG = 240_000;
const PASS = 'ansible.builtin.assert: {that: 1 == 1}';
const FAIL = 'ansible.builtin.assert: {that: 1 == 2}';
const NOBODY = 'gone ansible_host=127.0.0.1 ansible_port=1\n';

/** `ansible-vault encrypt_string` of "open", under the password "secret". */
const VAULTED = `$ANSIBLE_VAULT;1.1;AES256
61643461303261306233663465393862633638343832666633663533323065316532636462376564
6566346630373538336634653163326337656465303634300a663132653634326339323534616265
32306562626637333233326435333165383961336463333935326263646264313830366636663731
3365633234623965370a303664313137303438636465313862653963316637343565343632386664
6263`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Row {
  files: Record<string, string>;
  request?: Partial<AnsibleRequest>;
  exitCode: number;
  outcome: Verdict['outcome'];
  data?: object;
  message: RegExp;
}

/** FACTS.md, Sandboxes; DESIGN 3.3. */
const ROWS: [string, Row][] = [
  ['pass', { files: { 'v.yml': playbook(PASS) }, exitCode: 0, outcome: 'pass', message: /passed on 1 host/ }],
  [
    'failed assert',
    {
      files: { 'v.yml': playbook(`{name: '{{ 1 }} is two', ${FAIL}}`) },
      exitCode: 2,
      outcome: 'fail',
      data: { failed_tasks: [{ host: 'localhost', task: '1 is two', message: 'Assertion failed' }] },
      message: /failed on localhost: \[1 is two\] Assertion failed/,
    },
  ],
  [
    'unreachable',
    {
      files: { 'v.yml': playbook('ansible.builtin.ping: {}'), hosts: NOBODY },
      request: { inventory: 'hosts' },
      exitCode: 4,
      outcome: 'error',
      data: { reason: 'unreachable', hosts: { gone: { unreachable: 1 } } },
      message: /unreachable: gone/,
    },
  ],
  [
    'unknown module',
    {
      files: { 'v.yml': playbook('no.such.module: {}') },
      exitCode: 4,
      outcome: 'error',
      data: { reason: 'authoring' },
      message: /not valid: .*couldn't resolve module/,
    },
  ],
  [
    'bad YAML',
    {
      files: { 'v.yml': '- hosts: [all\n' },
      exitCode: 4,
      outcome: 'error',
      data: { reason: 'authoring' },
      message: /is not valid/,
    },
  ],
  [
    'missing playbook',
    {
      files: {},
      exitCode: 1,
      outcome: 'error',
      data: { reason: 'authoring' },
      message: /could not be found/,
    },
  ],
  [
    'no host matched',
    {
      files: { 'v.yml': playbook(FAIL).replace('all', 'web') },
      exitCode: 0,
      outcome: 'pass',
      message: /no data: no host matched/,
    },
  ],
  [
    'ignored failure',
    {
      files: { 'v.yml': playbook('{ansible.builtin.command: "false", ignore_errors: true}') },
      exitCode: 0,
      outcome: 'pass',
      data: {
        hosts: { localhost: { ignored: 1 } },
        tasks: [{ status: 'ignored' }],
        changed_tasks: [{ task: 'ansible.builtin.command' }],
      },
      message: /passed on 1 host/,
    },
  ],
  [
    'a writer, in its own folder',
    {
      files: { 'v.yml': playbook('{name: write, ansible.builtin.copy: {dest: /tmp/x, content: x}}') },
      exitCode: 0,
      outcome: 'pass',
      data: {
        changed: 1,
        changed_tasks: [{ host: 'localhost', task: 'write', action: 'ansible.builtin.copy' }],
        possible_read_only_breach: true,
      },
      message: /possible read-only breach/,
    },
  ],
  [
    'a writer, elsewhere',
    {
      files: { 'v.yml': playbook('ansible.builtin.copy: {dest: /usr/local/sluice-test, content: x}') },
      exitCode: 2,
      outcome: 'fail',
      data: { changed: 0 },
      message: /not writable|Read-only|Permission/i,
    },
  ],
  [
    'a limit that matches no host',
    {
      files: { 'v.yml': playbook(PASS) },
      request: { hosts: '-web' },
      exitCode: 1,
      outcome: 'error',
      data: { reason: 'exit_code' },
      message: /no hosts to target/,
    },
  ],
  [
    'a task without privileges',
    {
      files: { 'v.yml': playbook('{ansible.builtin.command: id, become: true}') },
      exitCode: 2,
      outcome: 'error',
      data: { reason: 'could_not_run' },
      message: /could not run on localhost/,
    },
  ],
  [
    'an undefined variable',
    {
      files: { 'v.yml': playbook('ansible.builtin.assert: {that: nowhere == 1}') },
      exitCode: 2,
      outcome: 'error',
      data: { reason: 'could_not_run' },
      message: /could not run on localhost/,
    },
  ],
  [
    'an inventory that cannot be read',
    {
      files: { 'v.yml': playbook(PASS), 'hosts.yml': '[web:nope]\nx\n' },
      request: { inventory: 'hosts.yml' },
      exitCode: 1,
      outcome: 'error',
      message: /could not run|not valid/,
    },
  ],
];

/** No interpreter is looked for, and no module is copied first. */
const QUICK =
  'ansible_connection=local\nansible_python_interpreter=/usr/bin/python3\nansible_pipelining=true';
/** One task each, on a host of its own. */
const REAL: Record<string, string> = {
  assertion: FAIL,
  fail: '{ansible.builtin.fail: {msg: "missing required arguments: none, really"}}',
  command: 'ansible.builtin.command: "false"',
  shell: 'ansible.builtin.shell: exit 3',
  absent_program: 'ansible.builtin.shell: command -v nosuchprogram',
  wait_for: 'ansible.builtin.wait_for: {path: /nosuch, timeout: 0}',
  uri: 'ansible.builtin.uri: {url: "http://127.0.0.1:1/"}',
  slurp: 'ansible.builtin.slurp: {src: /nosuch}',
  failed_when: '{ansible.builtin.debug: {msg: x}, failed_when: true}',
};
const BROKEN: Record<string, string> = {
  option: 'ansible.builtin.stat: {path: /etc/passwd, nosuchoption: 1}',
  arguments: 'ansible.builtin.lineinfile: {line: x}',
  loop: '{ansible.builtin.debug: {msg: x}, loop: "{{ nope }}"}',
  undefined_message: 'ansible.builtin.fail: {msg: "{{ nope }}"}',
  undefined_when: '{ansible.builtin.fail: {msg: x}, when: nope}',
  undefined_failed_when: '{ansible.builtin.command: "true", failed_when: nope}',
  compared: `ansible.builtin.assert: {that: "'a' > 1"}`,
  lookup: `ansible.builtin.debug: {msg: "{{ lookup('file', '/nosuch') }}"}`,
  no_lookup: `ansible.builtin.debug: {msg: "{{ lookup('nosuch') }}"}`,
  json: `ansible.builtin.debug: {msg: "{{ 'x{' | from_json }}"}`,
  vault: 'ansible.builtin.debug: {msg: "{{ sealed }}"}',
  facts: '{ansible.builtin.gather_facts: {}, vars: {ansible_python_interpreter: /nonexistent}}',
  interpreter: '{ansible.builtin.stat: {path: /x}, vars: {ansible_python_interpreter: /nonexistent}}',
  program: 'ansible.builtin.command: nosuchprogram',
  shell_program: 'ansible.builtin.shell: nosuchprogram',
  folder: 'ansible.builtin.command: {cmd: ls, chdir: /nosuch}',
  script: 'ansible.builtin.script: nosuch.sh',
  included: 'ansible.builtin.include_vars: nosuch.yml',
  timeout: '{ansible.builtin.command: sleep 9, timeout: 1}',
  async: '{ansible.builtin.command: sleep 9, async: 1, poll: 1}',
  hidden: '{ansible.builtin.stat: {path: /x, nosuchoption: 1}, no_log: true}',
};

describe.skipIf(trouble !== undefined).concurrent('ansible-playbook, in its sandbox', () => {
  it.each(ROWS)(
    '%s',
    async (_, { files, request, exitCode, outcome, data, message }) => {
      const { verdict, outcome: ran, readOnly } = await play(files, request);
      expect(ran).toMatchObject({ kind: 'ansible', exitCode });
      expect(verdict?.message).toMatch(message);
      expect(verdict).toMatchObject({ outcome, data: { exit_code: exitCode, ...data } });
      expect(readOnly).toBe(request?.inventory === undefined ? 'enforced' : 'declared');
    },
    LONG,
  );

  it(
    'tells what a task found from a task that could not run',
    async () => {
      const cases = { ...REAL, ...BROKEN };
      const tasks = Object.entries(cases).map(([host, task]) => [`${host}.yml`, `- ${task}\n`]);
      const sealed = VAULTED.split('\n').map((line) => `      ${line}`);
      const { outcome } = await play(
        {
          ...(Object.fromEntries(tasks) as Record<string, string>),
          'v.yml': `${playbook('ansible.builtin.include_tasks: "{{ inventory_hostname }}.yml"')}  vars:\n    sealed: !vault |\n${sealed.join('\n')}\n`,
          hosts: `${Object.keys(cases).join('\n')}\n[all:vars]\n${QUICK}\n`,
        },
        { inventory: 'hosts' },
      );
      if (outcome.kind === 'failure' || outcome.report === undefined)
        throw new Error(JSON.stringify(outcome));
      const { report } = outcome;
      const found = Object.keys(cases).map((host) => {
        const recap = Object.fromEntries(Object.entries(report.recap).filter(([name]) => name === host));
        const own = { ...report, recap, tasks: report.tasks.filter((each) => each.host === host) };
        const verdict = judgePlaybook('v.yml', { ...outcome, report: own }, (text) => text);
        return [host, verdict.outcome, verdict.data.reason, verdict.message];
      });
      expect(found).toEqual([
        ...Object.keys(REAL).map((host) => [host, 'fail', undefined, expect.any(String)]),
        ...Object.keys(BROKEN).map((host) => [host, 'error', 'could_not_run', expect.any(String)]),
      ]);
    },
    LONG,
  );

  it(
    'bad option',
    async () => {
      const argv = ['ansible-playbook', '--nope'] as const;
      const ran = await inTurn(() =>
        processes.run({ argv, network: false, deadlineMs: 60_000 }, new AbortController().signal),
      );
      if (ran.kind === 'failure') throw new Error(ran.message);
      const verdict = judgePlaybook('v.yml', { ...ran, kind: 'ansible' }, (text) => text);
      expect(verdict).toMatchObject({ outcome: 'error', data: { exit_code: 2, reason: 'exit_code' } });
    },
    LONG,
  );

  it(
    'knows variables of the rule and the run, and takes only the rule’s for templates',
    async () => {
      const that = [
        '"port == 81"',
        "\"'{' ~ '{ 1 }' ~ '}' in text\"",
        '"sum | int == 2"',
        '"deep.list[1].é is none"',
      ];
      const { verdict } = await play(
        { 'v.yml': playbook(`ansible.builtin.assert: {that: [${that.join(', ')}]}`) },
        {
          extraVars: { port: 81, sum: '{{ 1 + 1 }}' },
          runVars: { port: 1, text: '{{ 1 }}', deep: { list: [1, { é: null }] } },
        },
      );
      expect(verdict?.message).toMatch(/passed/);
    },
    LONG,
  );

  it(
    'opens vaults with the settings’ password, and removes it from its folder',
    async () => {
      const file = join(folder, 'vault');
      await writeFile(file, 'secret\n', { mode: 0o600 });
      const word = VAULTED.split('\n').map((line) => `      ${line}`);
      const { verdict } = await play(
        {
          'v.yml': `${playbook(
            'ansible.builtin.assert: {that: word == "open"}',
            '{ansible.builtin.stat: {path: .sluice/vault}, register: found}',
            'ansible.builtin.assert: {that: not found.stat.exists}',
          )}  vars:\n    word: !vault |\n${word.join('\n')}\n`,
        },
        {},
        { vaultPasswordFile: file },
      );
      expect(verdict?.message).toMatch(/passed/);
    },
    LONG,
  );

  it('says which setting names a file that is not there', async () => {
    const { outcome } = await play({ 'v.yml': '' }, {}, { vaultPasswordFile: join(folder, 'gone') });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'settings' });
    expect((outcome as { message: string }).message).toMatch(
      /ansible\.vault_password_file cannot be read: ENOENT/,
    );
  });

  it(
    'shows nothing of a task with no_log',
    async () => {
      const { outcome } = await play({
        'v.yml': playbook('{ansible.builtin.command: sh -c "echo hunter2; exit 1", no_log: true}'),
      });
      expect(outcome).toMatchObject({ exitCode: 2, report: { tasks: [{ message: /hidden/ }] } });
      expect(JSON.stringify(outcome)).not.toContain('echo hunter2');
    },
    LONG,
  );

  it(
    'runs registered tools: arguments and the resource are variables',
    async () => {
      const { files } = bundleOf({
        'site/v.yml': playbook(
          'ansible.builtin.assert: {that: [least == 2, sluice.subject.replicas >= least, sluice.resource == "app/web", sluice.slot is none]}',
        ),
      });
      const document: ToolDocument = {
        kind: 'tool',
        name: 'local/replicas',
        description: 'x',
        source: 'builtin',
        validator: 'ansible',
        capability: { read_only: true, writes: false, checkpointable: false, network: false },
        lifecycle: {},
        files,
        playbook: 'site/v.yml',
        idempotent: true,
      };
      const runner = new AnsibleToolRunner(
        new SandboxedAnsibleRunner(processes, { deadlineMs: 120_000, outputCap: 65_536 }),
      );
      const call = { document, args: { least: 2 }, resource: 'app/web', slot: null, deadlineMs: 110_000 };
      const run = (subject: unknown) =>
        inTurn(() => runner.run({ ...call, subject }, new AbortController().signal));
      expect(await run({ replicas: 2 })).toMatchObject({
        outcome: { kind: 'verdict', verdict: { outcome: 'pass' } },
        readOnly: 'enforced',
      });
      expect(await run({ replicas: 1 })).toMatchObject({ outcome: { verdict: { outcome: 'fail' } } });
    },
    LONG,
  );
});
