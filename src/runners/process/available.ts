import { existsSync } from 'node:fs';
import type { ReadOnly } from '../../core/result.js';
import { bwrapProgram, wrapped } from './bubblewrap.js';
import { CappedOutput } from './capped.js';
import type { ProcessSettings } from './settings.js';
import { StartedProcess } from './started.js';
import { isRoot, sandboxUser } from './users.js';

const CHOICES =
  'install bubblewrap, or choose sandbox: container (when the worker runs in a read-only container) or sandbox: off';

const tried = new Map<string, Promise<string | undefined>>();

/**
 * Why processes cannot be run on this host as configured, in one sentence with what to do;
 * undefined where they can. Tried once per settings and kept.
 */
export function sandboxTrouble({ sandbox }: Pick<ProcessSettings, 'sandbox'>): Promise<string | undefined> {
  if (sandbox !== 'bubblewrap') return Promise.resolve(undefined);
  const known = tried.get(sandbox) ?? trial();
  tried.set(sandbox, known);
  return known;
}

async function trial(): Promise<string | undefined> {
  if (bwrapProgram() === undefined) return `bubblewrap (bwrap) is not in PATH: ${CHOICES}`;
  if (isRoot() && !existsSync('/usr/bin/setpriv')) {
    return `the worker is root and there is no setpriv to become another user in the sandbox: run the worker as another user, install util-linux, or ${CHOICES}`;
  }
  const said = await tryOnce();
  return said === undefined ? undefined : `bubblewrap cannot start a sandbox here (${said}): ${CHOICES}`;
}

/** Long enough for a host that is busy. */
const TRIAL_MS = 20_000;

/** What a sandbox that does nothing said when it failed; why it could not be tried may be over soon. */
async function tryOnce(): Promise<string | undefined> {
  const user = sandboxUser();
  const launch = wrapped({
    program: '/bin/sh',
    args: ['-c', 'exit 0'],
    env: {},
    token: '',
    memoryKiB: 64 * 1024,
    processes: 16,
    scratchMiB: 1,
    network: false,
    paths: [],
    user: user.id,
  });
  const release = async () => user.release();
  const start = {
    ...launch,
    ...{ env: {}, token: '', mark: '', sandboxed: true, release, abandon() {} },
    ...{ program: '/bin/sh', head: () => Buffer.alloc(0) },
  };
  const trial = new StartedProcess(start, 'ignore', 0);
  const timer = setTimeout(() => trial.kill(), TRIAL_MS);
  const said = new CappedOutput(1024);
  trial.child?.stdout?.resume();
  trial.child?.stderr?.on('data', (chunk: Buffer) => said.push(chunk));
  const { exitCode, signal, error } = await trial.ended;
  clearTimeout(timer);
  if (exitCode === 0) return undefined;
  if (error !== undefined) tried.delete('bubblewrap');
  return error ?? (said.toString().trim().split('\n')[0] || `it ended with ${signal ?? exitCode}`);
}

/**
 * What results may say: under bubblewrap `enforced`, else what the tool's author declares. A container with a
 * read-only root keeps nobody from the network, or from what other runs write: it is not known what it holds.
 */
export function readOnlyOf({ sandbox }: Pick<ProcessSettings, 'sandbox'>): ReadOnly {
  return sandbox === 'bubblewrap' ? 'enforced' : 'declared';
}
