import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandReturn, type ProcessLike } from '../../../../src/core/command/return.js';
import type { ExitMeaning, ToolDocument } from '../../../../src/core/registry/model.js';
import { normalizeReturn } from '../../../../src/core/settle.js';

const ended = (exitCode: number, stdout = '', more: Partial<ProcessLike> = {}): ProcessLike => ({
  exitCode,
  timedOut: false,
  deadlineMs: 10_000,
  truncated: false,
  stdoutTruncated: more.truncated ?? false,
  mentionsPassed: stdout.includes('"passed"'),
  stdout,
  stderr: '',
  ...more,
});
const document = (fields: Partial<ToolDocument>) => fields as ToolDocument;

/** `pass`, `fail`, or why it is an error; a value as the worker normalises it. */
function outcomeOf(fields: Partial<ToolDocument>, process: ProcessLike): string {
  const back = commandReturn(document({ kind: 'validation', ...fields }), process);
  if (back.kind === 'failure') return back.reason;
  const { outcome, message } = back.kind === 'verdict' ? back.verdict : normalizeReturn(back.value);
  return outcome === 'error' ? message.slice(0, 16) : outcome;
}

const PASSED = '{"passed": true}';
const FAILED = '{"passed": false, "message": "no"}';

it('takes a result whose standard error was too much', () => {
  const flooded = { truncated: true, stdoutTruncated: false };
  expect(outcomeOf({}, ended(0, PASSED, flooded))).toBe('pass');
  expect(outcomeOf({ output: 'json' }, ended(0, FAILED, flooded))).toBe('fail');
  expect(outcomeOf({}, ended(0, PASSED, { truncated: true }))).toBe('truncated');
});

describe('a validation whose output was cut', () => {
  const cut = (stdout: string, mentionsPassed = false) =>
    ended(0, stdout, { truncated: true, mentionsPassed });

  it.each<[string, ProcessLike, string]>([
    ['began like a result', cut('{"details": "xx ... yy"'), 'truncated'],
    ['began like a result after a blank', cut('\n  {"details": "xx ... yy"'), 'truncated'],
    ['ended like a result', cut('log ... yy"}\n'), 'truncated'],
    ['had the key of one in what was left out', cut('log ... log', true), 'truncated'],
    ['was a flood of lines', cut('log ... log'), 'pass'],
  ])('and %s is no pass unless no result can be lost: %#', (_, process, expected) => {
    expect(outcomeOf({}, process)).toBe(expected);
    expect(outcomeOf({ exit_codes: { '0': 'fail', '1': 'pass' } }, { ...process, exitCode: 1 })).toBe(
      expected,
    );
    expect(outcomeOf({ output: 'exit_code' }, process)).toBe('pass');
    expect(outcomeOf({}, { ...process, exitCode: 1 })).toBe('fail');
  });

  it('says what to do', () => {
    const back = commandReturn(document({ kind: 'validation' }), cut('{"details": "xx ... yy"}'));
    expect(back).toMatchObject({
      message: expect.stringMatching(/print the result alone.*output: exit_code/),
    });
  });
});

describe('a validation by exit code', () => {
  it.each<[number, Partial<ToolDocument>, string]>([
    [0, {}, 'pass'],
    [1, {}, 'fail'],
    [2, {}, 'exit_code'],
    [255, {}, 'exit_code'],
    [126, {}, 'not_started'],
    [127, {}, 'not_found'],
    [2, { exit_codes: { '2': 'fail' } }, 'fail'],
    [1, { exit_codes: { '1': 'error' } }, 'exit_code'],
    [0, { exit_codes: { '0': 'fail', '3': 'pass' } }, 'fail'],
    [3, { exit_codes: { '0': 'fail', '3': 'pass' } }, 'pass'],
    [127, { exit_codes: { '127': 'fail' } }, 'fail'],
    [127, { exit_codes: { '127': 'error' } }, 'exit_code'],
  ])('%i with %j is %s', (exitCode, fields, expected) => {
    for (const output of ['auto', 'exit_code'] as const)
      expect(outcomeOf({ ...fields, output }, ended(exitCode, 'some text\n'))).toBe(expected);
  });

  it.each<[string, Partial<ProcessLike>, string]>([
    ['at its deadline', { timedOut: true, exitCode: null, signal: 'SIGTERM' }, 'deadline'],
    ['at its deadline, with an exit code of its own', { timedOut: true }, 'deadline'],
    ['by a signal', { exitCode: null, signal: 'SIGSEGV' }, 'signal'],
  ])('that ended %s is an error, whatever it printed', (_, how, reason) => {
    for (const output of ['auto', 'json', 'exit_code'] as const)
      expect(outcomeOf({ output }, ended(0, PASSED, how))).toBe(reason);
    const failure = commandReturn(document({ kind: 'tool' }), ended(0, PASSED, how));
    expect(failure).toMatchObject({ kind: 'failure', reason, data: { raw_output: PASSED } });
  });

  it('says what it ended with, and the last line that tells something', () => {
    const failed = ended(1, 'one\nlast of out\n', { stderr: '\u001b[31m2 problems\u001b[0m\n-----\n\n' });
    expect(commandReturn(document({ kind: 'validation' }), failed)).toEqual({
      kind: 'verdict',
      verdict: {
        outcome: 'fail',
        message: 'exit code 1: 2 problems',
        data: { exit_code: 1, stdout: failed.stdout, stderr: failed.stderr },
      },
    });
    const passed = commandReturn(document({ kind: 'validation' }), { ...failed, exitCode: 0 });
    expect(passed).toMatchObject({ verdict: { message: 'exit code 0: last of out' } });
    expect(commandReturn(document({ kind: 'validation' }), ended(0))).toMatchObject({
      verdict: { message: 'exit code 0' },
    });
  });

  it.each([
    [200, '200ms'],
    [999.7, '1s'],
    [9_993.4, '10s'],
    [1_500, '1.5s'],
    [59_970, '1m'],
    [90_000, '1.5m'],
  ])('says after how long it was stopped: %d ms are %s', (deadlineMs, text) => {
    const late = ended(0, 'at work\n', { timedOut: true, exitCode: null, deadlineMs });
    expect(commandReturn(document({ kind: 'tool' }), late)).toMatchObject({
      message: `was stopped at its deadline, after ${text}: at work`,
    });
  });

  it('says which test failed', () => {
    const stdout = 'not ok 1 - adds\n# fail 1\n# duration_ms 534.0\n';
    const stderr = 'ExperimentalWarning: x\n';
    const by = (exitCode: number) =>
      commandReturn(document({ kind: 'validation' }), ended(exitCode, stdout, { stderr }));
    expect(by(1)).toMatchObject({ verdict: { message: 'exit code 1: not ok 1 - adds' } });
    expect(by(2)).toMatchObject({ message: 'ended with exit code 2, which is an error: not ok 1 - adds' });
    expect(by(0)).toMatchObject({ verdict: { message: 'exit code 0: # duration_ms 534.0' } });
  });

  it('keeps the last 8 KiB of each stream, whole characters, and says that it did', () => {
    const stdout = `${'x'.repeat(9_000)}${'€'.repeat(3_000)}`;
    const back = commandReturn(document({ kind: 'validation' }), ended(0, stdout));
    if (back.kind !== 'verdict') throw new Error('no verdict');
    expect(back.verdict.data).toEqual({
      exit_code: 0,
      stdout: '€'.repeat(2_730),
      stderr: '',
      truncated: true,
    });
    expect(commandReturn(document({ kind: 'validation' }), ended(1, 'x', { truncated: true }))).toMatchObject(
      {
        verdict: { outcome: 'fail', data: { truncated: true } },
      },
    );
  });

  it('that is an error keeps what it printed', () => {
    const stdout = 'y'.repeat(100_000);
    expect(commandReturn(document({ kind: 'validation' }), ended(9, stdout, { stderr: 'why\n' }))).toEqual({
      kind: 'failure',
      reason: 'exit_code',
      message: 'ended with exit code 9, which is an error: why',
      data: { exit_code: 9, raw_output: 'y'.repeat(65_536), stderr: 'why\n' },
    });
  });
});

describe('a validation by what it prints', () => {
  it.each<[string, number, string, string, string]>([
    // stdout, exit code, auto, json, exit_code
    ['nothing', 0, '', 'pass', 'no_output'],
    ['nothing but spaces', 1, ' \n', 'fail', 'no_output'],
    ['a pass', 0, PASSED, 'pass', 'pass'],
    ['a pass with space and a mark around it', 0, `\ufeff\n ${PASSED} \n`, 'pass', 'pass'],
    [
      'a pass over many lines',
      0,
      '{\n  "passed": true,\n  "data": {"a": {"passed": 1}}\n}\n',
      'pass',
      'pass',
    ],
    ['a fail', 0, FAILED, 'fail', 'fail'],
    ['a fail with the code of one', 1, FAILED, 'fail', 'fail'],
    ['a fail with the code of an error', 2, FAILED, 'exit_code', 'exit_code'],
    ['a pass with the code of an error', 2, PASSED, 'exit_code', 'exit_code'],
    ['a pass with the code of a fail', 1, PASSED, 'contradiction', 'contradiction'],
    ['a word for passed', 0, '{"passed":"yes"}', 'malformed return', 'malformed return'],
    ['a number for passed', 0, '{"passed": 1}', 'malformed return', 'malformed return'],
    ['NaN', 0, 'NaN', 'pass', 'malformed'],
    ['NaN for passed', 0, '{"passed": NaN}', 'malformed', 'malformed'],
    ['a result of Python', 0, "{'passed': False}", 'malformed', 'malformed'],
    ['a result of JavaScript', 0, '{ passed: false }', 'malformed', 'malformed'],
    ['a result that breaks off', 0, '{"passed": true, "data": {', 'malformed', 'malformed'],
    [
      'a result that breaks off in a text',
      0,
      'a\n{"passed": true, "message": "',
      'mixed_output',
      'mixed_output',
    ],
    ['another object', 0, '{"summary": {"passed": 3}}', 'pass', 'malformed return'],
    ['a list', 1, '[1]', 'fail', 'malformed return'],
    ['a text', 1, '"no"', 'fail', 'malformed return'],
    ['words', 0, 'all is well', 'pass', 'malformed'],
    ['words with braces', 1, 'if (x) { passed(); }\n{}', 'fail', 'malformed'],
    ['a result after log lines', 0, `starting\nworking\n${PASSED}\n`, 'mixed_output', 'mixed_output'],
    ['a result before log lines', 0, `${PASSED}\ndone`, 'mixed_output', 'mixed_output'],
    ['a result within log lines', 1, `a\n  ${FAILED}\nb`, 'mixed_output', 'mixed_output'],
    [
      'a result over many lines after a log line',
      0,
      'a\n{\n "passed": false\n}',
      'mixed_output',
      'mixed_output',
    ],
    ['a result at the end of a line', 0, `checking... ${FAILED}\n`, 'mixed_output', 'mixed_output'],
    ['two results', 0, `${PASSED}\n${FAILED}`, 'mixed_output', 'mixed_output'],
    ['a broken result after a log line', 0, 'a\n{"passed": NaN}\n', 'mixed_output', 'mixed_output'],
    ['a result after a brace that stays open', 0, `a {\n${FAILED}`, 'mixed_output', 'mixed_output'],
    ['a result quoted within a line', 0, `saw ${PASSED} there`, 'pass', 'malformed'],
    ['a log of objects that have it further in', 0, 'a\n{"n": {"passed": 1}}', 'pass', 'malformed'],
  ])('%s, exit code %i', (_, exitCode, stdout, auto, json) => {
    expect(outcomeOf({}, ended(exitCode, stdout))).toBe(auto);
    expect(outcomeOf({ output: 'json' }, ended(exitCode, stdout))).toBe(json);
    const byCode = exitCode === 0 ? 'pass' : exitCode === 1 ? 'fail' : 'exit_code';
    expect(outcomeOf({ output: 'exit_code' }, ended(exitCode, stdout))).toBe(byCode);
  });

  it('is an error where it is not UTF-8, which the exit code alone need not be', () => {
    const stdout = '{"passed": true, "message": "\ufffd"}';
    expect(outcomeOf({}, ended(0, stdout))).toBe('not_utf8');
    expect(outcomeOf({ output: 'json' }, ended(0, stdout))).toBe('not_utf8');
    expect(outcomeOf({}, ended(0, '{"passed": true, "message": "\\ufffd"}'))).toBe('pass');
    expect(outcomeOf({}, ended(0, 'caf\ufffd'))).toBe('pass');
  });

  it('is an error where the middle of it was left out', () => {
    const cut = ended(0, PASSED, { truncated: true });
    expect(outcomeOf({}, cut)).toBe('truncated');
    expect(outcomeOf({ output: 'json' }, cut)).toBe('truncated');
    expect(outcomeOf({ output: 'exit_code' }, cut)).toBe('pass');
    const broken = ended(0, '{"passed": true, "message": "\n... 9 bytes left out ...\n"}', {
      truncated: true,
    });
    expect(outcomeOf({}, broken)).toBe('truncated');
  });

  it('is an error where it is nested more deeply than is taken', () => {
    const deep = (levels: number) =>
      `{"passed": true, "data": {"a": ${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    expect(outcomeOf({}, ended(0, deep(100)))).toBe('pass');
    expect(outcomeOf({}, ended(0, deep(127)))).toBe('malformed');
    expect(outcomeOf({ output: 'json' }, ended(0, '['.repeat(400_000) + ']'.repeat(400_000)))).toBe(
      'malformed',
    );
  });

  it('is told how to print a result, and has what it printed', () => {
    const back = commandReturn(document({ kind: 'validation' }), ended(0, `log\n${PASSED}`));
    expect(back).toMatchObject({
      reason: 'mixed_output',
      message: expect.stringContaining('print nothing else') as string,
      data: { raw_output: `log\n${PASSED}` },
    });
  });

  it.each([
    ['braces', '{'.repeat(1_000_000)],
    ['braces and a key', `"passed": true ${'{\n'.repeat(500_000)}`],
    ['results within a line', `x${'{"passed":1}x'.repeat(80_000)}`],
    ['spaces between results', `x${`{"passed":1}${' '.repeat(5_000)}x`.repeat(200)}`],
    ['closed braces', `a "passed":1 ${'{}'.repeat(500_000)}`],
    ['nested braces', `a "passed":1 ${'{'.repeat(500_000)}${'}'.repeat(500_000)}`],
  ])('of a million %s is decided in no time', (_, stdout) => {
    const started = performance.now();
    outcomeOf({}, ended(0, stdout));
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('never passes unless the exit code, or a result without an error beside it, says so', () => {
    const piece = fc.constantFrom(
      PASSED,
      FAILED,
      '{"passed":"yes"}',
      'log',
      '\n',
      ' ',
      '{',
      '}',
      'NaN',
      '"',
      '[1]',
    );
    const stdout = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.array(piece, { maxLength: 5 }).map((all) => all.join('')),
    );
    const meaning = fc.constantFrom<ExitMeaning>('pass', 'fail', 'error');
    fc.assert(
      fc.property(
        stdout,
        fc.oneof(fc.constantFrom(0, 1, 2, 126, 127), fc.integer({ min: 0, max: 255 })),
        fc.option(fc.tuple(meaning, meaning), { nil: undefined }),
        fc.constantFrom('auto' as const, 'json' as const, 'exit_code' as const),
        fc.record({ truncated: fc.boolean(), timedOut: fc.boolean() }),
        (text, code, meanings, output, how) => {
          const exitCodes =
            meanings === undefined ? {} : { exit_codes: { '0': meanings[0], '1': meanings[1] } };
          const outcome = outcomeOf({ output, ...exitCodes }, ended(code, text, how));
          if (outcome !== 'pass') return;
          const means =
            (code < 2 && meanings?.[code]) || (code === 0 ? 'pass' : code === 1 ? 'fail' : 'error');
          expect(how.timedOut).toBe(false);
          expect(means).toBe('pass');
          if (output === 'json') expect(JSON.parse(text)).toMatchObject({ passed: true });
          if (output === 'auto') expect(text.trim()).not.toBe(FAILED);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('a plain tool', () => {
  it('has code and streams as its value, whatever its exit code', () => {
    expect(commandReturn(document({ kind: 'tool' }), ended(3, 'out', { stderr: 'err' }))).toEqual({
      kind: 'value',
      value: { exit_code: 3, stdout: 'out', stderr: 'err', truncated: false },
    });
  });

  it.each<[string, Partial<ToolDocument>, ProcessLike, unknown]>([
    ['has JSON as such where all of it is', {}, ended(0, ' [1]\n'), { json: [1] }],
    ['has a result as any other JSON', {}, ended(1, PASSED), { json: { passed: true } }],
    ['has no JSON where it is not whole', {}, ended(0, '[1]', { truncated: true }), { truncated: true }],
    ['has no JSON where it is not looked for', { output: 'exit_code' }, ended(0, '[1]'), { stdout: '[1]' }],
    ['has no JSON where it is none', {}, ended(0, 'x\n[1]'), { stdout: 'x\n[1]' }],
  ])('%s', (_, fields, process, value) => {
    const back = commandReturn(document({ kind: 'tool', ...fields }), process);
    expect(back).toMatchObject({ kind: 'value', value });
    const expected = Object.hasOwn(value as object, 'json');
    expect(back.kind === 'value' && Object.hasOwn(back.value as object, 'json')).toBe(expected);
  });

  it.each<[string, Partial<ToolDocument>, ProcessLike, string]>([
    ['ends with a code that means an error', { exit_codes: { '2': 'error' } }, ended(2), 'exit_code'],
    ['is not found', {}, ended(127, '', { stderr: 'sh: x: not found' }), 'not_found'],
    ['cannot be started', {}, ended(126), 'not_started'],
    ['must print JSON and prints nothing', { output: 'json' }, ended(0), 'no_output'],
    ['must print JSON and prints words', { output: 'json' }, ended(0, 'x'), 'malformed'],
    [
      'must print JSON and prints too much',
      { output: 'json' },
      ended(0, 'x', { truncated: true }),
      'truncated',
    ],
  ])('that %s is a failure', (_, fields, process, reason) => {
    expect(commandReturn(document({ kind: 'tool', ...fields }), process)).toMatchObject({
      kind: 'failure',
      reason,
    });
  });
});
