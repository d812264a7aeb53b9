import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Activations } from '../../../src/app/tools/activations.js';
import { ToolCaller, type ToolInput } from '../../../src/app/tools.js';
import type {
  CallableDocument,
  JsonObject,
  ToolDocument,
  ValidationDocument,
} from '../../../src/core/registry/model.js';
import type { Interpreter } from '../../../src/ports/interpreter.js';
import type { Matcher } from '../../../src/ports/matcher.js';
import { createMatcher } from '../../../src/runners/pattern-matcher.js';
import { QuickJsInterpreter } from '../../../src/runners/quickjs.js';

const interpreter = new QuickJsInterpreter(1);
beforeAll(() => interpreter.check('() => 1'), 30_000);
afterAll(() => interpreter.close());

const living = new AbortController().signal;
const SECRET = `ghp_${'a1'.repeat(20)}`;

function tool(fields: Partial<ToolDocument>): ToolDocument {
  return {
    kind: 'tool',
    name: 'local/tool',
    description: '',
    source: 'code',
    capability: { read_only: true, writes: false, checkpointable: false, network: false },
    lifecycle: {},
    idempotent: true,
    ...fields,
  };
}

function validation(fields: Partial<ValidationDocument>): ValidationDocument {
  const common = { ...tool({}), name: 'local/check', mode: 'required', confirm: 0 } as const;
  return { ...common, ...fields, kind: 'validation' };
}

const code = (source: string, fields: Partial<ToolDocument> = {}) => tool({ code: source, ...fields });
const around = (transform: string, fields: Partial<ValidationDocument> = {}) =>
  validation({ source: 'wrapped', wraps: 'local/tool', transform, ...fields });
const builtin = (validator: string) => tool({ name: `builtin/${validator}`, source: 'builtin', validator });

/** A caller without runners. */
function callerOf(given: Interpreter = interpreter, matcher: Matcher = createMatcher()) {
  const host = { serves: [], platform: 'linux', arch: 'x64', node: 'v20' };
  const activations = new Activations({ interpreter: given, host });
  const caller = new ToolCaller({
    interpreter: given,
    matcher,
    tools: { runners: {}, missing: {} },
    activations,
  });
  return {
    call: async (...args: Parameters<ToolCaller['call']>) => (await caller.call(...args)).outcome,
  };
}

function call(chain: CallableDocument[], input: Partial<ToolInput> = {}, matcher: Matcher = createMatcher()) {
  const whole = { args: {}, subject: null, resource: null, slot: null, ...input };
  return callerOf(interpreter, matcher).call({ chain }, whole, living);
}

const verdict = (outcome: string, more: object = {}) => ({
  kind: 'verdict',
  verdict: expect.objectContaining({ outcome, ...more }),
});
const failure = (reason: string, message: RegExp | string) => ({
  kind: 'failure',
  reason,
  message: expect.stringMatching(message),
});

describe('a tool of code', () => {
  it('gets arguments, subject, resource and slot, and brings its value as it is', async () => {
    const input = { args: { a: 1 }, subject: { b: [2] }, resource: 'repo/x', slot: 'source' };
    expect(await call([code('(given) => given')], input)).toEqual({ kind: 'value', value: input });
    expect(await call([code('() => null')])).toEqual({ kind: 'value', value: null });
    expect(await call([code(`() => '${SECRET}'`)])).toEqual({ kind: 'value', value: SECRET });
  });

  it.each([
    ['() => { throw new Error("boo") }', 'threw', /^local\/tool: threw Error: boo/],
    ['() => undefined', 'malformed', /returned undefined/],
    ['() => (', 'syntax', /no function expression/],
    ['() => "x".repeat(2 ** 29)', 'memory', /32 MiB/],
    ['() => (function f() { return f() + 1 })()', 'stack', /too deeply/],
  ])('fails where its function does: %s', async (source, reason, message) => {
    expect(await call([code(source)])).toEqual(failure(reason, message));
  });

  it('fails at its timeout', async () => {
    expect(await call([code('() => { for (;;); }', { timeout_ms: 30 })])).toEqual(
      failure('deadline', /30 ms/),
    );
  });
});

describe('a validation of code', () => {
  const check = (source: string, fields: Partial<ValidationDocument> = {}) =>
    call([validation({ code: source, ...fields })]);

  it('brings a verdict', async () => {
    expect(await check('() => ({ passed: true, message: "all 3", data: { n: 3 } })')).toEqual({
      kind: 'verdict',
      verdict: { outcome: 'pass', message: 'all 3', data: { n: 3 } },
    });
    expect(await check('() => ({ passed: false })')).toEqual(
      verdict('fail', { message: 'failed', data: {} }),
    );
    expect(await check('() => ({ passed: false, data: { retryable: false } })')).toEqual(
      verdict('fail', { data: { retryable: false } }),
    );
  });

  it.each([
    ['() => true', 'true'],
    ['() => ({ pass: true })', '{"pass":true}'],
    ['() => ({ passed: "yes" })', '{"passed":"yes"}'],
    ['() => ({ passed: true, data: [] })', '{"passed":true,"data":[]}'],
    ['() => {}', expect.stringContaining('returned undefined')],
    ['() => ({ passed: true, data: { n: NaN } })', expect.stringContaining('returned NaN at data.n')],
    ['() => Promise.resolve({ passed: true })', expect.stringContaining('must return its value')],
  ])('errs on a malformed return and keeps the original: %s', async (source, raw) => {
    expect(await check(source)).toEqual(
      verdict('error', {
        message: expect.stringMatching(/^malformed return/),
        data: { reason: 'malformed', raw_output: raw },
      }),
    );
  });

  it('says nothing that is secret, and no more than people read', async () => {
    const leaking = `() => ({ passed: false, message: 'found ${SECRET}', data: { deep: ['${SECRET}'], password: 'p' } })`;
    expect(await check(leaking)).toEqual(
      verdict('fail', {
        message: 'found [redacted]',
        data: { deep: ['[redacted]'], password: '[redacted]' },
      }),
    );
    expect(await check(`() => { throw new Error('${SECRET}') }`)).toEqual(failure('threw', /\[redacted\]/));
    const long = await check('() => ({ passed: false, message: "x".repeat(1e5) })');
    expect(long).toEqual(verdict('fail', { message: expect.stringMatching(/^x{4000}…$/) }));
  });
});

describe('wrapping', () => {
  it('interprets a tool’s output, each with its own arguments', async () => {
    const inner = code('({ args, subject }) => [args, subject]');
    const middle = around('(output, given) => ({ passed: false, message: "m", data: { output, given } })', {
      name: 'local/middle',
      argument_mapping: { limit: { from: 'most' }, unit: { value: 'kB' } },
    });
    const outer = around('(output, { args }) => ({ passed: !output.passed, data: { output, args } })', {
      wraps: 'local/middle',
      argument_mapping: { most: { from: 'top' } },
    });
    const input = { args: { top: 9 }, subject: 's', resource: 'repo/x', slot: 'source' };
    const given = { args: { most: 9 }, subject: 's', resource: 'repo/x' };
    const output = [{ limit: 9, unit: 'kB' }, 's'];
    expect(await call([outer, middle, inner], input)).toEqual(
      verdict('pass', {
        data: { output: { passed: false, message: 'm', data: { output, given } }, args: { top: 9 } },
      }),
    );
  });

  it.each([
    [
      '() => { throw new Error("boo") }',
      failure('transform', /^the transform of local\/check: threw Error: boo/),
    ],
    ['(', failure('transform', /no function expression/)],
    ['() => "x".repeat(2 ** 29)', failure('transform', /32 MiB/)],
    ['() => 7', verdict('error', { data: { reason: 'malformed', raw_output: '7' } })],
    [
      '() => {}',
      verdict('error', {
        data: { reason: 'malformed', raw_output: expect.stringContaining('returned undefined') },
      }),
    ],
  ])('errs where the transform does: %s', async (transform, answer) => {
    expect(await call([around(transform), code('() => 1')])).toEqual(answer);
  });

  it('never shows an error to a transform, which could make a pass of it', async () => {
    const passing = around('() => ({ passed: true })');
    expect(await call([passing, code('() => { throw 1 }')])).toEqual(failure('threw', /local\/tool/));
    const malformed = validation({ code: '() => 1', name: 'local/inner' });
    expect(await call([passing, malformed])).toEqual(
      verdict('error', { data: { reason: 'malformed', raw_output: '1' } }),
    );
    const bare = validation({ source: 'wrapped', wraps: 'local/tool' });
    expect(await call([bare, code('() => 1')])).toEqual(failure('internal', /without a transform/));
  });

  it('gives the whole chain one timeout, of which waiting for a turn is no part', async () => {
    const deadlines: number[] = [];
    const slow: Interpreter = {
      check: async () => undefined,
      async call(_source, _args, deadlineMs) {
        deadlines.push(deadlineMs);
        return { ok: true, value: { passed: true }, ms: 60 };
      },
    };
    const wrapped = [around('', { name: 'local/a' }), around('', { timeout_ms: 100 }), code('')];
    const input = { args: {}, subject: null, resource: null, slot: null };
    await callerOf(slow).call({ chain: wrapped }, input, living);
    expect(deadlines).toEqual([100, 40, -20]);
  });

  it('gives no function more than ten seconds, however long the tool may take', async () => {
    const deadlines: number[] = [];
    const quick: Interpreter = {
      check: async () => undefined,
      async call(_source, _args, deadlineMs) {
        deadlines.push(deadlineMs);
        return { ok: true, value: { passed: true } };
      },
    };
    const chain = [around('', { timeout_ms: 60_000 }), tool({ source: 'builtin', validator: 'task_count' })];
    const input = { args: { min: 0 }, subject: {}, resource: null, slot: null };
    await callerOf(quick).call({ chain }, input, living);
    expect(deadlines).toEqual([10_000]);
  });
});

describe('an output schema', () => {
  const schema: JsonObject = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };

  it('is held against what a tool brings back, before a transform sees it', async () => {
    const inner = (source: string) => code(source, { output_schema: schema });
    expect(await call([inner('() => ({ n: 1 })')])).toEqual({ kind: 'value', value: { n: 1 } });
    const chain = [around('() => ({ passed: true })'), inner('() => ({ n: "1" })')];
    expect(await call(chain)).toEqual({
      ...failure('output_schema', /^the output of local\/tool does not fit.*n/),
      data: { raw_output: expect.any(String) },
    });
  });

  it('is held against a validation’s structured return', async () => {
    const passes = (data: string) =>
      validation({
        code: `() => ({ passed: true, data: ${data} })`,
        output_schema: { properties: { data: schema } },
      });
    expect(await call([passes('{ n: 1 }')])).toEqual(verdict('pass'));
    expect(await call([passes('{}')])).toMatchObject({
      ...failure('output_schema', /data/),
      data: { raw_output: expect.stringContaining('"passed":true') },
    });
  });
});

describe('a built-in tool', () => {
  const run = {
    job: { resolution: `done with ${SECRET}` },
    tasks: [{ commands: ['ls', 'systemctl restart nginx'] }],
  };
  const pattern = (text: string, where = 'executed_commands', scope = 'tasks') => ({
    args: { pattern: text, where, scope },
    subject: run,
  });

  it('judges a run record, as a plain tool and as a validation', async () => {
    const own = validation({ source: 'builtin', validator: 'pattern_match' });
    expect(await call([own], pattern('restart'))).toEqual(
      verdict('pass', {
        data: expect.objectContaining({ excerpt: expect.stringContaining('restart nginx') }),
      }),
    );
    expect(await call([own], pattern('absent'))).toEqual(verdict('fail'));
    expect(await call([builtin('pattern_match')], pattern('RESTART'))).toMatchObject({
      kind: 'value',
      value: { passed: true, message: expect.stringContaining('found in executed_commands') },
    });
    expect(await call([builtin('task_count')], { args: { max: 0 }, subject: run })).toMatchObject({
      kind: 'value',
      value: { passed: false, data: { count: 1 } },
    });
    const status = {
      args: { pattern: 'no_tasks_created' },
      subject: { job: { resolution_status: 'No_Action' } },
    };
    expect(await call([builtin('job_resolution_status')], status)).toMatchObject({ value: { passed: true } });
  });

  it('quotes no secret', async () => {
    const answer = await call([builtin('pattern_match')], pattern('done.*', 'job_resolution', 'job'));
    expect(JSON.stringify(answer)).toContain('[redacted]');
    expect(JSON.stringify(answer)).not.toContain('a1a1');
  });

  it('wrapped by a negation, passes for lack of data only vacuously', async () => {
    const chain = [around('({ passed }) => ({ passed: !passed })'), builtin('pattern_match')];
    expect(await call(chain, pattern('absent'))).toEqual(verdict('pass', { data: {} }));
    expect(await call(chain, pattern('x', 'gateway_summary', 'gateway'))).toEqual(
      verdict('pass', { data: { vacuous: true } }),
    );
    expect(await call(chain, { ...pattern('x'), subject: {} })).toEqual(
      verdict('pass', { data: { vacuous: true } }),
    );
  });

  it.each([
    [
      'a snapshot that is no run record',
      { subject: { tasks: [{ commands: 'ls' }] } },
      'subject',
      /tasks\.0\.commands/,
    ],
    ['a snapshot that is no object', { subject: 'text' }, 'subject', /no object/],
    [
      'no scope where there are several',
      { args: { pattern: 'x', where: 'job_plan' } },
      'arguments',
      /scope must be/,
    ],
    [
      'a foreign scope',
      { args: { pattern: 'x', where: 'job_plan', scope: 'all' } },
      'arguments',
      /scope must be/,
    ],
    [
      'a bad pattern',
      { args: { pattern: '(', where: 'job_plan', scope: 'job' } },
      'arguments',
      /not a valid pattern/,
    ],
    [
      'a field of another scope',
      { args: { pattern: 'x', where: 'job_plan', scope: 'tasks' } },
      'arguments',
      /job_plan/,
    ],
    ['a missing field', { args: { where: 'job_plan', scope: 'job' } }, 'arguments', /^pattern/],
  ])('fails on %s', async (_what, input, reason, message) => {
    const whole = { ...pattern('x'), ...input } as Partial<ToolInput>;
    const answer = await call([builtin('pattern_match')], whole);
    expect(answer).toEqual(failure(reason, message));
  });

  it('fails where its search does, also below a transform', async () => {
    const matcher: Matcher = {
      matchAll: async (requests) =>
        requests.map(() => ({
          outcome: { kind: 'failure', reason: 'deadline', message: 'too slow' },
          ms: 1,
        })),
    };
    const own = validation({ source: 'builtin', validator: 'pattern_match' });
    expect(await call([own], pattern('x'), matcher)).toEqual(verdict('error', { message: 'too slow' }));
    const chain = [around('() => ({ passed: true })'), builtin('pattern_match')];
    expect(await call(chain, pattern('x'), matcher)).toEqual(failure('deadline', /too slow/));
  });

  it('is not there for playbooks, nor under an unknown name', async () => {
    expect(await call([builtin('ansible')], { subject: run })).toEqual(
      failure('no_runner', /no runner for it \(ansible/),
    );
    expect(await call([builtin('nobody')], { subject: run })).toEqual(failure('no_runner', /nobody/));
  });
});

describe('calling', () => {
  it.each(['command', 'mcp'] as const)('says that there is no runner for %s tools', async (source) => {
    const chain = [around('() => ({ passed: true })'), tool({ source })];
    expect(await call(chain)).toEqual(failure('no_runner', `no runner for it \\(${source}`));
  });

  it('ends at once, without an answer, when the worker is to stop', async () => {
    const stop = new AbortController();
    const hanging: Interpreter = { check: async () => undefined, call: () => new Promise(() => {}) };
    const caller = callerOf(hanging);
    const input = { args: {}, subject: null, resource: null, slot: null };
    const running = caller.call({ chain: [code('() => 1')] }, input, stop.signal);
    stop.abort();
    await expect(running).rejects.toThrow('the worker is shutting down');
    await expect(caller.call({ chain: [code('() => 1')] }, input, stop.signal)).rejects.toThrow(
      'shutting down',
    );
  });

  it('makes a failure of what breaks unexpectedly', async () => {
    const broken = { check: async () => undefined, call: () => Promise.reject(new Error('gone')) };
    const caller = callerOf(broken);
    const input = { args: {}, subject: null, resource: null, slot: null };
    expect(await caller.call({ chain: [code('')] }, input, living)).toEqual(failure('internal', /gone/));
  });
});
