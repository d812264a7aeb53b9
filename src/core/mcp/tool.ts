import { failure } from '../failure.js';
import { nearestName } from '../problem.js';
import { saysReadOnly } from '../registry/capability.js';
import type { CallableDocument, JsonObject } from '../registry/model.js';
import type { RunFailure } from '../validators/validator.js';

/** A tool as its MCP server lists it. */
export interface McpTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  /** Absent: the server says nothing of what the tool does to the world. */
  annotations?: JsonObject;
}

/** What a server says of a tool: `unknown` where it says nothing, else by the protocol’s defaults. */
export type McpEffect = 'read-only' | 'writes' | 'destructive' | 'unknown';

export function effectOf({ annotations }: Pick<McpTool, 'annotations'>): McpEffect {
  if (annotations === undefined) return 'unknown';
  if (saysReadOnly(annotations)) return 'read-only';
  return annotations.destructiveHint === false ? 'writes' : 'destructive';
}

/** Most names that a message lists. */
const MOST_NAMED = 20;

/** The tool of this name, or the failure that names the nearest one. */
export function findTool(server: string, tools: readonly McpTool[], name: string): McpTool | RunFailure {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => tool.name);
  const nearest = nearestName(name, names);
  const shown = names.slice(0, MOST_NAMED).join(', ') + (names.length > MOST_NAMED ? ', …' : '');
  const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
  const message = `the MCP server ${server} has no tool "${name}"; it has: ${shown || 'none'}${hint}`;
  return failure('mcp_no_such_tool', message);
}

/**
 * Why a tool that a document takes for read-only is not called: what its server says of it now is
 * something else than when it was registered. Undefined where it may be called (DESIGN 4.2).
 */
export function notReadOnly(
  { name, capability, annotations: registered, mcp_server: server }: CallableDocument,
  live: McpTool,
): RunFailure | undefined {
  if (!capability.read_only) return undefined;
  const effect = effectOf(live);
  if (effect === 'read-only' || (effect === 'unknown' && registered === undefined)) return undefined;
  const told =
    effect === 'unknown'
      ? 'no longer has the annotations that it was registered with'
      : `is annotated as ${effect === 'writes' ? 'writing' : 'destructive'} by now`;
  const message = `${name} was not called: it is registered as read-only, and the tool "${live.name}" of the MCP server ${server} ${told}`;
  const { annotations } = live;
  return failure('mcp_not_read_only', message, annotations === undefined ? undefined : { annotations });
}
