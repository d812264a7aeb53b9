import { isPlainObject } from '../json.js';
import { rawOutput } from '../settle.js';
import type { RunFailure } from '../validators/validator.js';
import { noSecrets, type Secrets } from './secrets.js';

/** What `tools/call` answered, as far as the protocol’s schema goes. */
export interface McpCallResult {
  content: readonly Readonly<Record<string, unknown>>[];
  structuredContent?: unknown;
  isError?: boolean | undefined;
}

/** Deepest nesting of a value, so that nothing that reads it runs out of stack. */
const MOST_LEVELS = 128;

/** Characters of a tool’s own error that the message quotes. */
const MOST_QUOTED = 500;

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  return Object.values(value).every((each) => isWithin(each, levels - 1));
}

/** Bytes behind base64 text. */
function byteLength(base64: unknown): number {
  if (typeof base64 !== 'string') return 0;
  const padding = /={0,2}$/.exec(base64)?.[0].length ?? 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

function picked(block: Readonly<Record<string, unknown>>, ...keys: string[]): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap((key) => (block[key] === undefined ? [] : [[key, block[key]]])));
}

/** A block without what is no evidence: bytes become their number, and the protocol’s own notes go. */
function readable(block: Readonly<Record<string, unknown>>): Record<string, unknown> {
  switch (block.type) {
    case 'text':
      return picked(block, 'type', 'text');
    case 'image':
    case 'audio':
      return { ...picked(block, 'type', 'mimeType'), bytes: byteLength(block.data) };
    case 'resource_link':
      return picked(block, 'type', 'uri', 'name', 'description', 'mimeType');
    case 'resource': {
      const resource = isPlainObject(block.resource) ? block.resource : {};
      const bytes = resource.blob === undefined ? {} : { bytes: byteLength(resource.blob) };
      return { type: 'resource', ...picked(resource, 'uri', 'mimeType', 'text'), ...bytes };
    }
    default:
      return picked(block, 'type');
  }
}

function textOf(content: McpCallResult['content']): string {
  return content.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : [])).join('\n');
}

/** The object that a single block of text is as JSON. */
function objectIn(content: McpCallResult['content']): Record<string, unknown> | undefined {
  const [only, ...others] = content;
  if (only?.type !== 'text' || others.length > 0) return undefined;
  const text = String(only.text);
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What an MCP tool returned: its structured content where there is some, else the object that its one
 * text is as JSON, else its blocks as `{content: […]}`, without the bytes of images and the like. A
 * tool’s own error is a failure with its text. No text of either has a secret of the server in it.
 */
export function toolOutput(
  tool: string,
  { content, structuredContent, isError }: McpCallResult,
  secrets: Secrets = noSecrets,
): { kind: 'value'; value: unknown } | RunFailure {
  const value = structuredContent ?? objectIn(content) ?? { content: content.map(readable) };
  if (!isWithin(value, MOST_LEVELS)) {
    const message = `what the MCP tool "${tool}" returned is nested deeper than ${MOST_LEVELS} levels`;
    return { kind: 'failure', reason: 'mcp_malformed', message };
  }
  if (isError !== true) return { kind: 'value', value: secrets.hideDeep(value) };
  const text = secrets.hide(textOf(content) || JSON.stringify(value));
  const quoted = text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text;
  const message = `the MCP tool "${tool}" failed: ${quoted}`;
  return { kind: 'failure', reason: 'mcp_tool_error', message, data: { raw_output: rawOutput(text) } };
}
