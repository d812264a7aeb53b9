/** The segments of a relative path with `.` and `..` resolved; undefined when it leaves its folder. */
function segmentsOf(path: string): string[] | undefined {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') kept.push(segment);
    else if (kept.pop() === undefined) return undefined;
  }
  return kept;
}

/** What is wrong with a path that has to name something inside a folder (DESIGN 3.3). */
export function bundlePathProblem(path: string, folder = 'the scenario’s folder'): string | undefined {
  if (path === '') return 'must not be empty';
  if (path.includes('\u0000')) return 'must not contain a NUL character';
  if (path.includes('\\')) return 'must separate folders by "/"';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return `must be relative to ${folder}`;
  const segments = segmentsOf(path);
  if (segments === undefined) return `must stay inside ${folder}`;
  const first = segments[0];
  if (first === undefined) return `names ${folder} itself`;
  // Command lines would take the one for an option and the other for a home folder.
  return /^[-~]/.test(first) ? 'must not start with "-" or "~"' : undefined;
}

/** A path that has no problem, without `.`, `..` and doubled slashes. */
export function normalBundlePath(path: string): string {
  return (segmentsOf(path) ?? []).join('/');
}
