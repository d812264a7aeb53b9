import { type DoctorCheck, fail, ok, warn } from '../check.js';
import { runCommand } from '../command.js';

const NO_SANDBOX =
  'Playbooks run without a sandbox, as this user; their results say read_only: declared. Run only those that read.';

export const ansibleCheck: DoctorCheck = {
  name: 'ansible',
  async run({ env }) {
    const { exitCode, output, missing } = await runCommand('ansible-playbook', ['--version'], env);
    if (missing) {
      return [
        warn(
          'ansible-playbook is not in PATH',
          'Rules with the ansible validator end as errors; apt-get install ansible-core.',
        ),
      ];
    }
    const [first = ''] = output.split('\n');
    return [
      exitCode === 0
        ? ok(first, NO_SANDBOX)
        : fail(`ansible-playbook does not run: ${first}`, 'Install it anew.'),
    ];
  },
};
