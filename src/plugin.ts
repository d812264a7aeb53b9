import type { Json } from './core/json.js';
import type { JsonObject } from './core/registry/model.js';

/** What a validation of a plugin judges. */
export interface PluginInput {
  /** As the attachment or the call gives them; they fit `input_schema`. */
  args: JsonObject;
  /** The resource's snapshot, any JSON. */
  subject: Json;
  /** `type/name`; null where none is named. */
  resource: string | null;
  /** Slot that the resource is bound to. */
  slot: string | null;
  /** What the document's `activate` hook returned; absent: it has none. */
  state?: Json;
}

export interface PluginContext {
  /** Aborts at the deadline. Whoever has not returned a moment later is ended with its process. */
  signal: AbortSignal;
  /** Milliseconds that are left for the call. */
  deadline_ms: number;
}

/** The structured return: JSON alone, at most 1 MiB. */
export interface PluginResult {
  passed: boolean;
  message?: string;
  data?: { [key: string]: unknown };
}

/** A validation that a module brings, under a name that no other plugin of the operator's has. */
export interface PluginValidation {
  /** A letter, then letters, digits, `_` and `-`; registered as `validator: plugin/<name>`. */
  name: string;
  description?: string;
  /** JSON Schema of `args`; absent: it takes none. */
  input_schema?: JsonObject;
  output_schema?: JsonObject;
  /** Judges; a throw is an error result, never a fail. */
  validate(input: PluginInput, context: PluginContext): PluginResult | Promise<PluginResult>;
}

/** The validations as they are, typed where they are written: `export default definePlugin([…])`. */
export const definePlugin = (validations: PluginValidation[]): PluginValidation[] => validations;
