import type { Submission } from '../../src/app/submit.js';
import { sha256 } from '../../src/core/digest.js';
import type { Scenario } from '../../src/core/scenario/model.js';

import type { Blob } from '../../src/ports/store.js';
import { sealed, submission } from './evidence.js';

const PLAYBOOK = `- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.assert:
        that: fine | bool
`;
const bundleJson = JSON.stringify({ files: { 'validate.yml': Buffer.from(PLAYBOOK).toString('base64') } });

/** A bundle with one playbook, which passes when the run's target says `fine`. */
export const bundle: Blob = { digest: sha256(bundleJson), content: bundleJson };

const pattern = (label: string, where: string, text: string, more: Record<string, unknown> = {}) => ({
  label,
  validator: 'pattern_match',
  where,
  pattern: text,
  ...more,
});

/** Every validator, every scope, required and not, negated and not. */
export const mixed: Scenario = sealed('mixed', {
  gateway: [
    { label: 'ticket resolved', validator: 'ticket_status', pattern: 'resolved' },
    pattern('bot spoke', 'gateway_messages', 'done', { required: false }),
  ],
  job: [
    { label: 'job succeeded', validator: 'job_resolution_status', pattern: 'success' },
    { label: 'few tasks', validator: 'task_count', min: 1, max: 2, required: false },
    pattern('plan names nginx', 'job_plan', 'nginx', { required: false }),
  ],
  tasks: [
    pattern('restarted nginx', 'executed_commands', 'systemctl.*(restart|reload).*nginx'),
    pattern('removed nothing', 'executed_commands', 'rm -rf', { negate: true }),
    pattern('never finishes', 'task_summary', '(?=(a+)+$)(a+)+$b', { required: false }),
  ],
});

/** Playbook and pattern together. */
export const withPlaybook: Scenario = sealed(
  'playbook',
  {
    job: [
      { label: 'job succeeded', validator: 'job_resolution_status', pattern: 'success', required: false },
    ],
    tasks: [{ label: 'state is right', validator: 'ansible', ansiblePath: 'validate.yml' }],
  },
  bundle.digest,
);

const EVIL = `${'a'.repeat(40)}c`;
const RUNS: Record<string, unknown>[] = [
  {
    job: { resolution_status: 'Success ', plan: 'restart nginx' },
    tasks: [{ commands: ['systemctl restart nginx'], summary: 'fine' }],
    ticket: { status: 'Resolved', messages: ['done'] },
  },
  {
    job: { resolution_status: 'partial' },
    tasks: [{ commands: ['systemctl reload nginx', 'rm -rf /tmp/x'] }],
    ticket: { status: 'open' },
  },
  {
    job: { resolution_status: 'success', plan: 'nginx' },
    tasks: [{ commands: ['systemctl restart nginx'], summary: EVIL }],
    ticket: { status: 'resolved' },
  },
  { job: { resolution_status: 'success' } },
  {},
  { job: { resolution_status: 'success', plan: 'é\u2028nginx' }, tasks: [{ commands: [] }, {}, {}] },
];

/** `n` runs of {@link mixed}, every outcome among them. */
export function mixedRuns(n: number, firstIndex = 0): Submission[] {
  return Array.from({ length: n }, (_, i) =>
    submission(firstIndex + i, mixed, { id: `run/${firstIndex + i}`, ...RUNS[i % RUNS.length] }),
  );
}

/** One run whose playbook passes and one whose does not. */
export function playbookRuns(firstIndex = 0): Submission[] {
  return [true, false].map((fine, i) =>
    submission(firstIndex + i, withPlaybook, {
      id: `play-${i}`,
      target: { vars: { fine } },
      job: { resolution_status: 'success' },
    }),
  );
}
