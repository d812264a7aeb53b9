import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { Sandbox } from '../../../src/runners/quickjs/sandbox.js';

let sandbox = new Sandbox();

beforeEach(async () => {
  await sandbox.prepare();
});

function call(source: string, ...args: unknown[]) {
  return sandbox.run({ kind: 'call', source, args: JSON.stringify(args), deadlineMs: 5000 });
}

function within(deadlineMs: number, source: string) {
  return sandbox.run({ kind: 'call', source, args: '[]', deadlineMs });
}

const returned = (expression: string) => call(`() => (${expression})`);
const json = (text: string) => ({ ok: true, json: text });
const refused = (reason: string, message: string | RegExp) => ({
  ok: false,
  reason,
  message: typeof message === 'string' ? message : expect.stringMatching(message),
});

describe('a function in the sandbox', () => {
  it('is called with its arguments and brings its value back as JSON', () => {
    expect(
      call('(a, b) => ({ sum: a.x + b[1], text: a.text })', { x: 1, text: 'é😀\ud800' }, [0, 2]),
    ).toEqual(json('{"sum":3,"text":"é😀\\ud800"}'));
    expect(call('function twice(n) { return n * 2 }', 4)).toEqual(json('8'));
    expect(call('({ args }) => args // no more', { args: null })).toEqual(json('null'));
    expect(call('(() => { const known = 1; return (n) => n + known })()', 1)).toEqual(json('2'));
  });

  it('passes any JSON on as it is', () => {
    const same = (value: unknown) => {
      const text = JSON.stringify(value);
      expect(call('(value) => value', value)).toEqual(json(text));
    };
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }), same), { numRuns: 60 });
  });

  it.each([
    ['null', 'null'],
    ['[1, [true, "a\\0b"], {}]', '[1,[true,"a\\u0000b"],{}]'],
    ['-0', '0'],
    ['1e21', '1e+21'],
    ['Object.create(null)', '{}'],
    ['"x".match(/(?<n>x)/)', '["x","x"]'],
    ['({ get a() { return 3 } })', '{"a":3}'],
    ['new Proxy({ a: 1 }, {})', '{"a":1}'],
    ['({ a: undefined, b: 1 })', '{"b":1}'],
    ['({ toJSON: undefined, ["__proto__"]: 1 })', '{"__proto__":1}'],
  ])('may return %s', (expression, text) => {
    expect(returned(expression)).toEqual(json(text));
  });

  it.each([
    ['undefined', 'undefined'],
    ['NaN', 'NaN'],
    ['-1 / 0', '-Infinity'],
    ['1n', 'a BigInt'],
    ['() => 1', 'a function'],
    ['Symbol()', 'a symbol'],
    ['[1, undefined]', 'undefined at [1]'],
    ['[1, , 2]', 'undefined at [1]'],
    ['({ a: { b: [1, { c: NaN }] } })', 'NaN at a.b[1].c'],
    ['({ toJSON() { return 1 } })', 'a function at toJSON'],
    ['({ data: new Map() })', 'no plain object but a Map at data'],
    ['new Error("x")', 'no plain object but an Error'],
    ['/x/', 'no plain object but a RegExp'],
    ['new (class Foo {})()', 'no plain object but a Foo'],
    ['(function* () {})()', 'no plain object but a Generator'],
    ['Promise.resolve(1)', 'a promise: the function must return its value, not a promise of it'],
    ['(async () => { for (;;); })', 'a function'],
    ['import("node:fs")', 'a promise: the function must return its value, not a promise of it'],
    ['(() => { const a = { b: [] }; a.b.push(a); return a })()', 'what contains itself at b[0]'],
    ['Array.from({ length: 200 }).reduce((a) => [a], [])', 'lists or objects more than 128 levels deep'],
    ['"x".repeat(1024 * 1024)', 'more than 1 MiB of JSON'],
    ['"é".repeat(600 * 1024)', 'more than 1 MiB of JSON'],
    [
      '((long) => new Proxy([], { get: (t, key) => (key === "length" ? 1e9 : long) }))("x".repeat(1e5))',
      'more than 1 MiB of JSON',
    ],
  ])('may not return %s', (expression, what) => {
    expect(returned(expression)).toEqual(refused('malformed', `the function returned ${what}`));
  });

  it.each([
    ['throw new TypeError("boo")', 'TypeError: boo (line 2)'],
    ['throw new (class Mine extends Error {})("boo")', 'Error: boo (line 2)'],
    ['throw "text"', 'text'],
    ['throw { a: 1 }', '{"a":1}'],
    ['throw null', 'null'],
    ['throw undefined', 'undefined'],
    ['throw new Proxy({}, { get() { throw 1 } })', 'something that cannot be shown'],
    ['return { get a() { throw "late" } }', 'late'],
    ['return new Proxy({}, { ownKeys() { throw "late" } })', 'late'],
    ['undeclared = 1', "ReferenceError: 'undeclared' is not defined (line 2)"],
  ])('that says %s has thrown', (statement, message) => {
    expect(call(`() => {\n${statement}\n}`)).toEqual(refused('threw', message));
  });

  it('says no more of what was thrown than fits a message', () => {
    expect(call('() => { throw new Error("x".repeat(1e5)) }')).toEqual(
      refused('threw', /^Error: x{1000,2000}…$/),
    );
  });
});

describe('what is no function', () => {
  it.each([
    ['', 'it is not one expression'],
    ['(a) => a, (b) => b', 'it is not one expression'],
    ['1', 'it is 1'],
    ['null', 'it is null'],
    ['({ a: 1 })', 'it is an object'],
    ['"use strict"', 'it is a string'],
    ['async () => 1', 'it is an async function: it must return its value, not a promise of it'],
    ['async function* () {}', 'it is an async function: it must return its value, not a promise of it'],
    ['function* () {}', 'it is a generator: it must return its value'],
    ['class A {}', 'it is a class'],
    ['() => ({', 'unexpected end of the source (line 1)'],
    ['oops(', 'unexpected end of the source (line 1)'],
    ['() => {\n  a(;\n}\n', "unexpected token in expression: ';' (line 2)"],
    ['({ args }) => {\n  return [1, 2;\n}', /line 2/],
    ['() => {\n  return {\n}\n\n', 'unexpected end of the source (line 3)'],
    ['() => 1]', 'expecting its end (line 1)'],
    ['() => 1)', 'expecting its end (line 1)'],
    ['\n() => {\n a b }', "expecting ';' (line 3)"],
    ['() => 1;', 'expecting its end (line 1)'],
    ['missing', "ReferenceError: 'missing' is not defined (line 1)"],
    ['export default 1', /line 1/],
    ['return () => 1', /line 1/],
  ])('is told apart: %s', (source, message) => {
    expect(sandbox.run({ kind: 'check', source, args: '[]', deadlineMs: 5000 })).toEqual(
      refused('syntax', message),
    );
    expect(call(source)).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/syntax|malformed|threw/),
    });
  });

  it('is found out without a call of what is one', () => {
    const check = { kind: 'check', source: '() => { throw 1 }', args: '[]', deadlineMs: 5000 } as const;
    expect(sandbox.run(check)).toEqual(json(''));
  });
});

describe('purity', () => {
  it.each(['Date.now()', 'new Date()', 'Date()', 'Date.parse("2020-01-01")', 'Math.random()'])(
    'leaves no %s, and says why',
    (expression) => {
      expect(returned(expression)).toEqual(refused('threw', /no clock here|Math\.random is not available/));
    },
  );

  it('has nothing of the world outside', () => {
    const names = [
      'process',
      'require',
      'fetch',
      'console',
      'performance',
      'setTimeout',
      'WebAssembly',
      'Atomics',
    ];
    expect(returned(JSON.stringify(names).replaceAll(/"(\w+)"/g, 'typeof $1'))).toEqual(
      json(JSON.stringify(names.map(() => 'undefined'))),
    );
    const wayOut = '({}).constructor.constructor("return typeof process + typeof globalThis")()';
    expect(returned(wayOut)).toEqual(json('"undefinedobject"'));
  });

  it('keeps nothing from one call to the next, whatever a call does to the globals', () => {
    const vandal = `() => {
      Object.prototype.polluted = 1; Array.prototype.push = null; globalThis.kept = 1;
      JSON.parse = JSON.stringify = () => 'mine'; Object.keys = () => ['x']; Reflect.apply = null;
      return { fine: [1] };
    }`;
    expect(call(vandal)).toEqual(json('{"fine":[1]}'));
    const look = '(a) => [typeof kept, ({}).polluted === undefined, [1].push(2), JSON.stringify(a)]';
    expect(call(look, { b: 1 })).toEqual(json('["undefined",true,2,"{\\"b\\":1}"]'));
  });
});

describe('limits', () => {
  it.each([
    ['a loop', 'for (;;);'],
    ['a loop that catches everything', 'for (;;) try { for (;;); } catch {} finally { continue; }'],
    ['a pattern that backtracks without end', 'return /(a+)+$/.test("a".repeat(40) + "!")'],
    ['a trap of what it returns', 'return new Proxy({}, { ownKeys() { for (;;); } })'],
    ['a getter of what it throws', 'throw { get message() { for (;;); }, [Symbol.toStringTag]: "Error" }'],
    ['a replaced built-in', 'String.prototype.slice = () => { for (;;); }; throw new Error("x")'],
  ])('end %s at the deadline', async (_what, body) => {
    const started = performance.now();
    expect(within(30, `() => { ${body} }`)).toEqual(
      refused('deadline', 'the function did not return within 30 ms'),
    );
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it.each([
    ['one huge text', '"x".repeat(2 ** 29)'],
    ['one huge list', 'new Uint8Array(64 * 1024 * 1024)'],
    ['many lists', '(() => { const all = []; for (;;) all.push(new Uint8Array(2 ** 22)); })()'],
    [
      'many small objects where lists have left little',
      '(() => { const all = []; try { for (;;) all.push(new Uint8Array(2 ** 18)); } catch {} for (;;) all.push({ all }); })()',
    ],
  ])('refuse memory for %s', (_what, expression) => {
    expect(returned(expression)).toEqual(refused('memory', 'the function needs more than 32 MiB of memory'));
  });

  it.each([
    ['recursion', '(function f() { return f() + 1 })()'],
    ['JSON that is nested too deeply', 'JSON.parse("[".repeat(1e5) + "]".repeat(1e5))'],
    ['a pattern that is nested too deeply', 'new RegExp("(?:".repeat(5000) + ")".repeat(5000))'],
    ['source that is nested too deeply', 'eval("(".repeat(20000) + 1 + ")".repeat(20000))'],
  ])('stop %s', (_what, expression) => {
    expect(returned(expression)).toEqual(refused('stack', /nested too deeply/));
  });

  it('hold for the arguments as well', () => {
    const args = `[${'['.repeat(50_000)}${']'.repeat(50_000)}]`;
    const source = '() => 1';
    expect(sandbox.run({ kind: 'call', source, args, deadlineMs: 5000 })).toEqual(
      refused('stack', /nested too deeply/),
    );
  });

  it('leave an interpreter that works, each time', async () => {
    for (const body of ['for (;;);', 'return eval("(".repeat(5e4))', 'return "x".repeat(2 ** 29)']) {
      expect(within(20, `() => { ${body} }`)).toMatchObject({ ok: false });
      await sandbox.prepare();
      expect(call('(n) => n + 1', 1)).toEqual(json('2'));
    }
  });

  it('do without an interpreter that was never loaded', () => {
    sandbox = new Sandbox();
    expect(call('() => 1')).toEqual(refused('internal', 'the interpreter is not loaded'));
  });
});
