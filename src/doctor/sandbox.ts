import { type Finding, fail, type SandboxChoice, warn } from './check.js';

const TOOLS = 'commands, playbooks, local MCP servers and plugins';

/** What comes of another choice than bubblewrap, on this machine. */
export function judgeChoice({ sandbox, isEnforced, demandedBy }: SandboxChoice): Finding[] {
  const held =
    sandbox === 'off'
      ? warn(
          `sandbox: off in the settings: nothing keeps ${TOOLS} from writing`,
          'Their results say read_only: declared; sandbox: bubblewrap holds them.',
        )
      : warn(
          `sandbox: container in the settings: the container alone keeps ${TOOLS} from writing, and not from the network`,
          'Their results say read_only: declared; sandbox: bubblewrap holds them.',
        );
  if (isEnforced || demandedBy.length === 0) return [held];
  const demanded = fail(
    `${demandedBy.join(' and ')} in the settings, and sandbox: ${sandbox} only declares here`,
    `Every required check of ${TOOLS} that passes here is an error all the same; choose sandbox: bubblewrap.`,
  );
  return [held, demanded];
}

/** What holds playbooks. */
export function heldPlaybooks({ sandbox, isEnforced }: SandboxChoice): string {
  if (!isEnforced)
    return `No sandbox keeps playbooks from writing here (sandbox: ${sandbox}): results say read_only: declared.`;
  return `Playbooks run in the sandbox, on this machine without the network; where they reach other hosts, nothing holds them there and results say read_only: declared.`;
}
