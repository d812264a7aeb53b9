import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Activations } from '../../../src/app/tools/activations.js';
import { ToolCaller, type ToolInput } from '../../../src/app/tools.js';
import { resolveTool } from '../../../src/core/registry/closure.js';
import type { ToolRunner } from '../../../src/ports/runner.js';
import { createMatcher } from '../../../src/runners/pattern-matcher.js';
import { QuickJsInterpreter } from '../../../src/runners/quickjs.js';
import { given, registryOf } from '../core/registry/build.js';

const interpreter = new QuickJsInterpreter(1);
beforeAll(() => interpreter.check('() => 1'), 30_000);
afterAll(() => interpreter.close());

const living = new AbortController().signal;
const any = { type: 'object' };

const registry = registryOf(
  given(
    'tool',
    { name: 'double', code: '({ args }) => args.n * 2', input_schema: any },
    { name: 'command', command: ['x'], read_only: true },
    { name: 'broken', code: '() => { throw new Error("boo") }' },
    {
      kind: 'validation',
      name: 'small',
      code: '({ args }) => ({ passed: args.n < 10, message: "is " + args.n, data: { n: args.n } })',
      input_schema: any,
    },
    {
      name: 'inner',
      input_schema: any,
      graph: {
        nodes: { a: { tool: 'double', arguments: { n: { from: '/args/n' } } } },
        output: { from: '/nodes/a' },
      },
    },
    {
      kind: 'validation',
      name: 'outer',
      input_schema: any,
      graph: {
        nodes: {
          twice: { tool: 'inner', arguments: { n: { from: '/args/n' } } },
          small: { tool: 'small', arguments: { n: { from: '/nodes/twice' } } },
        },
      },
    },
    {
      kind: 'validation',
      name: 'around',
      wraps: 'outer',
      transform: '(output) => ({ passed: !output.passed, message: output.message })',
    },
    {
      kind: 'validation',
      name: 'errs',
      graph: {
        nodes: { inside: { tool: 'bad' }, small: { tool: 'small', arguments: { n: { value: 1 } } } },
      },
    },
    { name: 'bad', graph: { nodes: { boo: { tool: 'broken' } } } },
    { kind: 'validation', name: 'around-errs', wraps: 'errs', transform: '() => ({ passed: true })' },
    { name: 'ten', graph: { nodes: nodes(10, 'command') } },
    { name: 'hundred', graph: { nodes: nodes(10, 'ten') } },
  ),
);

function nodes(count: number, tool: string) {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, { tool }]));
}

function call(name: string, more: Partial<ToolInput> = {}, command?: ToolRunner) {
  const host = { serves: [], platform: 'linux', arch: 'x64', node: 'v20' };
  const tools = { runners: command === undefined ? {} : { command }, missing: {} };
  const activations = new Activations({ interpreter, host });
  const caller = new ToolCaller({ interpreter, matcher: createMatcher(), tools, activations });
  const input = { args: {}, subject: null, resource: null, slot: null, ...more };
  return caller.call(resolveTool(registry, name), input, living);
}

describe('calling a graph', () => {
  it('calls graphs in it, and what wraps it gets what it returns', async () => {
    const data = { nodes: { small: { passed: true, message: 'is 6' } } };
    expect(await call('outer', { args: { n: 3 } })).toEqual({
      outcome: { kind: 'verdict', verdict: { outcome: 'pass', message: '1 of 1 validations passed', data } },
      readOnly: 'enforced',
    });
    expect((await call('around', { args: { n: 7 } })).outcome).toMatchObject({
      verdict: { outcome: 'pass', message: '0 of 1 validations passed: small failed (is 14)' },
    });
  });

  it('errs where a graph in it errs, and no transform around it makes that a pass', async () => {
    const message = /inside \(node: 1 node errored: boo \(threw: local\/broken: threw Error: boo/;
    for (const name of ['errs', 'around-errs'])
      expect((await call(name)).outcome).toMatchObject({
        kind: 'failure',
        reason: 'node',
        message: expect.stringMatching(message),
        data: { evidence: { inside: { errored: [{ node: 'boo', reason: 'threw' }] } } },
      });
  });

  it('runs eight processes at a time, however many graphs are in each other', async () => {
    let running = 0;
    let most = 0;
    let calls = 0;
    const command: ToolRunner = {
      async run({ deadlineMs }) {
        calls += 1;
        running += 1;
        most = Math.max(most, running);
        expect(deadlineMs).toBeGreaterThan(0);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return { outcome: { kind: 'value', value: 1 }, readOnly: calls === 50 ? 'declared' : 'enforced' };
      },
      async close() {},
    };
    const { outcome, readOnly } = await call('hundred', {}, command);
    expect(outcome).toMatchObject({ kind: 'value', value: { n9: { n9: 1 } } });
    expect({ calls, most, readOnly }).toEqual({ calls: 100, most: 8, readOnly: 'declared' });
  });

  it('says which node has no runner on this worker', async () => {
    expect((await call('ten')).outcome).toMatchObject({
      kind: 'failure',
      data: {
        errored: expect.arrayContaining([expect.objectContaining({ node: 'n0', reason: 'no_runner' })]),
      },
    });
  });
});
