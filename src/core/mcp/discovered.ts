import { problemsOfSchema } from '../registry/json-schema.js';
import type { JsonObject } from '../registry/model.js';
import { effectOf, type McpEffect, type McpTool } from './tool.js';

/** What a server’s tools are to become. */
export interface Discovery {
  server: string;
  namespace: string;
  as: 'tool' | 'validation';
}

/** A tool of a server as a document that can be registered, or why it is left out. */
export type Discovered = { document: Record<string, unknown>; notes: string[] } | { leftOut: string };

/** Most characters of a name in its namespace. */
const MOST_CHARACTERS = 128;

/** A name that Sluice takes, as near as can be to that of the MCP tool; not one of `taken`. */
function nameFor(tool: string, taken: ReadonlySet<string>): string {
  const plain = tool.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(/^_+(?=.)/, '');
  const name = (/^[a-zA-Z]/.test(plain) ? plain : `tool_${plain}`).slice(0, MOST_CHARACTERS - 5);
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? name : `${name}_${n}`;
    if (!taken.has(candidate)) return candidate;
  }
}

const WHY_LEFT_OUT: Readonly<Record<Exclude<McpEffect, 'read-only'>, string>> = {
  destructive: 'its annotations say, or by the protocol’s defaults mean, that it destroys',
  writes: 'its annotations say that it writes',
  unknown: 'it has no annotations; to take it for read-only, declare read_only: true in its document',
};

/** The schema, or nothing of it where registering would refuse it. */
function schemaOf(schema: JsonObject, field: string, notes: string[]): JsonObject | undefined {
  const [first] = problemsOfSchema(schema, field);
  if (first === undefined) return schema;
  notes.push(`${first.path} ${first.message}; ${field} was left open`);
  return undefined;
}

function documentOf(tool: McpTool, name: string, { server, namespace, as }: Discovery): Discovered {
  const effect = effectOf(tool);
  if (as === 'validation' && effect !== 'read-only') return { leftOut: WHY_LEFT_OUT[effect] };
  const notes: string[] = [];
  const { annotations, outputSchema } = tool;
  const input = schemaOf(tool.inputSchema, 'input_schema', notes) ?? { type: 'object' };
  const output = outputSchema === undefined ? undefined : schemaOf(outputSchema, 'output_schema', notes);
  const isReadOnly = effect === 'read-only';
  const document = {
    kind: as,
    name: `${namespace}/${name}`,
    description: tool.description ?? tool.title ?? '',
    source: 'mcp',
    mcp_server: server,
    mcp_tool_name: tool.name,
    ...(annotations === undefined ? {} : { annotations }),
    input_schema: input,
    ...(output === undefined ? {} : { output_schema: output }),
    capability: isReadOnly ? { read_only: true } : { writes: true },
    idempotent: isReadOnly || annotations?.idempotentHint === true,
    'x-effect': effect,
  };
  return { document, notes };
}

/** A server’s tools as documents, by the tool’s own name, in the server’s order. */
export function discovered(tools: readonly McpTool[], discovery: Discovery): Map<string, Discovered> {
  const taken = new Set<string>();
  const found = new Map<string, Discovered>();
  for (const tool of tools) {
    const name = nameFor(tool.name, taken);
    taken.add(name);
    found.set(tool.name, documentOf(tool, name, discovery));
  }
  return found;
}
