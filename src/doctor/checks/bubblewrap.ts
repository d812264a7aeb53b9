import { type DoctorCheck, ok, warn } from '../check.js';
import { runCommand } from '../command.js';

const ADVICE = 'Playbooks run without a sandbox in this version; results say read_only: declared.';
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
    if (version.missing) return [warn('bwrap is not in PATH', `${ADVICE} apt-get install bubblewrap.`)];
    const trial = await runCommand('bwrap', [...TRIAL, '--', '/bin/sh', '-c', 'exit 0'], env);
    if (trial.exitCode === 0) return [ok(`${version.output}, able to start a sandbox`)];
    return [warn(`${version.output} cannot start a sandbox here: ${trial.output}`, ADVICE)];
  },
};
