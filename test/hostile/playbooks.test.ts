import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadScenarios } from '../../src/inputs/scenario-files.js';
import { play, playbook, playbookTrouble } from '../support/playbooks.js';
import { newTraces, type Traces, traces } from '../support/traces.js';

const trouble = playbookTrouble();
if (trouble !== undefined) console.warn(`SKIPPED test/hostile/playbooks.test.ts: ${trouble}`);

/** Waiting for a turn counts. */
const LONG = 240_000;
const RECAP = '{"ok":1,"changed":0,"unreachable":0,"failed":0,"skipped":0,"rescued":0,"ignored":0}';
const FORGED = `{"hosts":[["localhost",${RECAP}]],"hosts_left_out":0,"tasks":[],"tasks_left_out":0,"no_hosts_matched":false}`;
const PASS = 'ansible.builtin.assert: {that: 1 == 1}';
const FAIL = 'ansible.builtin.assert: {that: 1 == 2}';
const shell = (script: string) =>
  `{name: sh, ansible.builtin.shell: ${JSON.stringify(script)}, changed_when: false}`;

let before: Traces;
beforeAll(() => {
  before = traces();
});
afterAll(async () => {
  expect(await newTraces(before)).toEqual([]);
});

describe.skipIf(trouble !== undefined).concurrent('a playbook', () => {
  it.each(['../v.yml', '/etc/passwd', 'a/../../v.yml'])(
    'outside its folder, as %s, is not run',
    async (path) => {
      const { outcome } = await play({ 'v.yml': playbook(PASS) }, { playbook: path });
      expect(outcome).toMatchObject({ kind: 'failure', reason: 'authoring' });
    },
  );

  it('whose bundle would leave its folder is not run', async () => {
    const { outcome } = await play({ 'v.yml': playbook(PASS), '../../x': 'x' });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'bad_bundle' });
  });

  it('with a symbolic link out of its folder is not even read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hostile-'));
    try {
      const rule = { label: 'l', validator: 'ansible', ansiblePath: 'v.yml' };
      await mkdir(join(folder, 'roles'));
      await writeFile(
        join(folder, 'scenario.json'),
        JSON.stringify({ key: 'k', validation: { job: [rule] } }),
      );
      await writeFile(join(folder, 'v.yml'), playbook(PASS));
      await symlink('/etc', join(folder, 'roles/etc'));
      await expect(loadScenarios([folder])).rejects.toMatchObject({
        problems: [{ message: expect.stringContaining('roles/etc is a symbolic link that leaves') }],
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it(
    'that reads, writes or signals what is not its own is kept from it',
    async () => {
      const harm = [
        'cat /etc/shadow',
        `ls ${process.cwd()}`,
        'touch /usr/x',
        'touch /etc/x',
        `kill -0 ${process.pid}`,
        `tr '\\0' '\\n' < /proc/${process.pid}/environ`,
      ];
      const { verdict, readOnly } = await play({
        'v.yml': playbook(shell(harm.map((each) => `if ${each}; then exit 1; fi`).join('\n')), PASS),
      });
      expect(verdict?.message).toMatch(/passed/);
      expect(readOnly).toBe('enforced');
    },
    LONG,
  );

  it(
    'with a local connection reaches no network, not even this host',
    async () => {
      let reached = 0;
      const server = createServer((socket) => {
        reached += 1;
        socket.destroy();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { port: number };
      try {
        const { verdict } = await play({
          'v.yml': playbook(`ansible.builtin.wait_for: {host: 127.0.0.1, port: ${port}, timeout: 1}`),
        });
        expect(verdict?.outcome).toBe('fail');
        expect(reached).toBe(0);
      } finally {
        server.close();
      }
    },
    LONG,
  );

  it(
    'with an unreachable host is an error, and leaves no connection behind',
    async () => {
      const { verdict, readOnly } = await play(
        {
          'v.yml': playbook('ansible.builtin.ping: {}'),
          hosts: 'gone ansible_host=127.0.0.1 ansible_port=1\n',
        },
        { inventory: 'hosts' },
      );
      expect(verdict).toMatchObject({ outcome: 'error', data: { reason: 'unreachable' } });
      expect(JSON.stringify(verdict?.data.failed_tasks)).toMatch(/Connection refused/);
      expect(readOnly).toBe('declared');
    },
    LONG,
  );

  it(
    'that never ends is stopped on time, with what it leaves in the background',
    async () => {
      const started = performance.now();
      const { verdict } = await play(
        {
          'v.yml': playbook(
            shell('setsid nohup sleep 987 >/dev/null 2>&1 & true'),
            '{ansible.builtin.command: sleep 986, async: 900, poll: 0, changed_when: false}',
            shell("trap '' TERM INT HUP; while :; do sleep 1; done"),
          ),
        },
        { deadlineMs: 15_000 },
      );
      expect(verdict).toMatchObject({ outcome: 'error', data: { reason: 'deadline', timed_out: true } });
      expect(verdict?.data.output).toContain('TASK [');
      // Waiting for its turn is part of it.
      expect(performance.now() - started).toBeLessThan(LONG);
    },
    LONG,
  );

  it(
    'that floods its output is judged all the same',
    async () => {
      const flood =
        '{ansible.builtin.debug: {msg: "{{ \'flood \' * 100000 }}"}, loop: "{{ range(20) | list }}"}';
      const { outcome, verdict } = await play({ 'v.yml': playbook(flood, FAIL) }, {}, { outputCap: 20_000 });
      expect(verdict?.outcome).toBe('fail');
      if (outcome.kind === 'failure') throw new Error(outcome.message);
      expect(outcome.stdout.length).toBeLessThan(21_000);
      expect(outcome.stdout).toMatch(/left out/);
    },
    LONG,
  );

  it(
    'that prints and writes a report of its own is not believed',
    async () => {
      // The word that marks a report is in no file, argument or variable; Ansible's own streams and memory
      // are closed to its tasks.
      const forge = `
        for process in /proc/[0-9]*; do
          case $(tr '\\0' ' ' < $process/cmdline) in *python*ansible-playbook*) ;; *) continue ;; esac
          echo found
          head -c 1 $process/environ && echo read
          (: < $process/mem) && echo read
          for stream in 1 2; do
            printf '\\036%s\\n' '${FORGED}' > $process/fd/$stream && echo written
          done
        done 2>/dev/null; true\n`;
      const { outcome, verdict } = await play({
        'forge.sh': forge,
        'v.yml': playbook(
          '{ansible.builtin.command: sh forge.sh, register: it, changed_when: false}',
          'ansible.builtin.assert: {that: ["\'found\' in it.stdout", "\'read\' not in it.stdout", "\'written\' not in it.stdout"]}',
          `ansible.builtin.debug: {msg: ${JSON.stringify(`\u001e${FORGED}`)}}`,
          `{name: the last, ${FAIL}}`,
        ),
      });
      expect(verdict).toMatchObject({ outcome: 'fail', data: { failed_tasks: [{ task: 'the last' }] } });
      if (outcome.kind === 'failure') throw new Error(outcome.message);
      expect(outcome.stderr).not.toContain('hosts_left_out');
    },
    LONG,
  );

  it(
    'cannot be made to run what is in the run’s variables',
    async () => {
      const evil = "{{ lookup('pipe', 'echo pwned; exit 0') }}";
      const { outcome, verdict } = await play(
        {
          'v.yml': playbook(
            'ansible.builtin.debug: {msg: "{{ note }} {{ deep.list[0] }} {{ sum }}"}',
            "ansible.builtin.assert: {that: [\"'lookup' in note\", \"'pwned' not in note | replace('echo pwned', '')\"]}",
          ),
        },
        { runVars: { note: evil, deep: { list: [evil] } }, extraVars: { sum: '{{ note }}' } },
      );
      expect(verdict?.message).toMatch(/passed/);
      expect(outcome).toMatchObject({ report: { tasks: [{ message: `${evil} ${evil} ${evil}` }, {}] } });
    },
    LONG,
  );

  it.each<[object]>([
    [{ hosts: '@/etc/shadow' }],
    [{ runVars: { ansible_connection: 'ssh' } }],
    [{ runVars: { ansible_ssh_common_args: '-o ProxyCommand=touch\\ /tmp/x' } }],
  ])('is not run for a target that names %j', async (request) => {
    const { outcome } = await play({ 'v.yml': playbook(PASS) }, request);
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'target' });
  });

  it(
    'has no say by its own ansible.cfg over who reports',
    async () => {
      const config =
        '[defaults]\nforks=7\nstdout_callback=minimal\ncallbacks_enabled=\ncallback_plugins=plugins\n';
      const forks = `ansible.builtin.assert: {that: "lookup('config', 'DEFAULT_FORKS') == 7"}`;
      const { verdict } = await play({
        'v.yml': playbook(forks, `{name: the last, ${FAIL}}`),
        'ansible.cfg': config,
      });
      expect(verdict).toMatchObject({ outcome: 'fail', data: { failed_tasks: [{ task: 'the last' }] } });
      expect(verdict?.data.output).toContain('PLAY RECAP');
    },
    LONG,
  );
});
