import { isPlainObject } from '../json.js';
import { nearestName, type Problem } from '../problem.js';
import { argumentNames, takesArgument } from '../registry/argument-names.js';
import { inputSchemaOf } from '../registry/closure.js';
import type { RegistryCode } from '../registry/codes.js';
import type { JsonObject, Registry } from '../registry/model.js';
import { argumentsFlaw } from './limits.js';
import { resolveValidation } from './standing.js';

/** Arguments by validation; those that no validation knows are problems. */
interface Shares {
  shares: Map<string, JsonObject>;
  problems: Problem[];
}

function unknown(name: string, schemas: readonly JsonObject[]): Problem {
  const allowed = [...new Set(schemas.flatMap((schema) => argumentNames(schema) ?? []))];
  const nearest = nearestName(name, allowed);
  return {
    code: 'VALUE_UNKNOWN' satisfies RegistryCode,
    path: `arguments.${name}`,
    message: 'is known to no validation of the skill',
    ...(allowed.length === 0 ? {} : { allowed }),
    ...(nearest === undefined ? {} : { nearest }),
  };
}

/** Gives each of several validations those of the arguments that its schema knows. */
export function shareArguments(
  registry: Registry,
  validations: readonly string[],
  given: JsonObject,
): Shares {
  const shares = new Map<string, JsonObject>();
  // What is wrong with the arguments as a whole is told by each, and so is a validation that is gone.
  if (!isPlainObject(given) || argumentsFlaw(given) !== undefined) return { shares, problems: [] };
  const schemas: JsonObject[] = [];
  for (const name of validations) {
    const tool = resolveValidation(registry, name);
    if (typeof tool === 'string') continue;
    const schema = inputSchemaOf(tool);
    schemas.push(schema);
    const own = Object.entries(given).filter(([key]) => takesArgument(schema, key));
    shares.set(name, Object.fromEntries(own));
  }
  if (schemas.length < validations.length || schemas.length === 0) return { shares, problems: [] };
  const strange = Object.keys(given).filter((key) => !schemas.some((schema) => takesArgument(schema, key)));
  return { shares, problems: strange.map((key) => unknown(key, schemas)) };
}
