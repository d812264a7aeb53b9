import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Activations } from '../../src/app/tools/activations.js';
import { type ToolAnswer, ToolCaller } from '../../src/app/tools.js';
import { resolveTool } from '../../src/core/registry/closure.js';
import { createMatcher } from '../../src/runners/pattern-matcher.js';
import { QuickJsInterpreter } from '../../src/runners/quickjs.js';
import { newTraces, type Traces, traces } from '../support/traces.js';
import { given, registryOf } from '../unit/core/registry/build.js';

/** Timeouts of functions that never end, and of all others; these are slow on a busy machine. */
const ENDLESS = '300ms';
const TIMEOUT = '5s';
/** Longest time that a call may take, the turns of all others included. */
const SLACK_MS = 30_000;

const PASS = '{ passed: true }';
const then = (statement: string) => `() => { ${statement}; return ${PASS}; }`;

const LATE = /did not return within/;
const STACK = /nested too deeply/;
const MEMORY = /memory|too long/;
const MALFORMED = /malformed|the function returned/;

/** What a function does, its source, and what its failure says. */
const HOSTILE: [string, string, RegExp][] = [
  ['loops', then('for (;;) {}'), LATE],
  ['loops inside the interpreter', then('Array(2 ** 30).fill(0).sort()'), /did not return within|memory/],
  ['searches a text without end', then('/(a+)+$/.test("a".repeat(60) + "b")'), /did not return within|threw/],
  ['catches what would stop it', '() => { for (;;) try { for (;;) {} } catch {} }', LATE],
  ['recurses', '() => { const f = () => f() + 1; return f(); }', STACK],
  [
    'recurses and catches',
    `() => { const f = () => { try { f(); } catch { f(); } }; f(); return ${PASS}; }`,
    /nested too deeply|did not return within/,
  ],
  ['parses what is nested without end', then('JSON.parse("[".repeat(1e6))'), /nested too deeply|threw/],
  [
    'allocates lists without end',
    '() => { const all = []; for (;;) all.push(Array(1000).fill(7)); }',
    /memory|did not return within/,
  ],
  ['allocates text without end', '() => { let text = "x"; for (;;) text += text; }', MEMORY],
  ['allocates a buffer that is too large', then('new Uint8Array(2 ** 31 - 1).fill(1)'), MEMORY],
  ['returns more than is taken', '() => ({ passed: true, message: "x".repeat(2 ** 21) })', MALFORMED],
  ['never answers', `async () => { await new Promise(() => {}); return ${PASS}; }`, /promise|async/],
  ['returns a promise', `() => Promise.resolve(${PASS})`, /promise/],
  ['returns NaN', '() => NaN', MALFORMED],
  ['returns NaN for passed', '() => ({ passed: NaN })', MALFORMED],
  ['returns a word for passed', '() => ({ passed: "yes" })', MALFORMED],
  ['returns nothing', '() => {}', MALFORMED],
  ['returns a getter that throws', '() => ({ get passed() { throw new Error("no"); } })', /no/],
  ['returns what contains itself', '() => { const a = { passed: true }; a.data = a; return a; }', MALFORMED],
  ['returns a proxy that never ends', '() => new Proxy({}, { ownKeys() { for (;;) {} } })', LATE],
  ['throws nothing', '() => { throw undefined; }', /threw/],
  ['throws a getter', '() => { throw { get message() { for (;;) {} } }; }', /threw|did not return within/],

  ['reaches for require', then('require("node:fs")'), /require/],
  [
    'reaches into import()',
    '() => ({ passed: import("node:fs").existsSync("/") })',
    /existsSync|not a function|import/,
  ],
  ['waits for import()', `() => import("node:fs")`, /promise|import|module/],
  ['reaches for fetch', then('fetch("http://127.0.0.1/")'), /fetch/],
  ['reaches for process', then('process.exit(0)'), /process/],
  [
    'reaches for the process of a constructor',
    `() => ({ passed: [].constructor.constructor("return process")().pid > 0 })`,
    /process/,
  ],
  [
    'reaches for it by a generator',
    `() => ({ passed: (function* () {}).constructor("return process")().next().value.pid > 0 })`,
    /process/,
  ],
  [
    'reaches for it by an error',
    `() => { try { null.x; } catch (e) { return { passed: e.constructor.constructor("return process")().pid > 0 }; } }`,
    /process/,
  ],
  ['reaches for timers', then('setTimeout(() => {}, 0)'), /setTimeout/],
  ['reaches for WebAssembly', then('WebAssembly.Memory'), /WebAssembly/],
  ['reaches for std of QuickJS', then('std.open("/etc/passwd", "r")'), /std/],
  ['reaches for os of QuickJS', then('os.exec(["id"])'), /os/],
  ['reads the clock', '() => ({ passed: Date.now() > 0 })', /no clock/],
  ['makes a date', '() => ({ passed: new Date() > 0 })', /no clock/],
  [
    'makes a date by another way to it',
    '() => ({ passed: new globalThis.Date(0).getTime() === 0 })',
    /no clock/,
  ],
  ['measures time', '() => ({ passed: performance.now() > 0 })', /performance/],
  ['throws dice', '() => ({ passed: Math.random() < 2 })', /Math.random/],
];

const name = (n: number) => `hostile${n}`;

describe.each(['code', 'a transform'])('%s', (kind) => {
  const documents = HOSTILE.map(([, source, reason], n) => {
    const fields = kind === 'code' ? { code: source } : { wraps: 'plain', transform: source };
    return { name: name(n), ...fields, timeout: /within/.test(reason.source) ? ENDLESS : TIMEOUT };
  });
  const registry = registryOf([
    ...given('tool', { name: 'plain', code: '() => 1', timeout: '10s' }),
    ...given('validation', ...documents),
    ...given('validation', { name: 'neighbour', code: `() => (${PASS})`, timeout: '10s' }),
  ]);
  const interpreter = new QuickJsInterpreter(4);
  const caller = new ToolCaller({
    interpreter,
    matcher: createMatcher(),
    tools: { runners: {}, missing: {} },
    activations: new Activations({ interpreter, host: { serves: [], platform: '', arch: '', node: '' } }),
  });
  const answers = new Map<string, { answer: ToolAnswer; ms: number }>();
  let before: Traces;

  async function timed(tool: string): Promise<{ answer: ToolAnswer; ms: number }> {
    const started = performance.now();
    const input = { args: {}, subject: null, resource: null, slot: null };
    const { outcome } = await caller.call(resolveTool(registry, tool), input, new AbortController().signal);
    return { answer: outcome, ms: performance.now() - started };
  }

  beforeAll(async () => {
    before = traces();
    const all = documents.map(async (each) => answers.set(each.name, await timed(each.name)));
    const neighbours = [1, 2, 3].map(async (n) => answers.set(`neighbour${n}`, await timed('neighbour')));
    await Promise.all([...all, ...neighbours]);
  });

  afterAll(async () => {
    await caller.close();
    await interpreter.close();
  });

  it.each(HOSTILE.map(([what, , reason], n) => ({ what, reason, n })))(
    'that $what is an error with its reason, on time',
    ({ reason, n }) => {
      const { answer, ms } = answers.get(name(n)) ?? { answer: undefined, ms: 0 };
      const told =
        answer?.kind === 'failure'
          ? `${answer.reason}: ${answer.message}`
          : answer?.kind === 'verdict' && answer.verdict.outcome === 'error'
            ? answer.verdict.message
            : `no error: ${JSON.stringify(answer)}`;
      expect(told).toMatch(reason);
      expect(told).not.toMatch(/^no error/);
      if (answer?.kind === 'verdict') expect(answer.verdict.data.raw_output).toBeTypeOf('string');
      expect(ms).toBeLessThan(SLACK_MS);
    },
  );

  it.each([1, 2, 3])('keeps no other check of the same caller from passing (%i)', (n) => {
    expect(answers.get(`neighbour${n}`)?.answer).toMatchObject({
      kind: 'verdict',
      verdict: { outcome: 'pass' },
    });
  });

  it('leaves nothing behind', async () => {
    await caller.close();
    await interpreter.close();
    expect(await newTraces(before)).toEqual([]);
  });
});
