import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { failure } from '../../core/failure.js';
import type { ReadOnly } from '../../core/result.js';
import { readReport } from '../../core/validators/ansible-report.js';
import type { AnsibleOutcome, AnsibleRequest, RunFailure } from '../../core/validators/validator.js';
import type { AnsibleRunner, Bundle, Ran } from '../../ports/runner.js';
import type { Processes, ProcessOutcome } from '../process/request.js';
import { CALLBACK, CALLBACK_NAME, OURS } from './callback.js';
import { findInstall, type Install } from './install.js';
import { isLocal } from './inventory.js';
import { filesOf, requestProblem } from './request.js';
import { varsFile } from './vars.js';

export interface AnsibleSettings {
  /** Milliseconds until SIGTERM. */
  deadlineMs: number;
  /** Bytes of each output stream that are kept, head and tail. */
  outputCap: number;
  /** On the worker; its content is the password. */
  vaultPasswordFile?: string;
  /** On the worker; only for runs with the network. */
  privateKeyFile?: string;
  /** On the worker; absent: host keys are accepted when first seen, and forgotten after the run. */
  knownHostsFile?: string;
}

const VARS = `${OURS}/vars.yml`;
const CONFIG = `${OURS}/ansible.cfg`;
const VAULT = `${OURS}/vault`;
const KEY = `${OURS}/key`;
const KNOWN_HOSTS = `${OURS}/known_hosts`;
/** Bytes of standard error in whose tail the largest report fits. */
const REPORT_CAP = 2 * 1024 * 1024;
/** Files come executable, by others to be read: the one is a script to Ansible, the other no key to ssh. */
const PRIVATE = `for file in ${VAULT} ${KEY}; do [ ! -e "$file" ] || chmod 600 "$file"; done; exec "$@"`;

/** What of a run stays the same for its syntax check. */
interface Play {
  request: AnsibleRequest;
  files: Map<string, Uint8Array>;
  /** Of the environment. */
  env: Record<string, string>;
  install: Install;
  network: boolean;
}

/**
 * Runs playbooks under the process runner (DESIGN 3.3, 6): without network where all hosts are local,
 * else with it and with host keys of that run alone. Nothing is read from outside its folder but what the
 * settings name.
 */
export class SandboxedAnsibleRunner implements AnsibleRunner {
  readonly #processes: Processes;
  readonly #settings: AnsibleSettings;

  constructor(processes: Processes, settings: AnsibleSettings) {
    this.#processes = processes;
    this.#settings = settings;
  }

  async run(
    request: AnsibleRequest,
    bundle: Bundle,
    signal: AbortSignal,
  ): Promise<Ran<AnsibleOutcome | RunFailure>> {
    const play = await this.#play(request, bundle);
    if ('kind' in play) return { outcome: play, readOnly: 'enforced' };
    const started = performance.now();
    const deadlineMs = Math.min(this.#settings.deadlineMs, request.deadlineMs ?? Number.POSITIVE_INFINITY);
    const word = randomBytes(16).toString('hex');
    const ran = await this.#processes.run(
      {
        argv: commandOf(play),
        env: play.env,
        files: play.files,
        paths: play.install.paths,
        network: play.network,
        stdin: `${word}\n`,
        deadlineMs,
        outputCap: Math.max(this.#settings.outputCap, REPORT_CAP),
      },
      signal,
    );
    if (ran.kind === 'failure') return { outcome: ran, readOnly: 'enforced' };
    // With the network a playbook may reach hosts on which nothing of ours holds it.
    const readOnly: ReadOnly = play.network ? 'declared' : ran.readOnly;
    const outcome = this.#outcomeOf(ran, word);
    if (!isUnexplained(outcome)) return { outcome, readOnly };
    const left = deadlineMs - (performance.now() - started);
    const authoring = await this.#syntaxCheck(play, left, signal);
    return { outcome: { ...outcome, ...(authoring === undefined ? {} : { authoring }) }, readOnly };
  }

  async #play(request: AnsibleRequest, bundle: Bundle): Promise<Play | RunFailure> {
    const files = filesOf(bundle);
    if ('kind' in files) return files;
    const problem = requestProblem(request);
    if (problem !== undefined) return problem;
    const install = await findInstall();
    if (install === undefined) {
      const advice = '`sluice doctor` says how to get it';
      return failure('not_installed', `ansible-playbook is not installed on this worker; ${advice}`);
    }
    const network = request.network ?? !isLocal(request, (path) => files.get(path));
    files.set(`${OURS}/callback/${CALLBACK_NAME}.py`, Buffer.from(CALLBACK));
    files.set(CONFIG, Buffer.alloc(0));
    files.set(VARS, Buffer.from(varsFile(request.extraVars ?? {}, request.runVars ?? {})));
    const unreadable = await this.#addSecrets(files, network);
    if (unreadable !== undefined) return unreadable;
    const env = environment(files, this.#settings.knownHostsFile !== undefined);
    return { request, files, env, install, network };
  }

  /** Files that the settings name, for this run alone; a playbook without the network has no use for a key. */
  async #addSecrets(files: Map<string, Uint8Array>, network: boolean): Promise<RunFailure | undefined> {
    const { vaultPasswordFile, privateKeyFile, knownHostsFile } = this.#settings;
    const wanted = [
      ['ansible.vault_password_file', VAULT, vaultPasswordFile],
      ...(network
        ? ([
            ['ansible.private_key_file', KEY, privateKeyFile],
            ['ansible.known_hosts_file', KNOWN_HOSTS, knownHostsFile],
          ] as const)
        : []),
    ] as const;
    for (const [setting, name, path] of wanted) {
      if (path === undefined) continue;
      try {
        files.set(name, await readFile(path));
      } catch (error) {
        return failure('settings', `${setting} cannot be read: ${(error as Error).message}`);
      }
    }
    return undefined;
  }

  #outcomeOf(ran: ProcessOutcome, word: string): AnsibleOutcome {
    const { report, rest } = readReport(ran.stderr, word);
    return {
      kind: 'ansible',
      exitCode: ran.exitCode,
      ...(ran.signal === undefined ? {} : { signal: ran.signal }),
      timedOut: ran.timedOut,
      stdout: capped(ran.stdout, this.#settings.outputCap),
      stderr: capped(rest, this.#settings.outputCap),
      durationMs: ran.durationMs,
      ...(report === undefined ? {} : { report }),
    };
  }

  /** What is wrong with the playbook itself; half a second that only runs pay that told nothing. */
  async #syntaxCheck(play: Play, deadlineMs: number, signal: AbortSignal): Promise<string | undefined> {
    if (!(deadlineMs > 0)) return undefined;
    const { files, env, install } = play;
    const ran = await this.#processes.run(
      { argv: commandOf(play, true), env, files, paths: install.paths, network: false, deadlineMs },
      signal,
    );
    if (ran.kind === 'failure' || ran.timedOut || ran.exitCode === null || ran.exitCode === 0)
      return undefined;
    return ran.stderr.trim() === '' ? `exit code ${ran.exitCode}` : ran.stderr;
  }
}

/** What a shell ends with when a program cannot be started. */
const NOT_STARTED: readonly unknown[] = [126, 127];

/** Ansible ended by itself, badly, and without telling why. */
function isUnexplained({ exitCode, timedOut, report }: AnsibleOutcome): boolean {
  if (timedOut || exitCode === null || NOT_STARTED.includes(exitCode)) return false;
  return exitCode !== 0 && report === undefined;
}

/** Values of others stand behind `=` or `--`, where none is taken for an option. */
function commandOf({ request, install }: Play, onlySyntax = false): readonly [string, ...string[]] {
  const { inventory, hosts, playbook } = request;
  return [
    '/bin/sh',
    '-c',
    PRIVATE,
    'sh',
    install.program,
    ...(onlySyntax ? ['--syntax-check'] : []),
    ...(inventory === undefined ? ['-i', 'localhost,', '-c', 'local'] : ['-i', inventory]),
    // The run's host pattern is no matter of the playbook's syntax.
    ...(hosts === undefined || onlySyntax ? [] : [`--limit=${hosts}`]),
    '-e',
    `@${VARS}`,
    '--',
    playbook,
  ];
}

/** Ansible takes these before an ansible.cfg of the bundle. */
function environment(files: ReadonlyMap<string, unknown>, hostsKnown: boolean): Record<string, string> {
  const keys = hostsKnown ? 'yes' : 'accept-new';
  const ssh = [
    '-F /dev/null',
    '-o ControlMaster=no',
    `-o UserKnownHostsFile=${KNOWN_HOSTS}`,
    '-o GlobalKnownHostsFile=/dev/null',
    `-o StrictHostKeyChecking=${keys}`,
    ...(files.has(KEY) ? ['-o IdentitiesOnly=yes'] : []),
  ];
  return {
    // Named, or it would depend on the worker and on who may write to the folder whether there is one.
    ANSIBLE_CONFIG: files.has('ansible.cfg') ? 'ansible.cfg' : CONFIG,
    ANSIBLE_CALLBACK_PLUGINS: `${OURS}/callback`,
    ANSIBLE_CALLBACKS_ENABLED: CALLBACK_NAME,
    ANSIBLE_STDOUT_CALLBACK: 'default',
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_FORCE_COLOR: '0',
    ANSIBLE_RETRY_FILES_ENABLED: '0',
    ANSIBLE_LOCALHOST_WARNING: '0',
    ANSIBLE_DEPRECATION_WARNINGS: '0',
    // An inventory that cannot be read would match no host, which is a pass.
    ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED: '1',
    // A module tells the system log of its host what it was called with, which is a write.
    ANSIBLE_NO_TARGET_SYSLOG: '1',
    ANSIBLE_HOST_KEY_CHECKING: '1',
    ANSIBLE_SSH_ARGS: ssh.join(' '),
    ...(files.has(KEY) ? { ANSIBLE_PRIVATE_KEY_FILE: KEY } : {}),
    ...(files.has(VAULT) ? { ANSIBLE_VAULT_PASSWORD_FILE: VAULT } : {}),
  };
}

/** Head and tail of a text that is longer than the settings allow. */
function capped(text: string, cap: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= cap) return text;
  const half = Math.max(1, Math.floor(cap / 2));
  const left = bytes.length - 2 * half;
  const head = bytes.subarray(0, half).toString('utf8');
  return `${head}\n... ${left} bytes left out ...\n${bytes.subarray(-half).toString('utf8')}`;
}
