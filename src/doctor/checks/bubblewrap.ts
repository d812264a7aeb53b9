import { type DoctorCheck, ok, warn } from '../check.js';
import { runCommand } from '../command.js';

/** Nothing is refused without it yet: a warning, never a failure. */
const ADVICE =
  'Not needed yet: this version runs playbooks without a sandbox (read_only: declared). A later one will use it';
const TRIAL = [
  '--ro-bind',
  '/',
  '/',
  '--proc',
  '/proc',
  '--dev',
  '/dev',
  '--unshare-pid',
  '--die-with-parent',
];

export const bubblewrapCheck: DoctorCheck = {
  name: 'bubblewrap',
  async run({ env }) {
    const version = await runCommand('bwrap', ['--version'], env);
    if (version.missing) return [warn('bwrap is not in PATH', `${ADVICE}: apt-get install bubblewrap.`)];
    const trial = await runCommand('bwrap', [...TRIAL, '--', '/bin/sh', '-c', 'exit 0'], env);
    if (trial.exitCode === 0) return [ok(`${version.output}, able to start a sandbox`, `${ADVICE}.`)];
    return [warn(`${version.output} cannot start a sandbox here: ${trial.output}`, `${ADVICE}.`)];
  },
};
