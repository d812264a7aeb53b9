import { spawnSync } from 'node:child_process';
import { judgePlaybook } from '../../src/core/validators/ansible-verdict.js';
import type {
  AnsibleOutcome,
  AnsibleRequest,
  RunFailure,
  Verdict,
} from '../../src/core/validators/validator.js';
import type { Bundle, Ran } from '../../src/ports/runner.js';
import { type AnsibleSettings, SandboxedAnsibleRunner } from '../../src/runners/ansible/runner.js';
import { LocalProcesses } from '../../src/runners/process/processes.js';

/** Each takes a core for a second. */
const AT_A_TIME = 2;
const MIB = 1024 * 1024;

/** Why playbooks cannot be run here; undefined where they can. */
export function playbookTrouble(): string | undefined {
  for (const program of ['ansible-playbook', 'bwrap']) {
    if (spawnSync(program, ['--version']).status !== 0) return `${program} does not run on this machine`;
  }
  return undefined;
}

export const processes = new LocalProcesses({
  sandbox: 'bubblewrap',
  memoryMiB: 512,
  processes: 128,
  scratchMiB: 64,
  outputCap: MIB,
  graceMs: 500,
  paths: ['/'],
});

export function bundleOf(files: Readonly<Record<string, string>>): Bundle {
  const entries = Object.entries(files).map(([path, text]) => [path, Buffer.from(text).toString('base64')]);
  return { files: Object.fromEntries(entries) as Record<string, string> };
}

let running = 0;
const waiting: (() => void)[] = [];

/** Waits for its turn, so that a file's tests may all be concurrent. */
export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_A_TIME) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

export interface Played extends Ran<AnsibleOutcome | RunFailure> {
  /** Absent where it was not run. */
  verdict?: Verdict;
}

/** Runs `v.yml` of the files in a sandbox, with the settings' defaults. */
export function play(
  files: Readonly<Record<string, string>>,
  request: Partial<AnsibleRequest> = {},
  settings: Partial<AnsibleSettings> = {},
): Promise<Played> {
  const runner = new SandboxedAnsibleRunner(processes, { deadlineMs: 120_000, outputCap: MIB, ...settings });
  const whole: AnsibleRequest = { kind: 'ansible', playbook: 'v.yml', ...request };
  return inTurn(async () => {
    const ran = await runner.run(whole, bundleOf(files), new AbortController().signal);
    if (ran.outcome.kind === 'failure') return ran;
    return { ...ran, verdict: judgePlaybook(whole.playbook, ran.outcome, (text) => text) };
  });
}

/** A play on all hosts without facts, from its tasks in YAML flow style, one a line. */
export function playbook(...tasks: string[]): string {
  return `- hosts: all\n  gather_facts: false\n  tasks:\n${tasks.map((task) => `    - ${task}\n`).join('')}`;
}
