import type { z } from 'zod';
import type { Problem } from '../problem.js';
import type { Scope } from '../scenario/model.js';
import type { SearchText, SubjectView } from '../subject-view.js';

/** What a check came to, before `negate` and `--strict` have their say. */
export interface Verdict {
  outcome: 'pass' | 'fail' | 'error';
  /** One sentence for people. */
  message: string;
  /** Evidence for machines; JSON only. */
  data: Record<string, unknown>;
  /** There was nothing to judge: a pass that rests on this verdict is vacuous (DESIGN 3.2.6). */
  noData?: boolean;
}

export type { SearchText };

/** Ask for a pattern to be searched in texts, in order, until the first hit. */
export interface MatchRequest {
  kind: 'match';
  pattern: string;
  texts: readonly SearchText[];
}

/** Ask for a playbook to be run. Paths are relative to the scenario's bundle. */
export interface AnsibleRequest {
  kind: 'ansible';
  playbook: string;
  inventory?: string;
  /** Of the rule: Ansible evaluates templates in them. */
  extraVars?: Record<string, unknown>;
  /** Of the run: evidence, in which no template is evaluated. Those of the rule win. */
  runVars?: Record<string, unknown>;
  /** Host pattern that the run names, for `--limit`. */
  hosts?: string;
  /** Whether it may use the network; absent: only where its inventory may name hosts that are not local. */
  network?: boolean;
  /** Milliseconds, where it has less time than the runner allows. */
  deadlineMs?: number;
}

/** What a validator wants a runner to do; a pure description. */
export type RunRequest = MatchRequest | AnsibleRequest;

/** What a pattern search came to. */
export type MatchOutcome =
  | { kind: 'match'; found: false; engine?: 'backtracking' }
  | {
      kind: 'match';
      found: true;
      /** Which of the request's texts. */
      text: number;
      /** UTF-16 offsets of the match in that text. */
      start: number;
      end: number;
      engine?: 'backtracking';
    };

/** What running a playbook came to. */
export interface AnsibleOutcome {
  kind: 'ansible';
  /** null when a signal ended it. */
  exitCode: number | null;
  signal?: string;
  timedOut: boolean;
  /** Head and tail, where the middle was too much. */
  stdout: string;
  stderr: string;
  durationMs: number;
  /** What the callback told of each task; absent where it told nothing that could be read. */
  report?: PlaybookReport;
  /** What `--syntax-check` has against the playbook; absent where it has nothing, or was not asked. */
  authoring?: string;
}

/** One host's counts at the end of a playbook. */
export interface HostRecap {
  ok: number;
  changed: number;
  unreachable: number;
  failed: number;
  skipped: number;
  rescued: number;
  ignored: number;
}

/** One task's result on one host. */
export interface TaskReport {
  host: string;
  play: string;
  task: string;
  /** Module, such as `ansible.builtin.assert`. */
  action: string;
  status: 'ok' | 'changed' | 'failed' | 'ignored' | 'skipped' | 'unreachable';
  /** What the module said; empty where it said nothing. */
  message: string;
  /**
   * Of a failure. `judged`: by an assertion, `fail` or a program’s exit code, so the message is its author’s;
   * `answered`: a module was started and failed in its own words; `crashed`: it broke down; absent: nothing
   * shows that the task ran.
   */
  cause?: 'judged' | 'answered' | 'crashed';
  /** Its failure was ignored, but it changed something. */
  changed?: boolean;
}

/** What a run of a playbook did, as the callback of ours tells it. */
export interface PlaybookReport {
  recap: Readonly<Record<string, HostRecap>>;
  /** Hosts that were left out, because there were too many; those with trouble or changes come first. */
  hostsLeftOut: number;
  /** In the order in which they ended. */
  tasks: readonly TaskReport[];
  /** Tasks that were left out, because there were too many. */
  tasksLeftOut: number;
  noHostsMatched: boolean;
}

/** The runner could not do it: always an error result, never a pass or a fail. */
export interface RunFailure {
  kind: 'failure';
  /** Stable word for the reason, such as `deadline` or `not_installed`. */
  reason: string;
  message: string;
  /** Evidence besides, such as `raw_output`; JSON only. */
  data?: Record<string, unknown>;
}

export type RunOutcome = MatchOutcome | AnsibleOutcome | RunFailure;

/**
 * A built-in check behind a rule. Pure: a validator that needs the world describes what it needs
 * (`request`) and interprets what came back (`judge`). DESIGN 2.
 */
export interface Validator<Params = Record<string, unknown>> {
  name: string;
  description: string;
  /** Names that mean this validator too. */
  aliases?: readonly string[];
  /** Scopes whose rules may use it. */
  scopes: readonly Scope[];
  /** The runner that its requests go to; `none` judges the subject alone. */
  runner: 'none' | 'match' | 'ansible';
  /** Fields of a rule besides the common ones. */
  params: z.ZodObject;
  /** Fields that have a narrower schema in one scope, for editors; loading goes by `params` and `problems`. */
  paramsIn?(scope: Scope): z.ZodRawShape;
  /** Fields that name a file or folder of the scenario's bundle. */
  fileFields?: readonly string[];
  /**
   * What the schema cannot say (bounds across fields, scope of `where`, patterns). `params` holds
   * only the fields that their schema accepted, `given` the names of all that the rule has. Paths
   * are relative to the rule.
   */
  problems?(params: Partial<Params>, scope: Scope, given: ReadonlySet<string>): Problem[];
  /** Its verdicts quote evidence only through `SubjectView`, which has taken the secrets out. */
  redacted?: boolean;
  /** Undefined when there is no data to look at: `judge` is then called without an outcome. */
  request?(params: Params, view: SubjectView, scope: Scope): RunRequest | undefined;
  judge(params: Params, view: SubjectView, scope: Scope, outcome?: RunOutcome): Verdict;
}
