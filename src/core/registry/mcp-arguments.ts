import { z } from 'zod';
import { isPlainObject, type Json } from '../json.js';
import { show } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import { nearestOf, type Report, wrongType } from './fields.js';
import { pointed, stepsOf } from './graph-pointer.js';
import type { GraphValue, JsonObject } from './model.js';

/** What pointers of `arguments` lead into. */
const ROOTS = ['args', 'subject', 'resource', 'slot'];

const value = z.union([
  z.strictObject({
    from: z
      .string()
      .min(1)
      .describe('JSON pointer into what the tool is called with: /args/NAME, /subject, /resource or /slot'),
  }),
  z.strictObject({ value: z.unknown().describe('What it always is') }),
]);

/** The field `arguments`, as a user writes it. */
export const mcpArgumentsField = z
  .record(z.string(), value)
  .describe(
    'Source mcp: arguments of the MCP tool that come from elsewhere, such as {"text": {"from": "/subject/text"}}; the others are those of the call',
  );

/** What a tool was called with. */
export interface CallOf {
  args: JsonObject;
  subject: unknown;
  resource: string | null;
  slot: string | null;
}

/** What pointers lead into: all of a call that is there. */
export function rootOf({ args, subject, resource, slot }: CallOf): JsonObject {
  const known = Object.entries({ args, subject, resource, slot }).filter(
    ([, each]) => each !== null && each !== undefined,
  );
  return Object.fromEntries(known) as JsonObject;
}

/**
 * Arguments of the MCP tool for a call: those that `mapping` names are taken from where it says, and all
 * others go on as they are. An argument that a pointer uses goes where the mapping says alone, and what
 * is not there is left out.
 */
export function mcpArguments(mapping: Readonly<Record<string, GraphValue>>, given: CallOf): JsonObject {
  const { args } = given;
  const root = rootOf(given);
  const used = new Set(Object.values(mapping).flatMap((each) => argumentIn(each) ?? []));
  const rest = Object.entries(args).filter(([name]) => !Object.hasOwn(mapping, name) && !used.has(name));
  const mapped = Object.entries(mapping).flatMap(([name, each]): [string, Json][] => {
    if ('value' in each) return [[name, each.value]];
    const found = pointed(root, each.from);
    return found === undefined ? [] : [[name, found.value as Json]];
  });
  return Object.fromEntries([...rest, ...mapped]);
}

function argumentIn(each: GraphValue): string | undefined {
  if ('value' in each) return undefined;
  const [root, name] = stepsOf(each.from) ?? [];
  return root === 'args' ? name : undefined;
}

/** The field `arguments` of a document with source mcp; what is wrong with it is reported. */
export function readMcpArguments(given: unknown, report: Report): Record<string, GraphValue> | undefined {
  if (given === undefined) return undefined;
  if (!isPlainObject(given)) {
    report(wrongType('arguments', 'must be an object', show(given)));
    return undefined;
  }
  const entries = Object.entries(given).flatMap(([name, each]): [string, GraphValue][] => {
    const read = readValue(each, childPath('arguments', name), report);
    return read === undefined ? [] : [[name, read]];
  });
  return Object.fromEntries(entries);
}

function readValue(given: unknown, path: string, report: Report): GraphValue | undefined {
  const isOne = isPlainObject(given) && Object.keys(given).length === 1;
  if (isOne && Object.hasOwn(given, 'value')) return { value: given.value as Json };
  if (!isOne || typeof given.from !== 'string') {
    const message = 'must be {from: JSON pointer, such as /subject/path} or {value: what it always is}';
    report({ code: 'BAD_VALUE', path, message, found: show(given) });
    return undefined;
  }
  const { from } = given;
  const [root = ''] = stepsOf(from) ?? [];
  if (ROOTS.includes(root)) return { from };
  const { nearest } = nearestOf(root, ROOTS);
  report({
    code: 'BAD_VALUE',
    path: childPath(path, 'from'),
    message: 'must be a JSON pointer into what the tool is called with',
    found: show(from),
    allowed: ROOTS.map((each) => `/${each}`),
    ...(nearest === undefined ? {} : { nearest: `/${nearest}` }),
  });
  return undefined;
}
