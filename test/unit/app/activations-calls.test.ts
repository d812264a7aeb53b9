import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Activations } from '../../../src/app/tools/activations.js';
import { ToolCaller } from '../../../src/app/tools.js';
import type { CallableDocument, ToolDocument, ValidationDocument } from '../../../src/core/registry/model.js';
import type { ToolRun, ToolRunner } from '../../../src/ports/runner.js';
import { createMatcher } from '../../../src/runners/pattern-matcher.js';
import { QuickJsInterpreter } from '../../../src/runners/quickjs.js';

const interpreter = new QuickJsInterpreter(1);
beforeAll(() => interpreter.check('() => 1'), 30_000);
afterAll(() => interpreter.close());

const COMMON = {
  description: '',
  capability: { read_only: true, writes: false, checkpointable: false, network: false },
  lifecycle: {},
  idempotent: true,
} as const;

const tool = (fields: Partial<ToolDocument>): ToolDocument => ({
  ...COMMON,
  kind: 'tool',
  name: 'local/tool',
  source: 'code',
  ...fields,
});
const around = (fields: Partial<ValidationDocument>): ValidationDocument => ({
  ...COMMON,
  kind: 'validation',
  name: 'local/check',
  source: 'wrapped',
  wraps: 'local/tool',
  mode: 'required',
  confirm: 0,
  ...fields,
});

/** What a chain brings, with a runner for commands that keeps what it was asked to run. */
async function called(...chain: CallableDocument[]) {
  const runs: ToolRun[] = [];
  const command: ToolRunner = {
    async run(run) {
      runs.push(run);
      return { outcome: { kind: 'value', value: 'ran' }, readOnly: 'enforced' };
    },
    async close() {},
  };
  const caller = new ToolCaller({
    interpreter,
    matcher: createMatcher(),
    tools: { runners: { command }, missing: {} },
    activations: new Activations({
      interpreter,
      host: { serves: ['command'], platform: 'linux', arch: 'x64', node: 'v20' },
    }),
  });
  const input = { args: { n: 1 }, subject: 's', resource: 'repo/x', slot: null };
  const { outcome } = await caller.call({ chain }, input, new AbortController().signal);
  await caller.close();
  return { outcome, runs };
}

describe('a call of a tool with hooks', () => {
  it('hands the state to its code', async () => {
    const { outcome } = await called(
      tool({ code: '({ args, state }) => [args.n, state]', lifecycle: { activate: '() => 7' } }),
    );
    expect(outcome).toEqual({ kind: 'value', value: [1, 7] });
  });

  it('hands the state and what execute changed to its runner', async () => {
    const lifecycle = { activate: '() => 7', execute: '({ args }) => ({ args: { n: args.n + 1 } })' };
    const { runs } = await called(tool({ source: 'command', command: ['true'], lifecycle }));
    expect(runs).toMatchObject([{ args: { n: 2 }, subject: 's', state: 7 }]);
  });

  it('hands no state where nothing activates', async () => {
    const { runs } = await called(tool({ source: 'command', command: ['true'] }));
    expect(runs[0]).not.toHaveProperty('state');
  });

  it('does not run what discover refuses', async () => {
    const { outcome, runs } = await called(
      tool({ source: 'command', command: ['true'], lifecycle: { discover: '() => "no license"' } }),
    );
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'not_available' });
    expect(runs).toEqual([]);
  });

  it('runs the hooks of a wrapping validation around those of what it wraps', async () => {
    const outer = around({
      argument_mapping: { m: { from: 'n' } },
      transform: '(output, { args, state }) => ({ passed: true, data: { output, args, state } })',
      lifecycle: { activate: '() => "outer"', execute: '({ args }) => ({ args: { n: args.n * 10 } })' },
    });
    const inner = tool({
      code: '({ args, state }) => [args, state]',
      lifecycle: { activate: '() => "inner"', execute: '({ args }) => ({ args: { m: args.m + 1 } })' },
    });
    const { outcome } = await called(outer, inner);
    const data = { output: [{ m: 11 }, 'inner'], args: { n: 10 }, state: 'outer' };
    expect(outcome).toMatchObject({ kind: 'verdict', verdict: { outcome: 'pass', data } });
  });

  it('does not run what is wrapped where the wrapping validation cannot run', async () => {
    const outer = around({ transform: '() => ({ passed: true })', lifecycle: { discover: '() => false' } });
    const { outcome, runs } = await called(outer, tool({ source: 'command', command: ['true'] }));
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'not_available' });
    expect(runs).toEqual([]);
  });
});
