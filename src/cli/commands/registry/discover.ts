import { stringify } from 'yaml';
import type { Config } from '../../../../config/schema.js';
import { mcpRunnerOf, pluginRunnerOf } from '../../../compose/runners.js';
import { type Discovered, discovered } from '../../../core/mcp/discovered.js';
import { nearestName, SluiceError } from '../../../core/problem.js';
import { BUILT_IN_NAMESPACE } from '../../../core/registry/built-in.js';
import { nameProblem } from '../../../core/registry/lookup.js';
import { pluginDocuments } from '../../../core/registry/plugins.js';
import { onInterrupt } from '../../interrupt.js';
import { choice, ProblemList } from '../../options.js';
import { plain, print, printJson, say } from '../../output.js';
import { loadSettings } from '../../redis.js';

const NOTHING = 'nothing was discovered.';

export interface DiscoverOptions {
  as?: string;
  namespace?: string;
  plugins?: boolean;
  config?: string;
  json?: boolean;
}

type Documents = Record<string, unknown>[];

function checkNamespace(namespace: string | undefined, problems: ProblemList): void {
  if (namespace === undefined) return;
  const problem = { code: 'BAD_NAME', path: '--namespace', found: namespace };
  if (namespace.includes('/') || nameProblem(`${namespace}/x`) !== undefined)
    problems.add({ ...problem, message: 'must be a letter, then letters, digits, "_" and "-"' });
  else if (namespace === BUILT_IN_NAMESPACE)
    problems.add({ ...problem, message: 'is the namespace of Sluice itself' });
}

function checkServer(server: string | undefined, config: Config | undefined, problems: ProblemList): void {
  if (server === undefined || config === undefined || Object.hasOwn(config.mcp_servers, server)) return;
  const allowed = Object.keys(config.mcp_servers);
  const nearest = nearestName(server, allowed);
  problems.add({
    code: 'UNKNOWN_SERVER',
    path: 'server',
    message: allowed.length === 0 ? 'is no MCP server: the settings have no mcp_servers' : 'is no MCP server',
    found: server,
    ...(allowed.length === 0 ? {} : { allowed }),
    ...(nearest === undefined ? {} : { nearest }),
  });
}

function checkWhat(
  server: string | undefined,
  { plugins, as }: DiscoverOptions,
  problems: ProblemList,
): void {
  const add = (path: string, message: string) => problems.add({ code: 'USAGE', path, message });
  if (server === undefined && plugins !== true)
    add('server', 'is missing: the name of an MCP server of the settings, or --plugins');
  if (server !== undefined && plugins === true) add('--plugins', 'cannot go with the name of a server');
  if (plugins === true && as === 'tool') add('--as', 'cannot be tool: plugins bring validations');
}

function tell(name: string, found: Discovered): void {
  if ('leftOut' in found) say(`sluice: left out ${plain(name)}: ${found.leftOut}`);
  else for (const note of found.notes) say(`sluice: ${plain(name)}: ${plain(note)}`);
}

async function ofServer(
  config: Config,
  server: string,
  as: 'tool' | 'validation',
  namespace: string,
): Promise<Documents> {
  const interrupt = onInterrupt(() => say('sluice: interrupted; ending the server'));
  const runner = mcpRunnerOf(config);
  try {
    const tools = await runner.tools(server, interrupt.signal).catch((error: unknown) => {
      throw interrupt.signal.aborted ? new SluiceError('INTERRUPTED', 'Discovery was interrupted.') : error;
    });
    if ('kind' in tools) throw new SluiceError('IO', plain(tools.message));
    const all = [...discovered(tools, { server, namespace, as })];
    for (const [name, found] of all) tell(name, found);
    return all.flatMap(([, found]) => ('document' in found ? [found.document] : []));
  } finally {
    interrupt.dispose();
    await runner.close();
  }
}

async function ofPlugins(config: Config, namespace: string | undefined): Promise<Documents> {
  if (config.plugins.length === 0) return [];
  const runner = pluginRunnerOf(config);
  try {
    const { validations, broken } = await runner.load();
    const reasons = broken.map(({ module, reason }) => plain(`${module} does not load: ${reason}`));
    if (validations.length === 0 && reasons.length > 0) throw new SluiceError('IO', reasons.join('; '));
    for (const reason of reasons) say(`sluice: ${reason}`);
    return pluginDocuments(validations, namespace);
  } finally {
    await runner.close();
  }
}

/**
 * `sluice tool discover SERVER` or `--plugins`: prints documents that `tool add -` takes; answers 0.
 * Throws USAGE or INVALID_CONFIG, or IO when the server cannot be started or no plugin loads.
 */
export async function discover(server: string | undefined, options: DiscoverOptions): Promise<number> {
  const problems = new ProblemList();
  checkWhat(server, options, problems);
  checkNamespace(options.namespace, problems);
  const as = choice('--as', options.as, ['tool', 'validation'], problems) ?? 'tool';
  const { config: file } = options;
  const settings = { engine: 'inline', ...(file === undefined ? {} : { config: file }) };
  const config = await problems.take(() => loadSettings(settings));
  checkServer(server, config, problems);
  problems.throwIfAny('USAGE', NOTHING);
  if (config === undefined) throw new Error('settings without a problem are missing');
  const documents =
    server === undefined
      ? await ofPlugins(config, options.namespace)
      : await ofServer(config, server, as, options.namespace ?? server);
  if (options.json) await printJson(documents);
  else await print(documents.map((each) => stringify(each, { lineWidth: 0 })).join('---\n'));
  if (documents.length === 0) say('sluice: there is nothing to register');
  return 0;
}
