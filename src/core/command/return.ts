import { roughDuration } from '../duration.js';
import { failure } from '../failure.js';
import { isPlainObject } from '../json.js';
import type { CallableDocument, ExitMeaning } from '../registry/model.js';
import { rawOutput } from '../settle.js';
import type { RunFailure, Verdict } from '../validators/validator.js';
import { isResult, printedBy } from './printed.js';
import { lastFailure, lastTellingLine, tailOf } from './tail.js';

/** How a process ended, and what it printed. */
export interface ProcessLike {
  /** null when a signal ended it. */
  exitCode: number | null;
  signal?: string;
  timedOut: boolean;
  /** Milliseconds that it had until it was stopped. */
  deadlineMs: number;
  /** The middle of an output stream was left out. */
  truncated: boolean;
  /** … of standard output, on which results are printed. */
  stdoutTruncated: boolean;
  /** The key `passed` in quotes stood on standard output, be it in what was left out. */
  mentionsPassed: boolean;
  stdout: string;
  stderr: string;
}

/** A value, which a validation's structured return may be; a verdict by exit code; or neither. */
export type CommandReturn =
  | { kind: 'value'; value: unknown }
  | { kind: 'verdict'; verdict: Verdict }
  | RunFailure;

/** A process that ended by itself. */
type Ended = ProcessLike & { exitCode: number };

/** What a shell says of a program, and the runner with it. */
const NOT_STARTED: Readonly<Record<number, { reason: string; what: string }>> = {
  126: { reason: 'not_started', what: 'a program could not be started' },
  127: { reason: 'not_found', what: 'a program was not found' },
};

function meaningOf({ exit_codes = {} }: CallableDocument, code: number): ExitMeaning {
  const given = Object.hasOwn(exit_codes, code) ? exit_codes[code] : undefined;
  return given ?? (code === 0 ? 'pass' : code === 1 ? 'fail' : 'error');
}

const told = (what: string, line: string | undefined): string =>
  line === undefined ? what : `${what}: ${line}`;

function failed(reason: string, message: string, outcome: ProcessLike): RunFailure {
  const { exitCode, signal, truncated, stdout, stderr } = outcome;
  const data = {
    ...(exitCode === null ? {} : { exit_code: exitCode }),
    ...(signal === undefined ? {} : { signal }),
    raw_output: rawOutput(stdout),
    ...(stderr === '' ? {} : { stderr: tailOf(stderr).text }),
    ...(truncated ? { truncated } : {}),
  };
  return failure(reason, message, data);
}

function wrongCode(outcome: Ended): RunFailure {
  const { exitCode, stdout, stderr } = outcome;
  const what = `ended with exit code ${exitCode}, which is an error`;
  return failed('exit_code', told(what, lastFailure(stderr, stdout)), outcome);
}

/** Why a process that ended in this way brought nothing; undefined where its exit code has a meaning. */
function unusable(document: CallableDocument, outcome: ProcessLike): RunFailure | undefined {
  const { exitCode, signal, stdout, stderr } = outcome;
  // Whatever failed before: it was at its last line when it was stopped.
  const last = lastTellingLine(stderr, stdout);
  if (outcome.timedOut) {
    const what = `was stopped at its deadline, after ${roughDuration(outcome.deadlineMs)}`;
    return failed('deadline', told(what, last), outcome);
  }
  if (exitCode === null) return failed('signal', told(`was ended by ${signal ?? 'a signal'}`, last), outcome);
  const notStarted = Object.hasOwn(document.exit_codes ?? {}, exitCode) ? undefined : NOT_STARTED[exitCode];
  if (notStarted === undefined) return undefined;
  const { reason, what } = notStarted;
  return failed(reason, told(`exit code ${exitCode}: ${what}`, last), outcome);
}

const ADVICE =
  'print nothing else (log to standard error), or say output: exit_code if the exit code is the verdict';

const NOT_JSON: Readonly<
  Record<'nothing' | 'mixed' | 'broken' | 'other', { reason: string; message: string }>
> = {
  nothing: { reason: 'no_output', message: 'printed nothing; its output must be JSON' },
  mixed: { reason: 'mixed_output', message: `printed its result among other lines: ${ADVICE}` },
  broken: {
    reason: 'malformed',
    message:
      'printed what looks like a result but is no JSON (true, false and null, keys in double quotes, no NaN, at most 128 levels)',
  },
  other: { reason: 'malformed', message: 'printed something that is no JSON; its output must be JSON' },
};

/** What stands for bytes that are no UTF-8. */
const NO_TEXT = '\ufffd';

const CUT = 'printed more than is kept, so that its JSON is not whole';

const MAYBE_CUT =
  'printed more than is kept, and a result may be in what was left out: print the result alone and shorter (log to standard error), or say output: exit_code if the exit code is the verdict';

/** Whether a result may have been lost, whole or in part, with what was left out. */
function mayHaveLostResult({ stdoutTruncated, mentionsPassed, stdout }: Ended): boolean {
  if (!stdoutTruncated) return false;
  const text = stdout.trim();
  return mentionsPassed || text.startsWith('{') || text.endsWith('}');
}

/** By its exit code alone. */
function byCode(meaning: 'pass' | 'fail', outcome: Ended): CommandReturn {
  const { exitCode, stdout, stderr } = outcome;
  const out = tailOf(stdout);
  const err = tailOf(stderr);
  const isCut = outcome.truncated || out.cut || err.cut;
  // What failed says why on standard error, what passed sums up on standard output.
  const line = meaning === 'pass' ? lastTellingLine(stdout, stderr) : lastFailure(stderr, stdout);
  const message = told(`exit code ${exitCode}`, line);
  const data = {
    exit_code: exitCode,
    stdout: out.text,
    stderr: err.text,
    ...(isCut ? { truncated: true } : {}),
  };
  return { kind: 'verdict', verdict: { outcome: meaning, message, data } };
}

function byResult(value: unknown, meaning: 'pass' | 'fail', outcome: Ended): CommandReturn {
  if (outcome.stdoutTruncated) return failed('truncated', CUT, outcome);
  if (outcome.stdout.includes(NO_TEXT)) {
    const message = 'printed a result that is not valid UTF-8';
    return failed('not_utf8', message, outcome);
  }
  const claims = isPlainObject(value) && value.passed === true;
  if (!claims || meaning === 'pass') return { kind: 'value', value };
  const message = `printed "passed": true and ended with exit code ${outcome.exitCode}, which means a fail`;
  return failed('contradiction', message, outcome);
}

function ofValidation(document: CallableDocument, outcome: Ended): CommandReturn {
  const { output = 'auto' } = document;
  const meaning = meaningOf(document, outcome.exitCode);
  if (meaning === 'error') return wrongCode(outcome);
  if (output === 'exit_code') return byCode(meaning, outcome);
  const printed = printedBy(outcome.stdout);
  if (outcome.stdoutTruncated && (output === 'json' || printed.kind === 'broken'))
    return failed('truncated', CUT, outcome);
  if (printed.kind === 'json' && (output === 'json' || isResult(printed.value)))
    return byResult(printed.value, meaning, outcome);
  const isSilent = printed.kind === 'json' || printed.kind === 'nothing' || printed.kind === 'other';
  if (output === 'auto' && isSilent) {
    // A fail stands: it lets nothing through that the result would have held back.
    const isDoubtful = meaning === 'pass' && mayHaveLostResult(outcome);
    return isDoubtful ? failed('truncated', MAYBE_CUT, outcome) : byCode(meaning, outcome);
  }
  const { reason, message } = NOT_JSON[printed.kind === 'json' ? 'other' : printed.kind];
  return failed(reason, message, outcome);
}

function ofTool(document: CallableDocument, outcome: Ended): CommandReturn {
  const { output = 'auto' } = document;
  const { exitCode, stdout, stderr, truncated, stdoutTruncated } = outcome;
  if (document.exit_codes !== undefined && isError(document, exitCode)) return wrongCode(outcome);
  const value = { exit_code: exitCode, stdout, stderr, truncated };
  if (output === 'exit_code') return { kind: 'value', value };
  const printed = printedBy(stdout);
  if (printed.kind === 'json' && !stdoutTruncated)
    return { kind: 'value', value: { ...value, json: printed.value } };
  if (output === 'auto') return { kind: 'value', value };
  if (printed.kind === 'json' || stdoutTruncated) return failed('truncated', CUT, outcome);
  const { reason, message } = NOT_JSON[printed.kind];
  return failed(reason, message, outcome);
}

function isError({ exit_codes = {} }: CallableDocument, code: number): boolean {
  return Object.hasOwn(exit_codes, code) && exit_codes[code] === 'error';
}

/**
 * What a command brought back. A plain tool: `{exit_code, stdout, stderr, truncated, json?}`, whatever
 * its exit code, unless `exit_codes` makes that an error. A validation: the structured return that it
 * printed, or a verdict by its exit code, as its `output` says. What ended by a signal, at its deadline,
 * or was not started is a failure, as is what says two things at once. Never throws.
 */
export function commandReturn(document: CallableDocument, outcome: ProcessLike): CommandReturn {
  const failure = unusable(document, outcome);
  if (failure !== undefined) return failure;
  const ended = outcome as Ended;
  return document.kind === 'validation' ? ofValidation(document, ended) : ofTool(document, ended);
}
