import { describe, expect, it } from 'vitest';
import { lastFailure, lastTellingLine } from '../../../../src/core/command/tail.js';

const NODE_TAP = `
# Subtest: adds
not ok 1 - adds
  ---
  duration_ms: 4.778526
  failureType: 'testCodeFailure'
  error: |-
    Expected values to be strictly equal:

    2 !== 3

  code: 'ERR_ASSERTION'
  name: 'AssertionError'
  expected: 3
  stack: |-
    TestContext.<anonymous> (/tmp/work/a.test.js:2:25)
  ...
# Subtest: ok
ok 2 - ok
  ---
  duration_ms: 0.351689
  ...
1..2
# tests 2
# fail 1
# duration_ms 427.185537
`;

const NODE_SPEC = `
ℹ fail 1
ℹ duration_ms 491.758022

✖ failing tests:

test at a.test.js:2:1
✖ adds (11.848437ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  2 !== 3

      at TestContext.<anonymous> (/tmp/work/a.test.js:2:25) {
    code: 'ERR_ASSERTION',
    operator: 'strictEqual'
  }
`;

const PYTEST = `
E   AssertionError: 1 != 2

test_a.py:5: AssertionError
=========================== short test summary info ============================
FAILED test_a.py::test_adds - assert (1 + 1) == 3
FAILED test_a.py::T::test_u - AssertionError: 1 != 2
============================== 2 failed in 4.85s ===============================
`;

const UNITTEST = `
F
======================================================================
FAIL: test_u (test_a.T.test_u)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/tmp/work/test_a.py", line 5, in test_u
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 1 test in 0.001s

FAILED (failures=1)
`;

const JEST = `FAIL ./a.test.js
  ✓ ok (1 ms)
  ● sum › adds

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 2

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 passed, 2 total
Snapshots:   0 total
Time:        0.512 s
Ran all test suites.
`;

const VITEST_OUT = `
 \u001b[31m❯\u001b[39m a.test.ts \u001b[2m(\u001b[22m2 tests | \u001b[31m1 failed\u001b[39m)
\u001b[31m     \u001b[31m×\u001b[31m adds\u001b[39m\u001b[32m 18\u001b[2mms\u001b[22m\u001b[39m
\u001b[2m Test Files \u001b[22m \u001b[1m\u001b[31m1 failed\u001b[39m\u001b[22m\u001b[90m (1)\u001b[39m
\u001b[2m   Duration \u001b[22m 940ms
`;

const VITEST_ERR = `
\u001b[31m⎯⎯⎯⎯⎯⎯⎯\u001b[39m\u001b[1m\u001b[41m Failed Tests 1 \u001b[49m\u001b[22m\u001b[31m⎯⎯⎯⎯⎯⎯⎯\u001b[39m

\u001b[41m\u001b[1m FAIL \u001b[22m\u001b[49m a.test.ts\u001b[2m > \u001b[22msum\u001b[2m > \u001b[22madds
\u001b[31m\u001b[1mAssertionError\u001b[22m: expected 2 to be 3 // Object.is equality\u001b[39m

\u001b[36m \u001b[2m❯\u001b[22m a.test.ts:\u001b[2m2:48\u001b[22m\u001b[39m
\u001b[31m\u001b[2m⎯⎯⎯⎯⎯⎯\u001b[1/1]⎯\u001b[22m\u001b[39m
`;

const NODE_THROWS = `file:///tmp/work/check.mjs:3
throw new Error('no licence');
      ^

Error: no licence
    at file:///tmp/work/check.mjs:3:7
    at ModuleJob.run (node:internal/modules/esm/module_job:222:25)

Node.js v20.20.2
`;

describe('the line that tells a failure', () => {
  it.each<[string, string, string, string]>([
    ['node --test, as TAP', '', NODE_TAP, 'not ok 1 - adds'],
    ['node --test, with a warning', '(node:7) ExperimentalWarning: x\n', NODE_TAP, 'not ok 1 - adds'],
    ['node --test, for people', '', NODE_SPEC, '✖ adds (11.848437ms)'],
    ['pytest', '', PYTEST, 'FAILED test_a.py::T::test_u - AssertionError: 1 != 2'],
    ['unittest', UNITTEST, '', 'FAIL: test_u (test_a.T.test_u)'],
    ['jest', JEST, '', '● sum › adds'],
    ['vitest', VITEST_ERR, VITEST_OUT, 'FAIL  a.test.ts > sum > adds'],
    ['vitest, where its errors were left out', '', VITEST_OUT, '× adds 18ms'],
    [
      'make',
      'a.c:3:5: error: expected declaration\nmake: *** [Makefile:2: all] Error 1\n',
      'building\n',
      'a.c:3:5: error: expected declaration',
    ],
    [
      'make, with a silent rule',
      'make: *** [Makefile:2: all] Error 1\n',
      'building\n',
      'make: *** [Makefile:2: all] Error 1',
    ],
    [
      'a shell with set -e',
      'cat: missing: No such file or directory\n',
      'step one\n',
      'cat: missing: No such file or directory',
    ],
    ['a script of Node that throws', NODE_THROWS, '', 'Error: no licence'],
    [
      'a script of Python that throws',
      'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: bad\n',
      '',
      'ValueError: bad',
    ],
    [
      'go test',
      '',
      '--- FAIL: TestAdds (0.00s)\n    a_test.go:5: 2 != 3\nFAIL\n',
      '--- FAIL: TestAdds (0.00s)',
    ],
    [
      'cargo test',
      'error: test failed, to rerun pass `--lib`\n',
      'test result: FAILED. 1 passed\n',
      'error: test failed, to rerun pass `--lib`',
    ],
    ['nothing that failed', '', '10 passed, 0 failed\nfailed=0\ncoverage is 40 %\n', 'coverage is 40 %'],
    ['what may fail', '', 'not ok 1 - later # TODO\n2 problems\n', '2 problems'],
    ['one that says it on standard error', '3 problems\n', 'failed logins are looked for\n', '3 problems'],
  ])('of %s', (_, stderr, stdout, line) => {
    expect(lastFailure(stderr, stdout)).toBe(line);
  });

  it('is looked for further back than what is kept', () => {
    const passed = Array.from({ length: 500 }, (_, n) => `ok ${n + 2} - fine\n  ---\n  ...\n`).join('');
    expect(lastFailure('', `not ok 1 - adds\n${passed}`)).toBe('not ok 1 - adds');
  });

  it('is none where nothing is told', () => {
    expect(lastFailure('', '---\n\n')).toBeUndefined();
    expect(lastTellingLine('', '---\n\n')).toBeUndefined();
  });

  it.each([
    ['blanks', ' '],
    ['colours', '\u001b['],
    ['colours that go on', '\u001b[0;'],
    ['titles', '\u001b]'],
    ['line ends', '\r\n'],
    ['names of failures', 'FAIL '],
    ['words of failures', '0 failed='],
    ['what is no error', 'error: |'],
    ['tests that may fail', 'not ok # TODO'],
  ])('is found at once in a megabyte of %s', (_, piece) => {
    const text = piece.repeat(2 ** 20 / piece.length);
    const started = performance.now();
    for (const ending of ['', 'x', '\nFAIL', ` ${piece}\n`]) lastFailure(text + ending, `not ok ${text}`);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
