import { isPlainObject } from '../json.js';
import { nearestName } from '../problem.js';
import { pointed, stepsOf } from '../registry/graph-pointer.js';
import { type CallOf, rootOf } from '../registry/mcp-arguments.js';
import type { CallableDocument, JsonObject } from '../registry/model.js';
import type { RunFailure } from '../validators/validator.js';
import type { McpTool } from './tool.js';

/** Most names that a message lists, most that the nearest one is looked for among, and longest of them. */
const MOST_NAMED = 10;
const MOST_COMPARED = 500;
const MOST_CHARACTERS = 100;
/** Most missing arguments that a message tells of. */
const MOST_TOLD = 5;

const short = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).map(short).join(', ');
  return names.length > MOST_NAMED ? `${shown}, …` : shown || 'none';
}

const escaped = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1');

/** What stands at the last place on the way of a pointer that is there. */
function wayOf(root: JsonObject, pointer: string): string {
  const raw = pointer.split('/');
  let length = raw.length - 1;
  while (length > 1 && pointed(root, raw.slice(0, length).join('/')) === undefined) length -= 1;
  const above = raw.slice(0, length).join('/');
  const value = pointed(root, above)?.value;
  const place = above === '' ? 'the call' : short(above);
  if (Array.isArray(value)) return `${place} is a list of ${value.length}`;
  if (!isPlainObject(value)) return `${place} is ${value === null ? 'null' : `a ${typeof value}`}`;
  const names = Object.keys(value);
  const wanted = stepsOf(pointer)?.[length - 1] ?? '';
  const near = names.slice(0, MOST_COMPARED).filter((name) => name.length <= MOST_CHARACTERS);
  const nearest = above === '' || wanted.length > MOST_CHARACTERS ? undefined : nearestName(wanted, near);
  const hint = nearest === undefined ? '' : `; did you mean ${above}/${escaped(nearest)}?`;
  return `${place} has ${listed(names)}${hint}`;
}

function clauseOf(name: string, { arguments: mapping = {} }: CallableDocument, call: CallOf): string {
  const from = Object.hasOwn(mapping, name) ? mapping[name] : undefined;
  const what = `the argument ${JSON.stringify(short(name))}, which`;
  if (from === undefined || 'value' in from)
    return `${what} is not among those of the call: ${listed(Object.keys(call.args))}`;
  return `${what} comes from ${short(from.from)}, where nothing is: ${wayOf(rootOf(call), from.from)}`;
}

/**
 * The failure of a call without arguments that the server's schema for the tool requires, as where a
 * pointer of the document leads to nothing; `given` are the arguments that would be sent. Undefined
 * where all are there. Only `required` of the schema itself is looked at: the rest is the server's.
 */
export function missingArguments(
  document: CallableDocument,
  tool: McpTool,
  given: JsonObject,
  call: CallOf,
): RunFailure | undefined {
  const { required } = tool.inputSchema;
  if (!Array.isArray(required)) return undefined;
  const missing = required.filter((name) => typeof name === 'string' && !Object.hasOwn(given, name));
  if (missing.length === 0) return undefined;
  const clauses = missing.slice(0, MOST_TOLD).map((name) => clauseOf(String(name), document, call));
  const message = `${document.name} was not called: the tool "${tool.name}" of the MCP server ${document.mcp_server} requires ${clauses.join('; and ')}`;
  return { kind: 'failure', reason: 'arguments', message };
}
