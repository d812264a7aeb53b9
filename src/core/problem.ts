import { distance } from 'fastest-levenshtein';

/** One thing that is wrong with what a user gave. */
export interface Problem {
  /** Stable word for the kind of problem, where it has one. */
  code?: string;
  /** File as the user named it; `-` for standard input. */
  file?: string;
  /** Line number from 1, for files that are read line by line. */
  line?: number;
  /** Name of the document that it is about, where several came together. */
  document?: string;
  /** Path inside the document, such as `validation.tasks[0].where`; empty for the whole document. */
  path: string;
  /** What is wrong, in one sentence without the place. */
  message: string;
  /** What was found, as it should be shown. */
  found?: string;
  /** What would be allowed. */
  allowed?: string[];
  /** The allowed name nearest to what was found. */
  nearest?: string;
}

/** Stable machine-readable codes, one for each kind of refusal. */
export type ErrorCode =
  | 'USAGE'
  | 'INVALID_CONFIG'
  | 'INVALID_SCENARIO'
  | 'INVALID_RUNS'
  | 'BATCH_CONFLICT'
  | 'INVALID_DOCUMENT'
  | 'INVALID_ATTACHMENT'
  | 'INVALID_SNAPSHOT'
  | 'IN_USE'
  | 'PLAN_REFUSED'
  | 'COMMAND_CONFLICT'
  | 'NOT_FOUND'
  | 'INVALID_EVENT'
  | 'INVALID_REQUEST'
  | 'IDEMPOTENCY_CONFLICT'
  | 'BAD_REFERENCE'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'TOO_LARGE'
  | 'RATE_LIMITED'
  | 'UNAVAILABLE'
  | 'SECRET_MISSING'
  | 'REDIS_UNREACHABLE'
  | 'REDIS_POLICY'
  | 'REDIS_VERSION'
  | 'SHARDS_CHANGED'
  | 'NO_WORKERS'
  | 'INTERRUPTED'
  | 'IO';

const INFRASTRUCTURE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UNAVAILABLE',
  'REDIS_UNREACHABLE',
  'REDIS_POLICY',
  'REDIS_VERSION',
  'NO_WORKERS',
  'INTERRUPTED',
  'IO',
]);

/** An error whose message is meant for the user: printed as it is, never with a stack trace. */
export class SluiceError extends Error {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];

  constructor(code: ErrorCode, message: string, problems: readonly Problem[] = []) {
    super(message);
    this.name = 'SluiceError';
    this.code = code;
    this.problems = problems;
  }

  /** 2 for bad input or usage, 3 for infrastructure (DESIGN 8). */
  get exitCode(): 2 | 3 {
    return INFRASTRUCTURE.has(this.code) ? 3 : 2;
  }
}

/** A name as what stands before its last `/`, and what stands behind it. */
function partsOf(name: string): [space: string, own: string] {
  const lower = name.toLowerCase();
  const slash = lower.lastIndexOf('/');
  return [lower.slice(0, Math.max(0, slash)), lower.slice(slash + 1)];
}

/** Edits between two words; infinite when more than half of the longer one differs. */
function unlikeness(a: string, b: string): number {
  const edits = distance(a, b);
  return edits <= Math.max(1, Math.floor(Math.max(a.length, b.length) / 2))
    ? edits
    : Number.POSITIVE_INFINITY;
}

/** What names share before their `/` makes them no more alike; the same name elsewhere is likely meant. */
function nameUnlikeness([space, own]: [string, string], [otherSpace, other]: [string, string]): number {
  if (space === otherSpace) return unlikeness(own, other);
  if (own === other) return 1 - 1 / (1 + distance(space, otherSpace));
  return unlikeness(own, other) + unlikeness(space, otherSpace);
}

/** The allowed name that is nearest to `found`, when it is like enough to be a likely slip. */
export function nearestName(found: string, allowed: readonly string[]): string | undefined {
  if (found.length === 0) return undefined;
  const wanted = partsOf(found);
  let least = Number.POSITIVE_INFINITY;
  let nearest: string | undefined;
  for (const name of allowed) {
    const edits = nameUnlikeness(wanted, partsOf(name));
    if (edits >= least) continue;
    least = edits;
    nearest = name;
  }
  return nearest;
}

/** `file:line: document: path: message; found …; allowed: …; did you mean …?` */
export function formatProblem(problem: Problem): string {
  const place = [
    problem.file === undefined ? '' : problem.file + (problem.line ? `:${problem.line}` : ''),
    problem.document ?? '',
    problem.path,
  ].filter((part) => part !== '');
  let text = [...place, problem.message].join(': ');
  if (problem.found !== undefined) text += `; found ${problem.found}`;
  if (problem.allowed !== undefined) text += `; allowed: ${problem.allowed.join(', ')}`;
  if (problem.nearest !== undefined) text += `; did you mean "${problem.nearest}"?`;
  if (problem.code !== undefined) text += ` [${problem.code}]`;
  return text;
}

/** A value as an error message shows it: JSON, cut at 80 characters. */
export function show(value: unknown): string {
  const text = shown(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number') return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Array.isArray(value) ? 'a list that cannot be shown' : 'a value that cannot be shown';
  }
}
