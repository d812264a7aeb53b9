import { type DoctorCheck, fail, ok, type SandboxChoice, warn } from '../check.js';
import { runCommand } from '../command.js';
import { heldPlaybooks } from '../sandbox.js';

const DEFAULT: SandboxChoice = { sandbox: 'bubblewrap', isEnforced: true, demandedBy: [] };
/** Oldest ansible-core that playbooks are tried with. */
const OLDEST = [2, 14] as const;

function isOlder(version: string): boolean {
  const [, major, minor] = /\[core (\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return true;
  return Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
}

export const ansibleCheck: DoctorCheck = {
  name: 'ansible',
  async run({ env, sandbox = DEFAULT }) {
    const { exitCode, output, missing } = await runCommand('ansible-playbook', ['--version'], env);
    if (missing) {
      return [
        warn(
          'ansible-playbook is not in PATH',
          'Rules and tools with the ansible validator do not run here; apt-get install ansible-core.',
        ),
      ];
    }
    const [first = ''] = output.split('\n');
    if (exitCode !== 0) return [fail(`ansible-playbook does not run: ${first}`, 'Install it anew.')];
    if (!isOlder(first)) return [(sandbox.isEnforced ? ok : warn)(first, heldPlaybooks(sandbox))];
    return [warn(first, `Playbooks are tried with ansible-core ${OLDEST.join('.')} and newer; install one.`)];
  },
};
