import { type DoctorCheck, ok, warn } from '../check.js';
import { runCommand } from '../command.js';
import { judgeChoice } from '../sandbox.js';

/** Pure checks need no sandbox: a warning, never a failure. */
const REFUSED =
  'Without it, commands, playbooks and local MCP servers are refused, and rules without them work';
const CHOICES =
  'or let the worker run in a read-only container (sandbox: container), or without a sandbox (sandbox: off)';

/** Small, but with all that a run needs: sizes and a file system that is closed at the end. */
const TRIAL = [
  ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--perms', '1777', '--size', '1048576'],
  ...['--tmpfs', '/tmp', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts'],
  ...['--hostname', 'sandbox', '--remount-ro', '/', '--new-session', '--die-with-parent'],
];

export const bubblewrapCheck: DoctorCheck = {
  name: 'bubblewrap',
  async run({ env, sandbox }) {
    if (sandbox !== undefined && sandbox.sandbox !== 'bubblewrap') return judgeChoice(sandbox);
    const version = await runCommand('bwrap', ['--version'], env);
    if (version.missing) {
      return [warn('bwrap is not in PATH', `${REFUSED}: apt-get install bubblewrap, ${CHOICES}.`)];
    }
    const trial = await runCommand('bwrap', [...TRIAL, '--', '/bin/sh', '-c', 'exit 0'], env);
    if (trial.exitCode !== 0) {
      const found = `${version.output} cannot start a sandbox here: ${trial.output}`;
      return [warn(found, `${REFUSED}: let this host make namespaces, ${CHOICES}.`)];
    }
    if (process.getuid?.() === 0) {
      const setpriv = await runCommand('setpriv', ['--version'], env);
      if (setpriv.missing) {
        const found = `${version.output} works, but root needs setpriv to become another user in it`;
        return [warn(found, `${REFUSED}: run workers as another user, install util-linux, ${CHOICES}.`)];
      }
    }
    return [ok(`${version.output}, able to start a sandbox`)];
  },
};
