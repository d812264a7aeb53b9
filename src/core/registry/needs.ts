import type { CallableDocument, ResolvedTool } from './model.js';

/** What performs the run of a tool outside the worker itself (DESIGN 6). */
export const RUNNER_KINDS = ['command', 'ansible', 'mcp', 'plugin'] as const;
export type RunnerKind = (typeof RUNNER_KINDS)[number];

/** Start of the names of validators that operators' plugins bring: `plugin/<name>` (DESIGN 6.5). */
export const PLUGIN_PREFIX = 'plugin/';

/** What a worker must serve for a check: `command`, `ansible`, `mcp:<server>` or `plugin:<name>`. */
export type Need = string;

/** A session of this MCP server. */
export const mcpNeed = (server: string): Need => `mcp:${server}`;

/** A plugin that brings a validation of this name. */
export const pluginNeed = (name: string): Need => `plugin:${name}`;

/** The runner of a document; undefined for what the worker judges by itself, and for graphs. */
export function runnerKindOf({ source, validator }: CallableDocument): RunnerKind | undefined {
  if (source === 'command' || source === 'mcp') return source;
  if (source !== 'builtin') return undefined;
  if (validator === 'ansible') return 'ansible';
  return validator?.startsWith(PLUGIN_PREFIX) ? 'plugin' : undefined;
}

function needOf(document: CallableDocument): Need | undefined {
  const kind = runnerKindOf(document);
  if (kind === 'mcp') return mcpNeed(document.mcp_server ?? '');
  if (kind === 'plugin') return pluginNeed((document.validator ?? '').slice(PLUGIN_PREFIX.length));
  return kind;
}

/** What a call of the tool needs of a worker, sorted, each once; nodes of graphs included. */
export function needsOf({ chain, nodes }: ResolvedTool): Need[] {
  const innermost = chain.at(-1);
  const own = innermost === undefined ? undefined : needOf(innermost);
  const inner = Object.values(nodes ?? {}).flatMap(needsOf);
  return [...new Set(own === undefined ? inner : [own, ...inner])].sort();
}

/** Needs that none of these serves. */
export function unservedOf(needs: readonly Need[], serves: readonly Need[]): Need[] {
  return needs.filter((need) => !serves.includes(need));
}
