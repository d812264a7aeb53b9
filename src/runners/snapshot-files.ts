import { isPlainObject } from '../core/json.js';
import { filePathProblem } from '../core/registry/files.js';
import { normalBundlePath } from '../core/validators/bundle-path.js';

type Files = Map<string, Uint8Array>;

/** The folder of a working folder that no snapshot reaches: nothing of the evidence stands beside its judge there. */
const JUDGES = '.sluice/';

/** The bytes of a file, or what is wrong with it. */
function bytesOf(content: unknown): Uint8Array | string {
  if (typeof content === 'string') return Buffer.from(content);
  const base64 = isPlainObject(content) ? content.base64 : undefined;
  if (typeof base64 !== 'string') return 'is neither a text nor {base64: …}';
  const bytes = Buffer.from(base64, 'base64');
  // Decoding stops at what is none, and an empty file would be judged.
  return bytes.toString('base64') === base64 ? bytes : 'has content that is no base64';
}

/** Files of the snapshot of a folder by path, or why it is none. */
function snapshotFiles(subject: unknown): { files: Files } | { message: string } {
  const given = isPlainObject(subject) ? subject.files : undefined;
  if (!isPlainObject(given))
    return { message: 'what is judged is no folder: it has no files that could stand in the working folder' };
  const files: Files = new Map();
  for (const [path, content] of Object.entries(given)) {
    const problem = filePathProblem(path);
    if (problem !== undefined) return { message: `the file ${JSON.stringify(path)} ${problem}` };
    const bytes = bytesOf(content);
    if (typeof bytes === 'string') return { message: `the file ${JSON.stringify(path)} ${bytes}` };
    const normal = normalBundlePath(path);
    if (files.has(normal))
      return { message: `the file ${JSON.stringify(path)} is the path of another file: ${normal}` };
    files.set(normal, bytes);
  }
  return { files };
}

/** Folders above a path. */
function* above(path: string): Generator<string> {
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) yield path.slice(0, end);
}

/** Whether a file of the evidence would stand where one of its judge's does, or its folders. */
function isTaken(path: string, own: Files, folders: ReadonlySet<string>): boolean {
  return own.has(path) || folders.has(path) || [...above(path)].some((folder) => own.has(folder));
}

export function decoded(files: Readonly<Record<string, string>>): Files {
  return new Map(Object.entries(files).map(([path, base64]) => [path, Buffer.from(base64, 'base64')]));
}

/**
 * The working folder of a command over a folder: the files of the snapshot as they stood in it, so that
 * `npm test` finds them, and those of the document over them. Or why there is none.
 */
export function overSnapshot(subject: unknown, own: Files): { files: Files } | { message: string } {
  const snapshot = snapshotFiles(subject);
  if ('message' in snapshot) return snapshot;
  const folders = new Set([...own.keys()].flatMap((path) => [...above(path)]));
  const kept = [...snapshot.files].filter(
    ([path]) => !`${path}/`.startsWith(JUDGES) && !isTaken(path, own, folders),
  );
  return { files: new Map([...kept, ...own]) };
}
