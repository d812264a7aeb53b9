import { show } from '../problem.js';
import { normalBundlePath } from '../validators/bundle-path.js';
import { nearestOf, own, type Raw, type Report } from './fields.js';
import { filePathProblem } from './files.js';

/** Whether a path names one of the files, or, for an inventory, a folder of them. */
function isAmong(path: string, field: 'playbook' | 'inventory', files: readonly string[]): boolean {
  if (files.includes(path)) return true;
  return field === 'inventory' && files.some((file) => file.startsWith(`${path}/`));
}

/** Playbook and inventory of a document, which must be among its files; to be used only when nothing was reported. */
export function readPlaybook(
  raw: Raw,
  files: Readonly<Record<string, string>> | undefined,
  report: Report,
): { playbook?: string; inventory?: string } {
  const read: { playbook?: string; inventory?: string } = {};
  for (const field of ['playbook', 'inventory'] as const) {
    const given = own(raw, field);
    if (given === undefined) continue;
    const found = show(given);
    if (typeof given !== 'string') {
      report({ code: 'WRONG_TYPE', path: field, message: 'must be a string', found });
      continue;
    }
    const path = normalBundlePath(given);
    const problem = filePathProblem(given);
    const names = Object.keys(files ?? {});
    if (problem !== undefined) report({ code: 'BAD_PATH', path: field, message: problem, found });
    else if (files !== undefined && !isAmong(path, field, names)) {
      const message = 'is none of the files of the document';
      report({ code: 'FILE_MISSING', path: field, message, found, ...nearestOf(path, names) });
    }
    read[field] = path;
  }
  return read;
}
