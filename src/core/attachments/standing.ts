import { resolveTool, sealTool } from '../registry/closure.js';
import { findCallable } from '../registry/lookup.js';
import {
  isValidation,
  type Mode,
  type Registry,
  type ResolvedTool,
  type ValidationDocument,
} from '../registry/model.js';

/** A validation as a running evaluation keeps it. */
export interface Sealed {
  tool: ResolvedTool;
  digest: string;
  json: string;
  mode: Mode;
  retryLimit: number | null;
  confirm: number;
}

/**
 * The mode of an attached validation. One that is gone, or is a validation no more, counts as
 * required: what was attached as a gate never opens by disappearing.
 */
export function modeOf(registry: Registry, name: string): Mode {
  const document = findCallable(registry, name);
  return document !== undefined && isValidation(document) ? document.mode : 'required';
}

/** The attached validation with all that it wraps; else why it cannot be run any more. */
export function resolveValidation(registry: Registry, name: string): ResolvedTool | string {
  const document = findCallable(registry, name);
  if (document === undefined) return `validation ${name} is not registered any more`;
  if (!isValidation(document)) return `${name} is a plain tool now, not a validation`;
  try {
    return resolveTool(registry, name);
  } catch (error) {
    return `what ${name} wraps cannot be found: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Why an attached validation cannot be run any more; undefined when it can. */
export function whyMissing(registry: Registry, name: string): string | undefined {
  const found = resolveValidation(registry, name);
  return typeof found === 'string' ? found : undefined;
}

/** Stands in for a validation that is gone: whatever it is asked, it throws. */
function placeholder(name: string, mode: Mode, why: string): ValidationDocument {
  return {
    kind: 'validation',
    name,
    description: why,
    source: 'code',
    capability: { read_only: true, writes: false, checkpointable: false, network: false },
    lifecycle: {},
    code: `() => { throw new Error(${JSON.stringify(why)}); }`,
    idempotent: true,
    mode,
    confirm: 0,
  };
}

/** The attached validation as it is kept. Never throws: of one that is gone, every check errors. */
export function sealValidation(registry: Registry, name: string): Sealed {
  const mode = modeOf(registry, name);
  const found = resolveValidation(registry, name);
  const tool = typeof found === 'string' ? { chain: [placeholder(name, mode, found)] } : found;
  const [document] = tool.chain;
  const validation = document !== undefined && isValidation(document) ? document : undefined;
  const retryLimit = validation?.retry?.limit ?? null;
  return { tool, ...sealTool(tool), mode, retryLimit, confirm: validation?.confirm ?? 0 };
}
