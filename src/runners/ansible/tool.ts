import { failure } from '../../core/failure.js';
import { redact } from '../../core/redact.js';
import { judgePlaybook } from '../../core/validators/ansible-verdict.js';
import type { AnsibleRequest } from '../../core/validators/validator.js';
import type { AnsibleRunner, Ran, ToolOutput, ToolRun, ToolRunner } from '../../ports/runner.js';

/**
 * Runs tools with the validator `ansible`: their arguments become extra variables, besides `sluice`, which
 * holds `subject`, `resource`, `slot` and, where there is one, `state`. All of it is evidence: no template
 * in it is evaluated. The network is there where the tool declares it.
 */
export class AnsibleToolRunner implements ToolRunner {
  readonly #ansible: AnsibleRunner;

  constructor(ansible: AnsibleRunner) {
    this.#ansible = ansible;
  }

  async run(call: ToolRun, signal: AbortSignal): Promise<Ran<ToolOutput>> {
    const { document, args, subject, resource, slot } = call;
    const { playbook, inventory, files = {} } = document;
    if (playbook === undefined) {
      return { outcome: failure('internal', `${document.name} names no playbook`), readOnly: 'enforced' };
    }
    const state = 'state' in call ? { state: call.state } : {};
    const request: AnsibleRequest = {
      kind: 'ansible',
      playbook,
      ...(inventory === undefined ? {} : { inventory }),
      runVars: { ...args, sluice: { subject, resource, slot, ...state } },
      network: document.capability.network,
      deadlineMs: call.deadlineMs,
    };
    const { outcome, readOnly } = await this.#ansible.run(request, { files }, signal);
    if (outcome.kind === 'failure') return { outcome, readOnly };
    return { outcome: { kind: 'verdict', verdict: judgePlaybook(playbook, outcome, redact) }, readOnly };
  }

  async close(): Promise<void> {}
}
