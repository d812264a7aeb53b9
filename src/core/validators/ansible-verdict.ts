import { couldNotRun, worked } from './ansible-words.js';
import type { AnsibleOutcome, HostRecap, PlaybookReport, TaskReport, Verdict } from './validator.js';

/** Longest excerpt of the output, longest message, and most hosts and tasks in a result. */
const EXCERPT = 2000;
const MESSAGE = 1000;
const HOSTS = 50;
const TASKS = 50;
const FAILED = 10;
/** Most of either output stream that is looked at for excerpts, in UTF-16 units from its end. */
const OUTPUT = 65_536;

type Redact = (text: string) => string;
/** `reason`: a stable word, of errors alone. */
type Bare = Pick<Verdict, 'outcome' | 'message' | 'noData'> & { reason?: string };

/** Never half of a surrogate pair. */
function tail(text: string): string {
  const trimmed = text.trimEnd();
  const cut = trimmed.slice(-EXCERPT);
  const split = cut.charCodeAt(0) >= 0xdc00 && cut.charCodeAt(0) <= 0xdfff;
  return (trimmed.length > EXCERPT ? '…' : '') + (split ? cut.slice(1) : cut);
}

function head(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most)}…`;
}

const firstLine = (text: string): string => head(text.trim().split('\n', 1)[0] ?? '', 160);

function names(hosts: readonly string[]): string {
  const shown = hosts.slice(0, 3).join(', ');
  return hosts.length > 3 ? `${shown} and ${hosts.length - 3} more` : shown;
}

function hostsWith(report: PlaybookReport | undefined, field: keyof HostRecap): string[] {
  return Object.entries(report?.recap ?? {})
    .filter(([, recap]) => recap[field] > 0)
    .map(([name]) => name);
}

function total(report: PlaybookReport, field: keyof HostRecap): number {
  return Object.values(report.recap).reduce((sum, recap) => sum + recap[field], 0);
}

/** The failures that stopped each host: those of its last task that failed and was neither ignored nor rescued. */
function stoppers({ tasks, recap }: PlaybookReport): TaskReport[] {
  const byHost = new Map<string, TaskReport[]>();
  for (const each of tasks) {
    if (each.status !== 'failed' || (recap[each.host]?.failed ?? 1) === 0) continue;
    const earlier = byHost.get(each.host) ?? [];
    const same = earlier.filter(({ play, task }) => play === each.play && task === each.task);
    byHost.set(each.host, [...same, each]);
  }
  return [...byHost.values()].flat();
}

const error = (reason: string, message: string): Bare => ({ outcome: 'error', reason, message });

function onZero(report: PlaybookReport | undefined): Bare {
  if (report === undefined) return error('no_report', 'exit code 0, but it did not tell what it did');
  const hosts = Object.keys(report.recap).length + report.hostsLeftOut;
  const vacuous = (what: string): Bare => ({ outcome: 'pass', message: `no data: ${what}`, noData: true });
  if (hosts === 0) return vacuous('no host matched');
  if (!report.tasks.some(worked)) return vacuous('no task ran');
  return { outcome: 'pass', message: `passed on ${hosts} ${hosts === 1 ? 'host' : 'hosts'}` };
}

function onTwo(report: PlaybookReport, failed: readonly string[]): Bare {
  const failures = stoppers(report);
  const real = failures.find((each) => !couldNotRun(each));
  if (real !== undefined) {
    return {
      outcome: 'fail',
      message: `failed on ${names(failed)}: [${real.task}] ${firstLine(real.message)}`,
    };
  }
  const [broken] = failures;
  if (broken === undefined) return error('no_report', `failed on ${names(failed)}, but no task tells why`);
  return error('could_not_run', `a task could not run on ${broken.host}: ${firstLine(broken.message)}`);
}

function said(text: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const telling = lines.find((line) => /^ERROR!|^\[ERROR\]|error:|couldn't resolve/.test(line));
  return telling === undefined ? undefined : firstLine(telling);
}

function conclude({
  exitCode,
  signal,
  timedOut,
  stderr,
  durationMs,
  report,
  authoring,
}: AnsibleOutcome): Bare {
  if (timedOut) return error('deadline', `stopped at its deadline after ${Math.round(durationMs)} ms`);
  if (signal !== undefined || exitCode === null) return error('signal', `ended by ${signal ?? 'a signal'}`);
  if (authoring !== undefined) {
    return error('authoring', `is not valid: ${said(authoring) ?? firstLine(authoring)}`);
  }
  if (exitCode === 0) return onZero(report);
  const unreachable = hostsWith(report, 'unreachable');
  if (unreachable.length > 0) return error('unreachable', `unreachable: ${names(unreachable)}`);
  const failed = hostsWith(report, 'failed');
  if (exitCode === 2 && report !== undefined && failed.length > 0) return onTwo(report, failed);
  const why = said(stderr);
  return error('exit_code', `could not run: exit code ${exitCode}${why === undefined ? '' : `, ${why}`}`);
}

function tasksIn(report: PlaybookReport): Record<string, unknown> {
  const short = ({ host, task, message }: TaskReport) => ({ host, task, message: head(message, MESSAGE) });
  const changed = report.tasks.filter((each) => each.status === 'changed' || each.changed);
  const failed = report.tasks.filter(({ status }) => status === 'failed' || status === 'unreachable');
  // Those that failed are told of anyway; of the others the first ones.
  const shown = report.tasks.slice(0, TASKS);
  const leftOut = report.tasks.length - shown.length + report.tasksLeftOut;
  return {
    tasks: shown.map(({ host, play, task, action, status }) => ({ host, play, task, action, status })),
    ...(leftOut > 0 ? { tasks_left_out: leftOut } : {}),
    changed: total(report, 'changed'),
    changed_tasks: changed.slice(0, TASKS).map(({ host, task, action }) => ({ host, task, action })),
    failed_tasks: failed.slice(-FAILED).map(short),
  };
}

function evidence(outcome: AnsibleOutcome, reason: string | undefined): Record<string, unknown> {
  const { exitCode, signal, timedOut, stdout, stderr, report, authoring } = outcome;
  const data: Record<string, unknown> = { exit_code: exitCode };
  if (reason !== undefined) data.reason = reason;
  if (signal !== undefined) data.signal = signal;
  if (timedOut) data.timed_out = true;
  if (authoring !== undefined) data.authoring = tail(authoring);
  if (report !== undefined) {
    const hosts = Object.entries(report.recap);
    const leftOut = Math.max(0, hosts.length - HOSTS) + report.hostsLeftOut;
    data.hosts = Object.fromEntries(hosts.slice(0, HOSTS));
    if (leftOut > 0) data.hosts_left_out = leftOut;
    if (report.noHostsMatched) data.no_hosts_matched = true;
    Object.assign(data, tasksIn(report));
    if (data.changed !== 0) data.possible_read_only_breach = true;
  }
  data.output = tail(stderr.trim() === '' ? stdout : `${stdout}\n${stderr}`);
  return data;
}

/** Secrets go before anything is cut: a cut could leave half of one, which nothing recognises. */
function withoutSecrets(outcome: AnsibleOutcome, redact: Redact): AnsibleOutcome {
  const { stdout, stderr, authoring, report } = outcome;
  const task = (each: TaskReport) => ({ ...each, task: redact(each.task), message: redact(each.message) });
  return {
    ...outcome,
    stdout: redact(stdout.slice(-OUTPUT)),
    stderr: redact(stderr.slice(-OUTPUT)),
    ...(authoring === undefined ? {} : { authoring: redact(authoring.slice(-OUTPUT)) }),
    ...(report === undefined ? {} : { report: { ...report, tasks: report.tasks.map(task) } }),
  };
}

/**
 * A playbook's run as pass, fail or error (SV, ansible; DESIGN 3.3). What its tasks did is taken from the
 * callback's report alone: a run that passed or failed without one is an error.
 */
export function judgePlaybook(playbook: string, outcome: AnsibleOutcome, redact: Redact): Verdict {
  const clean = withoutSecrets(outcome, redact);
  const { reason, ...verdict } = conclude(clean);
  const data = evidence(clean, reason);
  const changed = typeof data.changed === 'number' ? data.changed : 0;
  const breach = changed > 0 ? `; it reported ${changed} changed: possible read-only breach` : '';
  return { ...verdict, message: `playbook ${playbook}: ${verdict.message}${breach}`, data };
}
