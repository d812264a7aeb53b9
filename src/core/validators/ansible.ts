import { z } from 'zod';
import { type Problem, show } from '../problem.js';
import type { SubjectView } from '../subject-view.js';
import { judgePlaybook } from './ansible-verdict.js';
import { bundlePathProblem, normalBundlePath } from './bundle-path.js';
import { unexpectedOutcome } from './unexpected.js';
import type { RunOutcome, RunRequest, Validator, Verdict } from './validator.js';

const bundlePath = z
  .string()
  .max(1024)
  .meta({ minLength: 1, pattern: '^(?!/)(?![A-Za-z]:)[^-~\\u0000\\\\][^\\u0000\\\\]*$' });

const params = z.object({
  ansiblePath: bundlePath.describe('Playbook to run, relative to the scenario’s folder and inside it'),
  inventory: bundlePath.optional().describe('Inventory, relative to the scenario’s folder and inside it'),
  extra_vars: z.record(z.string(), z.json()).optional().describe('Extra variables for the playbook'),
});
type Params = z.infer<typeof params>;

function problems({ ansiblePath, inventory }: Partial<Params>): Problem[] {
  const found: Problem[] = [];
  for (const [path, value] of Object.entries({ ansiblePath, inventory })) {
    const message = value === undefined ? undefined : bundlePathProblem(value);
    if (message !== undefined) found.push({ path, message, found: show(value) });
  }
  return found;
}

function request({ ansiblePath, inventory, extra_vars }: Params, view: SubjectView): RunRequest {
  const { target } = view.subject;
  return {
    kind: 'ansible',
    playbook: normalBundlePath(ansiblePath),
    ...(inventory === undefined ? {} : { inventory: normalBundlePath(inventory) }),
    ...(extra_vars === undefined ? {} : { extraVars: extra_vars }),
    ...(target?.vars === undefined ? {} : { runVars: target.vars }),
    ...(target?.hosts === undefined ? {} : { hosts: target.hosts }),
  };
}

function judge({ ansiblePath }: Params, view: SubjectView, _scope: unknown, outcome?: RunOutcome): Verdict {
  if (outcome?.kind !== 'ansible') return unexpectedOutcome(outcome);
  return judgePlaybook(ansiblePath, outcome, (text) => view.redactor.redact(text));
}

/** A playbook's exit code as pass, fail or error (SV, ansible; DESIGN 3.3). */
export const ansible: Validator<Params> = {
  name: 'ansible',
  description: 'Runs an Ansible playbook of the scenario and takes its exit code as pass or fail',
  scopes: ['gateway', 'job', 'tasks'],
  runner: 'ansible',
  params,
  fileFields: ['ansiblePath', 'inventory'],
  problems,
  request,
  judge,
};
