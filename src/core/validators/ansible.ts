import { z } from 'zod';
import { type Problem, show } from '../problem.js';
import type { SubjectView } from '../subject-view.js';
import { type HostRecap, type PlaybookOutput, parsePlaybookOutput } from './ansible-output.js';
import { bundlePathProblem, normalBundlePath } from './bundle-path.js';
import { unexpectedOutcome } from './unexpected.js';
import type { AnsibleOutcome, RunOutcome, RunRequest, Validator, Verdict } from './validator.js';

/** Longest output excerpt and most hosts in a result. */
const EXCERPT = 2000;
const HOSTS = 50;
/** Most of either output stream that is looked at for excerpts, in UTF-16 units from its end. */
const OUTPUT = 65_536;

const bundlePath = z
  .string()
  .max(1024)
  .meta({ minLength: 1, pattern: '^(?!/)(?![A-Za-z]:)[^-~\\u0000\\\\][^\\u0000\\\\]*$' });

const params = z.object({
  ansiblePath: bundlePath.describe('Playbook to run, relative to the scenario’s folder and inside it'),
  inventory: bundlePath.optional().describe('Inventory, relative to the scenario’s folder and inside it'),
  extra_vars: z.record(z.string(), z.json()).optional().describe('Extra variables for the playbook'),
});
type Params = z.infer<typeof params>;

function problems({ ansiblePath, inventory }: Partial<Params>): Problem[] {
  const found: Problem[] = [];
  for (const [path, value] of Object.entries({ ansiblePath, inventory })) {
    const message = value === undefined ? undefined : bundlePathProblem(value);
    if (message !== undefined) found.push({ path, message, found: show(value) });
  }
  return found;
}

function request({ ansiblePath, inventory, extra_vars }: Params, view: SubjectView): RunRequest {
  const { target } = view.subject;
  // The rule's variables win: the evidence must not overrule its judge.
  const extraVars = { ...target?.vars, ...extra_vars };
  return {
    kind: 'ansible',
    playbook: normalBundlePath(ansiblePath),
    ...(inventory === undefined ? {} : { inventory: normalBundlePath(inventory) }),
    ...(Object.keys(extraVars).length === 0 ? {} : { extraVars }),
    ...(target?.hosts === undefined ? {} : { hosts: target.hosts }),
  };
}

function total(recap: PlaybookOutput['recap'], field: keyof HostRecap): number {
  let sum = 0;
  for (const host of recap?.values() ?? []) sum += host[field];
  return sum;
}

function tail(text: string): string {
  const trimmed = text.trimEnd();
  const cut = trimmed.slice(-EXCERPT);
  const split = cut.charCodeAt(0) >= 0xdc00 && cut.charCodeAt(0) <= 0xdfff;
  return (trimmed.length > EXCERPT ? '…' : '') + (split ? cut.slice(1) : cut);
}

function evidence(outcome: AnsibleOutcome, output: PlaybookOutput): Record<string, unknown> {
  const { recap, failures } = output;
  const data: Record<string, unknown> = { exit_code: outcome.exitCode };
  if (outcome.signal !== undefined) data.signal = outcome.signal;
  if (outcome.timedOut) data.timed_out = true;
  if (recap !== undefined) {
    data.hosts = Object.fromEntries([...recap].slice(0, HOSTS));
    if (recap.size > HOSTS) data.hosts_left_out = recap.size - HOSTS;
    data.changed = total(recap, 'changed');
    if (data.changed !== 0) data.possible_read_only_breach = true;
  }
  if (failures.length > 0) {
    data.failures = failures
      .slice(0, 10)
      .map(({ host, task, message }) => ({ host, task, message: tail(message) }));
  }
  data.output = tail(outcome.stderr.trim() === '' ? outcome.stdout : `${outcome.stdout}\n${outcome.stderr}`);
  return data;
}

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

function names(hosts: readonly string[]): string {
  const shown = hosts.slice(0, 3).join(', ');
  return hosts.length > 3 ? `${shown} and ${hosts.length - 3} more` : shown;
}

type Bare = Pick<Verdict, 'outcome' | 'message' | 'noData'>;

function onZero(output: PlaybookOutput): Bare {
  const hosts = output.recap?.size ?? 0;
  if (hosts === 0 && (output.noHostsMatched || output.recap !== undefined)) {
    return { outcome: 'pass', message: 'no data: no host matched', noData: true };
  }
  if (output.worked === 0) return { outcome: 'pass', message: 'no data: no task ran', noData: true };
  return { outcome: 'pass', message: `passed on ${hosts} ${hosts === 1 ? 'host' : 'hosts'}` };
}

function onTwo(output: PlaybookOutput, stderr: string): Bare {
  const recap = [...(output.recap ?? [])];
  const failed = recap.filter(([, host]) => host.failed > 0).map(([name]) => name);
  const unreachable = recap.filter(([, host]) => host.unreachable > 0).map(([name]) => name);
  if (failed.length === 0)
    return { outcome: 'error', message: `could not run: ${reasonIn(stderr, 'exit code 2')}` };
  if (unreachable.length > 0) return { outcome: 'error', message: `unreachable: ${names(unreachable)}` };
  const broken = output.failures.find(({ couldNotRun }) => couldNotRun);
  const real = output.failures.find(({ couldNotRun }) => !couldNotRun);
  if (broken !== undefined && real === undefined) {
    return {
      outcome: 'error',
      message: `a task could not run on ${broken.host}: ${firstLine(broken.message)}`,
    };
  }
  const why = real === undefined ? '' : `: [${real.task}] ${firstLine(real.message)}`;
  return { outcome: 'fail', message: `failed on ${names(failed)}${why}` };
}

function reasonIn(stderr: string, otherwise: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const telling = lines.find((line) => /^ERROR!|error:|couldn't resolve/.test(line));
  return telling === undefined ? otherwise : `${otherwise}, ${firstLine(telling)}`;
}

function conclude(outcome: AnsibleOutcome, output: PlaybookOutput): Bare {
  const { exitCode, signal, timedOut, stderr, durationMs } = outcome;
  if (timedOut)
    return { outcome: 'error', message: `stopped at its deadline after ${Math.round(durationMs)} ms` };
  if (signal !== undefined || exitCode === null) {
    return { outcome: 'error', message: `ended by ${signal ?? 'a signal'}` };
  }
  if (exitCode === 0) return onZero(output);
  if (exitCode === 2) return onTwo(output, stderr);
  const unreachable = [...(output.recap ?? [])]
    .filter(([, host]) => host.unreachable > 0)
    .map(([name]) => name);
  if (unreachable.length > 0) return { outcome: 'error', message: `unreachable: ${names(unreachable)}` };
  return { outcome: 'error', message: `could not run: ${reasonIn(stderr, `exit code ${exitCode}`)}` };
}

/** Secrets go before anything is cut: a cut could leave half of one, which nothing recognises. */
function withoutSecrets(outcome: AnsibleOutcome, { redactor }: SubjectView) {
  const parsed = parsePlaybookOutput(outcome.stdout);
  const failures = parsed.failures.map((each) => ({ ...each, message: redactor.redact(each.message) }));
  const stdout = redactor.redact(outcome.stdout.slice(-OUTPUT));
  const stderr = redactor.redact(outcome.stderr.slice(-OUTPUT));
  return { output: { ...parsed, failures }, said: { ...outcome, stdout, stderr } };
}

function judge({ ansiblePath }: Params, view: SubjectView, _scope: unknown, outcome?: RunOutcome): Verdict {
  if (outcome?.kind !== 'ansible') return unexpectedOutcome(outcome);
  const { output, said } = withoutSecrets(outcome, view);
  const verdict = conclude(said, output);
  const changed = total(output.recap, 'changed');
  const breach = changed > 0 ? `; it reported ${changed} changed: possible read-only breach` : '';
  return {
    ...verdict,
    message: `playbook ${ansiblePath}: ${verdict.message}${breach}`,
    data: evidence(said, output),
  };
}

/** A playbook's exit code as pass, fail or error (SV, ansible; DESIGN 3.3). */
export const ansible: Validator<Params> = {
  name: 'ansible',
  description: 'Runs an Ansible playbook of the scenario and takes its exit code as pass or fail',
  scopes: ['gateway', 'job', 'tasks'],
  runner: 'ansible',
  params,
  fileFields: ['ansiblePath', 'inventory'],
  problems,
  request,
  judge,
};
