import { isPlainObject, type Json } from '../json.js';
import { show } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import { readCapability } from './capability.js';
import { HOOK_FIELDS, RETRY_FIELDS, SHAPES } from './document.js';
import { own, type Raw, type Report, readFields, readObject, type Shape, wrongType } from './fields.js';
import { readGraph } from './graph.js';
import { problemsOfSchema } from './json-schema.js';
import { fullName } from './lookup.js';
import { readMcpArguments } from './mcp-arguments.js';
import type {
  CallableDocument,
  JsonObject,
  LifecycleHooks,
  MappedArgument,
  Source,
  ToolDocument,
  ValidationDocument,
} from './model.js';
import { readProcessFields } from './process-fields.js';
import { readSlots, tooManyRequired } from './slots.js';
import { isPure, readSource } from './source.js';
import { formatTimeout, longestTimeout, parseTimeout } from './timeout.js';

/** Fields whose value is taken as its schema gives it. */
const TOOL_FIELDS: Shape = pick(
  SHAPES.tool,
  ['description', 'source', 'validator', 'code', 'mcp_server', 'mcp_tool_name'],
  ['command', 'shell', 'output', 'snapshot_files'],
  ['annotations', 'input_schema', 'output_schema', 'idempotent', 'timeout'],
);
const VALIDATION_FIELDS: Shape = {
  ...TOOL_FIELDS,
  ...pick(SHAPES.validation, ['mode', 'wraps', 'transform', 'confirm']),
};

function pick(shape: Shape, ...keys: string[][]): Shape {
  return Object.fromEntries(keys.flat().flatMap((key) => (shape[key] ? [[key, shape[key]]] : [])));
}

/** A tool or validation from its fields, with its defaults; to be used only when nothing was reported. */
export function readCallable(
  raw: Raw,
  kind: CallableDocument['kind'],
  name: string,
  report: Report,
): CallableDocument {
  const fields = readFields(kind === 'tool' ? TOOL_FIELDS : VALIDATION_FIELDS, raw, '', report);
  const source = readSource(raw, kind, report);
  const slots = readSlots(own(raw, 'resource_slots'), report);
  const tooMany = kind === 'validation' ? tooManyRequired(slots ?? []) : undefined;
  if (tooMany !== undefined) report({ ...tooMany, path: 'resource_slots' });
  refuseInherited(raw, source, report);
  const unsound = checkSchemas(fields, report);
  const annotations = fields.annotations as JsonObject | undefined;
  const { validator } = fields;
  const capability = readCapability(raw, { kind, source, validator, annotations }, report);
  const hooks = readObject(HOOK_FIELDS, own(raw, 'lifecycle'), 'lifecycle', report) ?? {};
  const timeout = readTimeout(fields.timeout, source, report);
  const graph = readGraph(own(raw, 'graph'), report);
  const values = readMcpArguments(own(raw, 'arguments'), report);
  const process = readProcessFields(raw, fields, !unsound.includes('input_schema'), report);
  const { source: _source, timeout: _timeout, wraps, ...rest } = fields;
  const tool = {
    ...rest,
    ...process,
    kind,
    name,
    source: source ?? 'code',
    capability,
    lifecycle: hooks as LifecycleHooks,
    ...(slots === undefined ? {} : { resource_slots: slots }),
    ...(timeout === undefined ? {} : { timeout_ms: timeout }),
    ...(graph === undefined ? {} : { graph }),
    ...(values === undefined ? {} : { arguments: values }),
    idempotent: fields.idempotent ?? capability.read_only,
  };
  if (kind === 'tool') return tool as unknown as ToolDocument;
  const mapping = readMapping(own(raw, 'argument_mapping'), report);
  const retry = readObject(RETRY_FIELDS, own(raw, 'retry'), 'retry', report);
  const validation = {
    ...tool,
    ...(typeof wraps === 'string' ? { wraps: fullName(wraps) } : {}),
    ...(mapping === undefined ? {} : { argument_mapping: mapping }),
    ...(retry === undefined ? {} : { retry }),
  };
  return validation as unknown as ValidationDocument;
}

/** ADR, Tool Wrapping: input_schema, resource_slots and timeout are the wrapped tool's. */
function refuseInherited(raw: Raw, source: Source | undefined, report: Report): void {
  const refuse = (path: string, message: string) => {
    if (own(raw, path) !== undefined) report({ code: 'INHERITED_FIELD', path, message });
  };
  if (source === 'wrapped') {
    for (const field of ['input_schema', 'resource_slots'])
      refuse(field, 'is inherited from the wrapped tool; leave it out');
  } else if (source === 'builtin' && isPure(own(raw, 'validator')))
    refuse('input_schema', 'is that of the validator; leave it out');
}

/** Names of the schemas that are none. */
function checkSchemas(fields: Record<string, unknown>, report: Report): string[] {
  const unsound: string[] = [];
  for (const field of ['input_schema', 'output_schema']) {
    const schema = fields[field];
    if (schema === undefined) continue;
    const problems = problemsOfSchema(schema, field);
    for (const problem of problems) report(problem);
    if (problems.length > 0) {
      unsound.push(field);
      continue;
    }
    const type = isPlainObject(schema) ? schema.type : undefined;
    const takesObjects = type === undefined || [type].flat().includes('object');
    if (field === 'input_schema' && !takesObjects) {
      const message = 'must be object: arguments have names';
      report({ code: 'BAD_SCHEMA', path: 'input_schema.type', message, found: show(type) });
    }
  }
  return unsound;
}

function readTimeout(given: unknown, source: Source | undefined, report: Report): number | undefined {
  if (typeof given !== 'string') return undefined;
  const found = show(given);
  const ms = parseTimeout(given);
  if (ms === undefined) {
    const message = 'must be a duration such as 500ms, 30s, 5m or 1h';
    report({ code: 'BAD_TIMEOUT', path: 'timeout', message, found });
  } else if (source !== undefined && ms > longestTimeout(source)) {
    const message = `is longer than ${formatTimeout(longestTimeout(source))}, the most for source ${source}`;
    report({ code: 'TIMEOUT_TOO_LONG', path: 'timeout', message, found });
  }
  return ms;
}

function readMapping(given: unknown, report: Report): Record<string, MappedArgument> | undefined {
  if (given === undefined) return undefined;
  const path = 'argument_mapping';
  if (!isPlainObject(given)) {
    report(wrongType(path, 'must be an object', show(given)));
    return undefined;
  }
  const entries = Object.entries(given).flatMap(([name, each]): [string, MappedArgument][] => {
    const mapped = mappedArgument(each);
    if (mapped !== undefined) return [[name, mapped]];
    const message = 'must be {from: name of the argument outside} or {value: what it always is}';
    report({ code: 'BAD_VALUE', path: childPath(path, name), message, found: show(each) });
    return [];
  });
  return Object.fromEntries(entries);
}

function mappedArgument(given: unknown): MappedArgument | undefined {
  if (!isPlainObject(given) || Object.keys(given).length !== 1) return undefined;
  if (Object.hasOwn(given, 'value')) return { value: given.value as Json };
  return typeof given.from === 'string' && given.from !== '' ? { from: given.from } : undefined;
}
