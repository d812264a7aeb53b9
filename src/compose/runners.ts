import type { Config } from '../../config/schema.js';
import { mcpNeed, type Need, pluginNeed, type RunnerKind } from '../core/registry/needs.js';
import type { AnsibleRunner, ToolRunner, ToolRunners } from '../ports/runner.js';
import { SandboxedAnsibleRunner } from '../runners/ansible/runner.js';
import { AnsibleToolRunner } from '../runners/ansible/tool.js';
import { CommandRunner } from '../runners/command.js';
import { McpRunner } from '../runners/mcp/runner.js';
import { PluginRunner } from '../runners/plugins/runner.js';
import { sandboxTrouble } from '../runners/process/available.js';
import { inPath, isProgram } from '../runners/process/look-up.js';
import { LocalProcesses } from '../runners/process/processes.js';

/** The runners of this host as configured. */
export interface OpenedRunners {
  tools: ToolRunners;
  /** For the rules of scenarios; absent where playbooks cannot run. */
  ansible?: AnsibleRunner;
  /** What this host serves, `pure` included, sorted. */
  serves: Need[];
  /** Why it does not serve the rest: by kind, or by need, or by module of a plugin. */
  missing: Record<string, string>;
  /** Ends what runners keep between calls. */
  close(): Promise<void>;
}

/** Processes of others on this host, as the settings allow them. */
function processesOf({ sandbox, runners }: Config): LocalProcesses {
  return new LocalProcesses({
    sandbox,
    memoryMiB: runners.memory,
    processes: runners.processes,
    scratchMiB: runners.scratch,
    outputCap: runners.output_cap,
    graceMs: runners.grace,
    paths: runners.paths,
  });
}

/** MCP servers of the settings; nothing is started before it is called. */
export function mcpRunnerOf(config: Config, processes = processesOf(config)): McpRunner {
  return new McpRunner(config.mcp_servers, processes, process.env);
}

/** Plugins of the settings; nothing is started before it loads. */
export function pluginRunnerOf(config: Config, processes = processesOf(config)): PluginRunner {
  return new PluginRunner({ modules: config.plugins, from: process.cwd() }, processes);
}

function ansibleOf({ ansible }: Config, processes: LocalProcesses): SandboxedAnsibleRunner {
  const { vault_password_file, private_key_file, known_hosts_file } = ansible;
  return new SandboxedAnsibleRunner(processes, {
    deadlineMs: ansible.deadline,
    outputCap: ansible.output_cap,
    ...(vault_password_file === undefined ? {} : { vaultPasswordFile: vault_password_file }),
    ...(private_key_file === undefined ? {} : { privateKeyFile: private_key_file }),
    ...(known_hosts_file === undefined ? {} : { knownHostsFile: known_hosts_file }),
  });
}

const NO_ANSIBLE = 'ansible-playbook is not in PATH: apt-get install ansible-core';

/**
 * Finds out which runners work on this host and opens them. Takes some tens of milliseconds, and with
 * plugins as long as these take to load.
 */
export async function openRunners(config: Config): Promise<OpenedRunners> {
  const trouble = await sandboxTrouble(config);
  const missing: Record<string, string> = {};
  const serves: Need[] = ['pure'];
  const processes = processesOf(config);
  const runners: Partial<Record<RunnerKind, ToolRunner>> = { command: new CommandRunner(processes) };
  if (trouble === undefined) serves.push('command');
  else missing.command = trouble;

  const lacksAnsible = trouble ?? (inPath('ansible-playbook') ? undefined : NO_ANSIBLE);
  const ansible = ansibleOf(config, processes);
  runners.ansible = new AnsibleToolRunner(ansible);
  if (lacksAnsible === undefined) serves.push('ansible');
  else missing.ansible = lacksAnsible;

  runners.mcp = mcpRunnerOf(config, processes);
  for (const [name, server] of Object.entries(config.mcp_servers)) {
    const lacks = lackOf(server, trouble);
    if (lacks === undefined) serves.push(mcpNeed(name));
    else missing[mcpNeed(name)] = lacks;
  }

  const plugins = await servePlugins(config, processes, trouble, serves, missing);
  if (plugins !== undefined) runners.plugin = plugins;

  return {
    tools: { runners, missing },
    ...(lacksAnsible === undefined ? { ansible } : {}),
    serves: serves.sort(),
    missing,
    async close() {
      await Promise.allSettled(Object.values(runners).map((runner) => runner.close()));
    },
  };
}

/** Why an MCP server cannot be called from here, as far as it can be told without starting it. */
function lackOf(server: Config['mcp_servers'][string], trouble: string | undefined): string | undefined {
  if ('url' in server) return undefined;
  const [program = ''] = server.command;
  const isThere = program.includes('/') ? isProgram(program) : inPath(program);
  return trouble ?? (isThere ? undefined : `its program ${program} is not there`);
}

async function servePlugins(
  config: Config,
  processes: LocalProcesses,
  trouble: string | undefined,
  serves: Need[],
  missing: Record<string, string>,
): Promise<PluginRunner | undefined> {
  if (config.plugins.length === 0) {
    missing.plugin = 'no plugins are named in the settings (plugins)';
    return undefined;
  }
  if (trouble !== undefined) {
    missing.plugin = trouble;
    return undefined;
  }
  const runner = pluginRunnerOf(config, processes);
  const { validations, broken } = await runner.load();
  for (const { name } of validations) serves.push(pluginNeed(name));
  for (const { module, reason } of broken) missing[module] = reason;
  return runner;
}
