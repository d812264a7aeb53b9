import type { ValidationInputDocument } from './document.js';
import type { JsonObject } from './model.js';
import { PLUGIN_PREFIX } from './needs.js';

/** A validation that an operator's plugin brings. */
export interface PluginDescription {
  /** Unique among all plugins: a letter, then letters, digits, `_` and `-`. */
  name: string;
  description: string;
  /** JSON Schema of its arguments; absent: it takes none. */
  input_schema?: JsonObject;
  output_schema?: JsonObject;
  /** Module that brings it, as configured. */
  module: string;
}

/** What modules bring, and why others do not load. */
export interface LoadedPlugins {
  validations: PluginDescription[];
  broken: { module: string; reason: string }[];
}

/** Name of the validator that a document runs a plugin's validation by. */
export const pluginValidator = (name: string): string => `${PLUGIN_PREFIX}${name}`;

/**
 * Documents that register what plugins bring, required and by their own names; as given to be
 * registered, which checks the schemas.
 */
export function pluginDocuments(
  descriptions: readonly PluginDescription[],
  namespace?: string,
): (ValidationInputDocument & { kind: 'validation' })[] {
  return descriptions.map(({ name, description, input_schema, output_schema }) => ({
    kind: 'validation',
    name: namespace === undefined ? name : `${namespace}/${name}`,
    description,
    mode: 'required',
    validator: pluginValidator(name),
    ...(input_schema === undefined ? {} : { input_schema }),
    ...(output_schema === undefined ? {} : { output_schema }),
  }));
}
