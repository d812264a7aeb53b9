const PART = /^[a-zA-Z0-9][a-zA-Z0-9._@:-]*$/;

/** Most characters of a resource's name: it stands in every result, key and event. */
const MOST_CHARACTERS = 256;

/** What a resource's name says. */
export interface ResourceName {
  /** What slots go by; null for a name without a type, which fits slots for any type alone. */
  type: string | null;
  /** May hold slashes of its own. */
  name: string;
}

/** `type/name` or `name`, taken apart at the first slash; undefined for what is no resource's name. */
export function parseResource(text: string): ResourceName | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  const [first, ...rest] = text.split('/');
  if (first === undefined || ![first, ...rest].every((part) => PART.test(part))) return undefined;
  return rest.length === 0 ? { type: null, name: first } : { type: first, name: rest.join('/') };
}

/** What is wrong with a resource's name; undefined when nothing is. */
export function resourceProblem(text: string): string | undefined {
  if (parseResource(text) !== undefined) return undefined;
  if (text === '') return 'a resource has a name: type/name, or name';
  if (text.length > MOST_CHARACTERS) return `a resource's name has at most ${MOST_CHARACTERS} characters`;
  return 'a resource is named type/name, or name; every part between slashes is [a-zA-Z0-9][a-zA-Z0-9._@:-]*';
}
