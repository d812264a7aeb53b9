import { filesView } from './files.js';
import { graphView } from './graph.js';
import { nodesOf } from './lookup.js';
import {
  type Attachment,
  isSkill,
  isValidation,
  type RegistryDocument,
  type RegistryEntry,
  type ToolDocument,
} from './model.js';
import { formatTimeout } from './timeout.js';

/** Keys in the order in which a person would write them. */
const ORDER = [
  ...['kind', 'name', 'description', 'source', 'mode'],
  ...['wraps', 'argument_mapping', 'transform', 'validator', 'playbook', 'inventory', 'code'],
  ...['command', 'shell', 'exit_codes', 'output', 'env', 'paths', 'snapshot_files', 'files'],
  ...['mcp_server', 'mcp_tool_name', 'arguments', 'annotations', 'graph', 'tools'],
  ...['input_schema', 'output_schema', 'resource_slots', 'capability', 'lifecycle'],
  ...['timeout', 'idempotent', 'retry', 'confirm'],
];

function asWritten(document: RegistryDocument): Record<string, unknown> {
  if (isSkill(document)) return { ...document };
  const { timeout_ms, lifecycle, ...rest }: ToolDocument = document;
  const written: Record<string, unknown> = { ...rest };
  if (document.files !== undefined) written.files = filesView(document.files);
  if (document.graph !== undefined && nodesOf(document).length > 0) written.graph = graphView(document.graph);
  if (timeout_ms !== undefined) written.timeout = formatTimeout(timeout_ms);
  if (Object.keys(lifecycle).length > 0) written.lifecycle = lifecycle;
  if (isValidation(document) && document.confirm === 0) delete written.confirm;
  return written;
}

function attachmentView({ id, resource, scope, target, slot, ...rest }: Attachment): Record<string, unknown> {
  return {
    id,
    resource,
    scope,
    ...(target === null ? {} : { [scope]: target }),
    ...(slot === null ? {} : { slot }),
    arguments: rest.arguments,
    attached_at: new Date(rest.attachedAt).toISOString(),
    actor: rest.actor,
  };
}

/**
 * What `show` prints: the document as a user would write it, then its version, when it was registered
 * and by whom, what it replaced, and its attachments, under keys that registering passes over: what is
 * printed can be registered again, and is unchanged.
 */
export function documentView(
  entry: RegistryEntry,
  attachments: readonly Attachment[],
): Record<string, unknown> {
  const { document, version, registeredAt, actor, previous } = entry;
  const written = asWritten(document);
  const ordered = ORDER.flatMap((key): [string, unknown][] =>
    Object.hasOwn(written, key) ? [[key, written[key]]] : [],
  );
  // A built-in tool was never registered.
  const registered = { version, registered_at: new Date(registeredAt).toISOString(), actor, previous };
  return {
    ...Object.fromEntries(ordered),
    ...(version === '' ? {} : { 'x-registered': registered }),
    ...(isValidation(document) ? { 'x-attachments': attachments.map(attachmentView) } : {}),
  };
}
