import { isPlainObject } from '../json.js';

/** One host's line of the PLAY RECAP. */
export interface HostRecap {
  ok: number;
  changed: number;
  unreachable: number;
  failed: number;
  skipped: number;
  rescued: number;
  ignored: number;
}

/** A task that failed for good on a host. */
export interface TaskFailure {
  host: string;
  task: string;
  /** What the module said, or the raw text when that is no JSON. */
  message: string;
  /** The task never got as far as looking at the machine (DESIGN 3.3). */
  couldNotRun: boolean;
}

/** What the default output of ansible-playbook (ansible-core 2.14) says. */
export interface PlaybookOutput {
  /** By host; undefined when there is no PLAY RECAP at all. */
  recap: ReadonlyMap<string, HostRecap> | undefined;
  noHostsMatched: boolean;
  /** Task results that count as work: not Gathering Facts, not includes. */
  worked: number;
  /** The failures that stopped each host: those of its last failing task that was not ignored. */
  failures: TaskFailure[];
}

// biome-ignore lint/complexity/useRegexLiterals: a literal would hold a raw escape character.
const COLOUR = new RegExp('\\u001b\\[[0-9;]{0,16}m', 'g');
const RECAP_LINE =
  /^(\S+)\s+:\s+ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)(?:\s+skipped=(\d+))?(?:\s+rescued=(\d+))?(?:\s+ignored=(\d+))?/;
const TASK_LINE = /^(?:TASK|RUNNING HANDLER) \[(.*)\]/;
const FAILED_LINE = /^(?:fatal|failed): \[([^\]\s]+)[^\]]*\](?:: FAILED!)? (?:\(item=.*\) )?=> (.*)$/;
/** Most lines of one indented result. */
const BODY_LINES = 500;
const FACTS = 'Gathering Facts';

/** Words of ansible-core for a task that could not run: become, interpreter, module, variables, files of its own. */
const COULD_NOT_RUN = [
  'MODULE FAILURE',
  'missing sudo password',
  'incorrect sudo password',
  'missing su password',
  'incorrect su password',
  'missing become password',
  'sudo: a password is required',
  'sudo: no tty present',
  'sudo: command not found',
  'is not in the sudoers file',
  'waiting for privilege escalation prompt',
  'Failed to set permissions on the temporary files',
  'probably need to set the interpreter',
  'The module interpreter',
  'No python interpreters found',
  'Failed to get the interpreter',
  "couldn't resolve module",
  'was not found in configured module paths',
  'Failed to import the required Python library',
  'option with an undefined variable',
  'template error while templating string',
  'error while evaluating conditional',
  'on the Ansible Controller',
].map((words) => words.toLowerCase());

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function describe(raw: string): Pick<TaskFailure, 'message' | 'couldNotRun'> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(raw);
  } catch {
    parsed = undefined;
  }
  if (!isPlainObject(parsed)) return { message: raw, couldNotRun: says(raw) };
  const message = textOf(parsed.msg) || textOf(parsed.reason) || raw;
  // An assertion that was evaluated is a real verdict, whatever its author made it say.
  const judged = 'evaluated_to' in parsed;
  const words = [message, textOf(parsed.module_stderr), textOf(parsed.module_stdout)].join('\n');
  return { message, couldNotRun: !judged && says(words) };
}

function says(text: string): boolean {
  const lower = text.toLowerCase();
  return COULD_NOT_RUN.some((words) => lower.includes(words));
}

function recapOf(lines: readonly string[]): Map<string, HostRecap> | undefined {
  const start = lines.findLastIndex((line) => line.startsWith('PLAY RECAP'));
  if (start === -1) return undefined;
  const recap = new Map<string, HostRecap>();
  for (const line of lines.slice(start + 1)) {
    const match = line.length > 2000 ? null : RECAP_LINE.exec(line);
    if (match === null) continue;
    const [ok, changed, unreachable, failed, skipped, rescued, ignored] = [2, 3, 4, 5, 6, 7, 8].map((group) =>
      Number(match[group] ?? 0),
    ) as [number, number, number, number, number, number, number];
    recap.set(match[1] ?? '', { ok, changed, unreachable, failed, skipped, rescued, ignored });
  }
  return recap;
}

/** The JSON after `=>`, which may go on over the next lines until one that closes it. */
function bodyFrom(lines: readonly string[], at: number, first: string): { body: string; next: number } {
  if (first !== '{') return { body: first, next: at + 1 };
  const following = lines.slice(at + 1, at + 1 + BODY_LINES);
  const close = following.indexOf('}');
  if (close === -1) return { body: first, next: at + 1 };
  return { body: ['{', ...following.slice(0, close + 1)].join('\n'), next: at + close + 2 };
}

interface Found extends TaskFailure {
  taskNumber: number;
}

function failuresOf(lines: readonly string[]): TaskFailure[] {
  const byHost = new Map<string, Found[]>();
  let task = '';
  let taskNumber = 0;
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const title = TASK_LINE.exec(line);
    if (title !== null) {
      task = title[1] ?? '';
      taskNumber += 1;
    }
    const match = FAILED_LINE.exec(line);
    if (match === null) {
      at += 1;
      continue;
    }
    const { body, next } = bodyFrom(lines, at, match[2] ?? '');
    at = next;
    if (lines[next] === '...ignoring') continue;
    const host = match[1] ?? '';
    const sameTask = (byHost.get(host) ?? []).filter((earlier) => earlier.taskNumber === taskNumber);
    byHost.set(host, [...sameTask.slice(-20), { host, task, taskNumber, ...describe(body) }]);
  }
  return [...byHost.values()].flat().map(({ taskNumber: _, ...failure }) => failure);
}

/** `ok` lines of Gathering Facts and of includes, which the recap counts as ok though nothing was checked. */
function idleResults(lines: readonly string[]): number {
  let idle = 0;
  let inFacts = false;
  for (const line of lines) {
    const title = TASK_LINE.exec(line);
    if (title !== null) inFacts = title[1] === FACTS;
    else if (inFacts && line.startsWith('ok: [')) idle += 1;
    else if (line.startsWith('included: ')) idle += line.slice(line.lastIndexOf(' for ')).split(',').length;
  }
  return idle;
}

/** Reads the output of ansible-playbook; text that is something else yields no recap. */
export function parsePlaybookOutput(stdout: string): PlaybookOutput {
  const lines = stdout.replace(COLOUR, '').split(/\r?\n/);
  const recap = recapOf(lines);
  let counted = 0;
  for (const host of recap?.values() ?? []) counted += host.ok + host.failed + host.rescued + host.ignored;
  return {
    recap,
    noHostsMatched: lines.includes('skipping: no hosts matched'),
    worked: Math.max(0, counted - idleResults(lines)),
    failures: failuresOf(lines),
  };
}
