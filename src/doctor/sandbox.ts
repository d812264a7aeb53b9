import { type Finding, fail, ok, type SandboxChoice, warn } from './check.js';

const TOOLS = 'commands, playbooks, local MCP servers and plugins';

/** What comes of another choice than bubblewrap, on this machine. */
export function judgeChoice({ sandbox, isEnforced, demandedBy }: SandboxChoice): Finding[] {
  const held =
    sandbox === 'off'
      ? warn(
          `sandbox: off in the settings: nothing keeps ${TOOLS} from writing`,
          'Their results say read_only: declared; sandbox: bubblewrap holds them.',
        )
      : containerFinding(isEnforced);
  if (isEnforced || demandedBy.length === 0) return [held];
  const demanded = fail(
    `${demandedBy.join(' and ')} in the settings, and sandbox: ${sandbox} only declares here`,
    `Every required check of ${TOOLS} that passes here is an error all the same; choose sandbox: bubblewrap.`,
  );
  return [held, demanded];
}

function containerFinding(isEnforced: boolean): Finding {
  const set = 'sandbox: container in the settings';
  if (isEnforced) return ok(`${set}, and the root here is mounted read-only`);
  return warn(
    `${set}, but the root here is not mounted read-only`,
    `Results of ${TOOLS} say read_only: declared; run workers in a read-only container, as in docker-compose.yml, or choose sandbox: bubblewrap.`,
  );
}

/** What holds playbooks. */
export function heldPlaybooks({ sandbox, isEnforced }: SandboxChoice): string {
  if (!isEnforced)
    return `Nothing keeps playbooks from writing here (sandbox: ${sandbox}): results say read_only: declared.`;
  const place =
    sandbox === 'container'
      ? "the worker's read-only container"
      : 'the sandbox, on this machine without the network';
  return `Playbooks run in ${place}; where they reach other hosts, nothing holds them there and results say read_only: declared.`;
}
