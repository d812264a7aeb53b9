import { isPlainObject } from '../json.js';
import { show } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import { bundlePathProblem, normalBundlePath } from '../validators/bundle-path.js';
import { type Report, wrongType } from './fields.js';

/** Most files of one document, and most bytes of them together. */
export const MOST_FILES = 200;
export const MOST_FILE_BYTES = 1024 * 1024;
const MOST_PATH = 1024;
const MOST_NAME = 255;

/** A file's text, or its bytes where they are none. */
export type FileContent = string | { base64: string };

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** What YAML and JSON write as it stands, and people can read. */
const READABLE = /^[^\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029\ufeff]*$/u;

/** What is wrong with the path of a file in a working folder; undefined when nothing is. */
export function filePathProblem(path: string): string | undefined {
  const problem = bundlePathProblem(path, 'the working folder');
  if (problem !== undefined) return problem;
  if (path.length > MOST_PATH) return `must have at most ${MOST_PATH} characters`;
  return path.split('/').some((name) => Buffer.byteLength(name) > MOST_NAME)
    ? `must have at most ${MOST_NAME} bytes between two "/"`
    : undefined;
}

/** Base64 of a file’s content, or what is wrong with it. */
function encoded(content: unknown): { base64: string } | { message: string } {
  if (typeof content === 'string') {
    const bytes = Buffer.from(content);
    if (bytes.toString() === content) return { base64: bytes.toString('base64') };
    return { message: 'is no valid Unicode; give it as {base64: …}' };
  }
  const isOne = isPlainObject(content) && Object.keys(content).length === 1;
  if (!isOne || typeof content.base64 !== 'string') return { message: 'must be a text, or {base64: …}' };
  const { base64 } = content;
  // Bits beyond the last byte would make two texts of the same bytes.
  const isExact = BASE64.test(base64) && Buffer.from(base64, 'base64').toString('base64') === base64;
  return isExact ? { base64 } : { message: 'is no base64' };
}

const sizeOf = (base64: string): number => Buffer.byteLength(base64, 'base64');

/** The first file that would have to be a folder as well. */
function clash(paths: readonly string[]): { file: string; below: string } | undefined {
  const files = new Set(paths);
  for (const below of paths)
    for (let end = below.indexOf('/'); end !== -1; end = below.indexOf('/', end + 1))
      if (files.has(below.slice(0, end))) return { file: below.slice(0, end), below };
  return undefined;
}

const LISTED =
  'a list of paths is read only from a file, by `sluice tool add FILE`; here each path needs its content: {"check.sh": "the text"}';

/** The files of a document, path to base64, sorted; to be used only when nothing was reported. */
export function readFiles(given: unknown, report: Report): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  const path = 'files';
  if (Array.isArray(given)) {
    report({ code: 'FILES_LISTED', path, message: LISTED, found: show(given) });
    return undefined;
  }
  if (!isPlainObject(given)) {
    report(wrongType(path, 'must be an object of paths', show(given)));
    return undefined;
  }
  const files = new Map<string, string>();
  for (const [name, content] of Object.entries(given)) {
    const at = childPath(path, name);
    const badPath = filePathProblem(name);
    if (badPath !== undefined) report({ code: 'BAD_PATH', path: at, message: badPath, found: show(name) });
    const read = encoded(content);
    if ('message' in read)
      report({ code: 'BAD_VALUE', path: at, message: read.message, found: show(content) });
    const normal = normalBundlePath(name);
    if (badPath === undefined && files.has(normal))
      report({ code: 'BAD_PATH', path: at, message: `is the path of another file: ${normal}` });
    files.set(normal, 'base64' in read ? read.base64 : '');
  }
  checkAll(files, report);
  return Object.fromEntries([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function checkAll(files: ReadonlyMap<string, string>, report: Report): void {
  const path = 'files';
  const bytes = [...files.values()].reduce((sum, base64) => sum + sizeOf(base64), 0);
  if (files.size === 0) report({ code: 'BAD_VALUE', path, message: 'must not be empty' });
  if (files.size > MOST_FILES)
    report({ code: 'BAD_VALUE', path, message: `must hold at most ${MOST_FILES} files` });
  if (bytes > MOST_FILE_BYTES) {
    const message = `must hold at most ${MOST_FILE_BYTES / 1024 / 1024} MiB together`;
    report({ code: 'BAD_VALUE', path, message, found: `${bytes} bytes` });
  }
  const clashing = clash([...files.keys()]);
  if (clashing === undefined) return;
  const message = `is a file, and a folder in ${clashing.below}`;
  report({ code: 'BAD_PATH', path: childPath(path, clashing.file), message });
}

/** Files as a person would write them: as text what a text carries unharmed. */
export function filesView(files: Readonly<Record<string, string>>): Record<string, FileContent> {
  return Object.fromEntries(Object.entries(files).map(([path, base64]) => [path, contentOf(base64)]));
}

function contentOf(base64: string): FileContent {
  const bytes = Buffer.from(base64, 'base64');
  const text = bytes.toString();
  // YAML as it is written loses spaces of a text that is nothing but space.
  const isBlank = text !== '' && text.trim() === '';
  const isText = !isBlank && text.split(/[\n\t]/).every((line) => READABLE.test(line));
  return isText && Buffer.from(text).equals(bytes) ? text : { base64 };
}
