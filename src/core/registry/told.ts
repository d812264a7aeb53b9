import { isPlainObject } from '../json.js';
import type { Problem } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import type { Draft, GivenDocument } from './documents.js';

function isAt(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
}

/** In the order of the document's keys; what is about none of them comes first. */
function sorted({ problems }: Draft, value: unknown): Problem[] {
  const keys = isPlainObject(value) ? Object.keys(value) : [];
  const ranks = new Map(
    problems.map((problem) => [problem, keys.findIndex((key) => isAt(problem.path, childPath('', key)))]),
  );
  return problems.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
}

/** What is held against documents, one after the other; each with its name, where a file has several. */
export function problemsOf(drafts: readonly Draft[], given: readonly GivenDocument[]): Problem[] {
  const counts = new Map<string | undefined, number>();
  const positions = given.map(({ file }) => {
    const position = (counts.get(file) ?? 0) + 1;
    counts.set(file, position);
    return position;
  });
  return drafts.flatMap((draft, n) => {
    const problems = sorted(draft, given[n]?.value);
    if ((counts.get(draft.place.file) ?? 0) < 2) return problems;
    const document = draft.name ?? `document ${positions[n]}`;
    return problems.map((problem) => ({ ...problem, document }));
  });
}
