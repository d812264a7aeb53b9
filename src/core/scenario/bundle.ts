import { nearestName, type Problem, show } from '../problem.js';

/** Limits of a bundle: it travels through Redis to every worker that needs it. */
export const MOST_BUNDLE_FILES = 200;
export const MOST_BUNDLE_BYTES = 5 * 2 ** 20;

/** A file that a rule names, and the path of the field that names it. */
export interface NeededFile {
  path: string;
  file: string;
}

/** The files that rules name and that are not there; an inventory may be a folder. `message` says where. */
export function missingFiles(
  needed: readonly NeededFile[],
  names: ReadonlySet<string>,
  message: string,
): Problem[] {
  const all = [...names];
  const isThere = ({ path, file }: NeededFile) =>
    names.has(file) || (path.endsWith('.inventory') && all.some((name) => name.startsWith(`${file}/`)));
  return needed
    .filter((each) => !isThere(each))
    .map(({ path, file }) => {
      const nearest = nearestName(file, all);
      return { path, message, found: show(file), ...(nearest === undefined ? {} : { nearest }) };
    });
}
