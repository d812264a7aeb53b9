import type { ErrorObject } from 'ajv/dist/2020.js';
import { isPlainObject } from '../json.js';
import { nearestName, type Problem } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import type { CodedProblem } from './codes.js';
import { referenced } from './schema-walk.js';

function allowedIn(schema: unknown): string[] {
  const properties = isPlainObject(schema) ? schema.properties : undefined;
  if (!isPlainObject(properties)) return [];
  return Object.keys(properties).filter((key) => properties[key] !== false);
}

/** The names that stand beside one whose schema is `false`. */
export function besides({ schemaPath }: ErrorObject, root: unknown): Pick<Problem, 'allowed' | 'nearest'> {
  const [, above, name] = /^(#(?:\/.*)?)\/properties\/([^/]+)\/false schema$/.exec(schemaPath) ?? [];
  if (above === undefined || name === undefined) return {};
  const key = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
  const schema = referenced(root, above);
  // Behind a reference, paths begin at what it refers to.
  const isThere =
    isPlainObject(schema) && isPlainObject(schema.properties) && schema.properties[key] === false;
  return isThere ? among(key, allowedIn(schema)) : {};
}

/** `allowed` and `nearest`, as far as there are such. */
function among(name: string, allowed: string[]): Pick<Problem, 'allowed' | 'nearest'> {
  const nearest = nearestName(name, allowed);
  return {
    ...(allowed.length === 0 ? {} : { allowed }),
    ...(nearest === undefined ? {} : { nearest }),
  };
}

/** A name that the schema does not take. */
export function unknownName(
  { keyword, parentSchema }: ErrorObject,
  name: string,
  path: string,
): CodedProblem {
  const allowed = allowedIn(parentSchema);
  const isClosed =
    keyword === 'additionalProperties' && allowed.length === 0 && !parentSchema?.patternProperties;
  const message = isClosed ? 'is unknown here: no names are taken' : 'is unknown here';
  return { code: 'VALUE_UNKNOWN', path: childPath(path, name), message, ...among(name, allowed) };
}
