import { describe, expect, it } from 'vitest';
import { lastWords } from '../../../src/runners/mcp/last-words.js';

const TRAILER = '\n\nNode.js v20.20.2\n';
const ADVICE =
  '; in the sandbox it reads only what is under its paths (mcp_servers.links.paths in the settings)';
const FOR_ROOT = ' and open to everybody, because this worker is root';

const NO_MODULE = `node:internal/modules/esm/resolve:283
    throw new ERR_MODULE_NOT_FOUND(
          ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/links.mjs
    at finalizeResolution (node:internal/modules/esm/resolve:283:11)
    at defaultResolve (node:internal/modules/esm/resolve:1188:11) {
  code: 'ERR_MODULE_NOT_FOUND',
  url: 'file:///srv/missing.mjs'
}${TRAILER}`;

const NO_FILE = `node:fs:573
  return binding.open(
                 ^

Error: ENOENT: no such file or directory, open '/srv/data'
    at Object.openSync (node:fs:573:18) {
  errno: -2,
  code: 'ENOENT',
  path: '/srv/data'
}${TRAILER}`;

const NO_SCRIPT = `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/srv/links.js'
Require stack:
- /srv/[eval]
    at Module._load (node:internal/modules/cjs/loader:1038:27) {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}${TRAILER}`;

describe('what a server said before it ended', () => {
  it.each([
    ['nothing', '', ''],
    ['blank lines', '\n \n', ''],
    ['a line', 'no licence found\n', '; it said last: no licence found'],
    ['an error, and more', 'Error: no key\nbye\n', '; it said: Error: no key'],
    ['nothing but the trailer', TRAILER, '; it said last: Node.js v20.20.2'],
    ['a word, and the trailer', `on fire${TRAILER}`, '; it said: on fire'],
    [
      'an error of Node',
      `/srv/a.js:1\nthrow new TypeError('x');\n^\n\nTypeError: x is odd\n    at /srv/a.js:1:7${TRAILER}`,
      '; it said: TypeError: x is odd',
    ],
    [
      'a package that is missing',
      NO_MODULE,
      `; it said: Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/links.mjs${ADVICE}`,
    ],
    ['a script that is missing', NO_SCRIPT, `; it said: Error: Cannot find module '/srv/links.js'${ADVICE}`],
    [
      'a file that is missing',
      NO_FILE,
      `; it said: Error: ENOENT: no such file or directory, open '/srv/data'${ADVICE}`,
    ],
    [
      'a script of Python that is missing',
      "python3: can't open file '/srv/a.py': [Errno 2] No such file or directory\n",
      `; it said last: python3: can't open file '/srv/a.py': [Errno 2] No such file or directory${ADVICE}`,
    ],
    [
      'a module of Python that is missing',
      'Traceback (most recent call last):\n  File "/srv/a.py", line 1\nModuleNotFoundError: No module named \'mcp\'\n',
      `; it said last: ModuleNotFoundError: No module named 'mcp'${ADVICE}`,
    ],
  ])('is told: %s', (_what, stderr, words) => {
    expect(lastWords(stderr, 'links', false)).toBe(words);
    expect(lastWords(stderr, 'links', true)).toBe(words.endsWith(ADVICE) ? words + FOR_ROOT : words);
  });

  it('is cut where it is long', () => {
    expect(lastWords(`Error: ${'x'.repeat(1e5)}`, 'links', false).length).toBeLessThan(250);
  });
});
