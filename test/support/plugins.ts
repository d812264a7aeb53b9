import { fileURLToPath } from 'node:url';
import type { ToolDocument } from '../../src/core/registry/model.js';
import { pluginValidator } from '../../src/core/registry/plugins.js';
import type { ToolRun } from '../../src/ports/runner.js';
import { PluginRunner } from '../../src/runners/plugins/runner.js';
import { LocalProcesses } from '../../src/runners/process/processes.js';

/** Folder of the plugins that come with the tests. */
export const PLUGINS = fileURLToPath(new URL('plugins', import.meta.url));

/** Processes as workers have them. */
export const processesIn = (sandbox: 'bubblewrap' | 'off') =>
  new LocalProcesses({
    sandbox,
    memoryMiB: 512,
    processes: 128,
    scratchMiB: 16,
    outputCap: 65_536,
    graceMs: 500,
    paths: ['/'],
  });

/** A runner of modules, without the network, in bubblewrap unless it is told otherwise. */
export function pluginRunner(
  modules: string[],
  { from = PLUGINS, sandbox = 'bubblewrap' as 'bubblewrap' | 'off' } = {},
): PluginRunner {
  const settings = { modules: modules.map((module) => ({ module, network: false })), from };
  return new PluginRunner(settings, processesIn(sandbox));
}

/** A call of a plugin's validation. */
export function pluginCall(name: string, fields: Partial<ToolRun> = {}): ToolRun {
  const document: ToolDocument = {
    kind: 'tool',
    name: `local/${name}`,
    description: '',
    source: 'builtin',
    validator: pluginValidator(name),
    capability: { read_only: true, writes: false, checkpointable: false, network: false },
    lifecycle: {},
    idempotent: true,
  };
  return { document, args: {}, subject: {}, resource: null, slot: null, deadlineMs: 20_000, ...fields };
}
