import { describe, expect, it, vi } from 'vitest';
import { Executor } from '../../../src/app/execute.js';
import { PlanExecutor } from '../../../src/app/plan/execute.js';
import type { Serving } from '../../../src/app/serving.js';
import type { ToolAnswer, ToolInput } from '../../../src/app/tools.js';
import { digestOf } from '../../../src/core/digest.js';
import { canonicalJson } from '../../../src/core/json.js';
import type { Chunk } from '../../../src/core/manifest.js';
import type { PlanCheck } from '../../../src/core/plan/model.js';
import { sealTool } from '../../../src/core/registry/closure.js';
import type { ResolvedTool, ValidationDocument } from '../../../src/core/registry/model.js';
import type { CheckResult } from '../../../src/core/result.js';
import { type PackResults, unpackRows } from '../../../src/core/results-codec.js';
import type { PackJob } from '../../../src/ports/queue.js';

const validation = (name: string): ValidationDocument => ({
  kind: 'validation',
  name,
  description: '',
  source: 'code',
  capability: { read_only: true, writes: false, checkpointable: false, network: false },
  lifecycle: {},
  code: '() => ({ passed: true })',
  idempotent: true,
  mode: 'required',
  confirm: 0,
});

const sealed = sealTool({ chain: [validation('local/check')] });
const snapshot = { files: ['a'] };

function check(n: number, fields: Partial<PlanCheck> = {}): PlanCheck {
  return {
    attachment: `a${n}`,
    resource: `repo/r${n}`,
    scope: 'direct',
    target: null,
    slot: 'source',
    arguments: { n },
    validation: 'local/check',
    version: sealed.digest,
    mode: 'required',
    retryLimit: null,
    confirm: 0,
    runner: 'pure',
    subject: digestOf(snapshot),
    ...fields,
  };
}

function chunkOf(checks: PlanCheck[]): Chunk {
  const entry = { id: 'e', index: 0, run: 'p', case: 'p', scenario: '', subject: '' };
  return {
    id: 'e',
    batch: '',
    attempt: 1,
    options: { strict: false, from: 'direct', informationalErrors: 'ignore' },
    deadline: 0,
    acceptedAt: 0,
    evaluations: [entry],
    plan: {
      plan: 'p',
      project: null,
      stage: 'all',
      checks,
      rest: [],
      earlier: null,
      unvalidated: [],
      requireValidations: false,
    },
  };
}

const job = (fields: Partial<PackJob> = {}): PackJob => ({
  chunk: 'e',
  attempt: 1,
  generation: 0,
  acceptedAt: 0,
  pack: { queue: 'pure', from: 0, to: 1 },
  tries: 2,
  stalled: 0,
  signal: new AbortController().signal,
  ...fields,
});

const pass: ToolAnswer = { kind: 'verdict', verdict: { outcome: 'pass', message: 'fine', data: {} } };
const fail = (data: Record<string, unknown> = {}): ToolAnswer => ({
  kind: 'verdict',
  verdict: { outcome: 'fail', message: 'wrong', data },
});

type Call = (tool: ResolvedTool, input: ToolInput, signal: AbortSignal) => Promise<ToolAnswer>;

/** An executor over blobs that a test may add to, and what it recorded. */
function opened(call: Call, serving: Partial<Serving> = {}) {
  const blobs = new Map([
    [sealed.digest, sealed.json],
    [digestOf(snapshot), canonicalJson(snapshot)],
  ]);
  const recorded: PackResults[] = [];
  const store = {
    blobs: vi.fn(async (digests: readonly string[]) => digests.map((digest) => blobs.get(digest))),
    record: async (_chunk: string, results: PackResults) => {
      recorded.push(results);
      return 'stored' as const;
    },
  };
  const tools = {
    call: async (...given: Parameters<Call>) => ({
      outcome: await call(...given),
      readOnly: 'enforced' as const,
    }),
    close: async () => {},
  };
  const executor = new PlanExecutor({
    store,
    tools,
    worker: 'w',
    poisonousAfter: 3,
    serves: ['command', 'graph', 'pure'],
    unserved: 'wait',
    ...serving,
  });
  const results = () =>
    recorded.flatMap(({ texts, evaluations }) =>
      evaluations.flatMap(({ rows }) => unpackRows(texts, rows) as (CheckResult | undefined)[]),
    );
  return { executor, blobs, store, recorded, results };
}

/** One check that comes to these answers, in order. */
async function judged(answers: ToolAnswer[], fields: Partial<PlanCheck> = {}) {
  const left = [...answers];
  const { executor, results } = opened(async () => left.shift() as ToolAnswer);
  expect(await executor.run(job(), chunkOf([check(0, fields)]))).toEqual({ kind: 'done' });
  expect(left).toEqual([]);
  return results()[0];
}

describe('running the checks of a plan', () => {
  it('calls each validation with what its attachment says and records the results in order', async () => {
    const inputs: ToolInput[] = [];
    const { executor, recorded, results } = opened(async (tool, input) => {
      expect(tool.chain[0]?.name).toBe('local/check');
      inputs.push(input);
      return input.args.n === 1 ? fail({ lines: 3 }) : pass;
    });
    const checks = [check(0), check(1, { slot: null }), check(2)];
    expect(await executor.run(job(), chunkOf(checks))).toEqual({ kind: 'done' });
    expect(inputs).toEqual([
      { args: { n: 0 }, subject: snapshot, resource: 'repo/r0', slot: 'source' },
      { args: { n: 1 }, subject: snapshot, resource: 'repo/r1', slot: null },
      { args: { n: 2 }, subject: snapshot, resource: 'repo/r2', slot: 'source' },
    ]);
    expect(recorded[0]?.evaluations[0]).toMatchObject({ position: 0, firstCheck: 0 });
    const common = { duration_ms: expect.any(Number), tries: 2, worker: 'w', read_only: 'enforced' };
    expect(results()).toEqual([
      { outcome: 'pass', message: 'fine', data: {}, ...common },
      { outcome: 'fail', message: 'wrong', data: { lines: 3 }, ...common },
      { outcome: 'pass', message: 'fine', data: {}, ...common },
    ]);
  });

  it('runs the range of its pack, and of that what belongs on its queue', async () => {
    const called: unknown[] = [];
    const { executor, recorded, results } = opened(async (_tool, { args }) => {
      called.push(args.n);
      return pass;
    });
    const checks = [0, 1, 2, 3, 4].map((n) => check(n, { runner: n === 2 ? 'runner' : 'pure' }));
    const range = { from: 1, to: 4 };
    await executor.run(job({ pack: { queue: 'pure', from: 0, to: 1, checks: range } }), chunkOf(checks));
    expect(called).toEqual([1, 3]);
    expect(recorded[0]?.evaluations[0]?.firstCheck).toBe(1);
    expect(results().map((result) => result?.outcome)).toEqual(['pass', undefined, 'pass']);
    await executor.run(job({ pack: { queue: 'runner', from: 0, to: 1, checks: range } }), chunkOf(checks));
    expect(called).toEqual([1, 3, 2]);
    expect(results()[4]).toMatchObject({ outcome: 'pass', read_only: 'enforced' });
  });

  it('makes an error of a failure, with its reason', async () => {
    const failure: ToolAnswer = {
      kind: 'failure',
      reason: 'no_runner',
      message: 'no runner for command tools',
    };
    expect(await judged([failure], { runner: 'pure' })).toMatchObject({
      outcome: 'error',
      message: 'no runner for command tools',
      data: { reason: 'no_runner' },
    });
    expect(await judged([{ kind: 'value', value: true }])).toMatchObject({
      outcome: 'error',
      data: { reason: 'internal' },
    });
  });

  it('keeps a check that throws from its neighbours', async () => {
    const { executor, results } = opened(async (_tool, { args }) => {
      if (args.n === 1) throw new Error('boo');
      return pass;
    });
    await executor.run(job(), chunkOf([check(0), check(1), check(2)]));
    expect(results().map((result) => result?.outcome)).toEqual(['pass', 'error', 'pass']);
    expect(results()[1]).toMatchObject({
      message: expect.stringContaining('boo'),
      data: { reason: 'internal' },
    });
  });

  it('errs for what is no longer stored, or is not what it should be', async () => {
    const { executor, blobs, results } = opened(async () => pass);
    blobs.set('odd', '{"chain": []}').set('text', 'no JSON').set('null', 'null');
    const checks = [
      check(0, { version: 'gone' }),
      check(1, { version: 'odd' }),
      check(2, { subject: 'gone' }),
      check(3, { subject: 'text' }),
      check(4, { subject: 'null' }),
    ];
    await executor.run(job(), chunkOf(checks));
    expect(results().map((result) => [result?.outcome, result?.data.reason])).toEqual([
      ['error', 'validation_gone'],
      ['error', 'validation_gone'],
      ['error', 'subject_gone'],
      ['error', 'subject_gone'],
      ['pass', undefined],
    ]);
  });

  it('reads what it knows only once', async () => {
    const { executor, store } = opened(async () => pass);
    await executor.run(job(), chunkOf([check(0), check(1)]));
    await executor.run(job(), chunkOf([check(0)]));
    expect(store.blobs.mock.calls).toEqual([[[sealed.digest, digestOf(snapshot)]]]);
  });

  it('runs no more than four at a time', async () => {
    let running = 0;
    let most = 0;
    const { executor, results } = opened(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return pass;
    });
    await executor.run(job(), chunkOf(Array.from({ length: 20 }, (_, n) => check(n))));
    expect(most).toBe(4);
    expect(results()).toHaveLength(20);
  });

  it('records nothing when the worker is to stop', async () => {
    const stop = new AbortController();
    const { executor, recorded } = opened(async () => {
      stop.abort();
      throw new Error('stopped');
    });
    const run = executor.run(job({ signal: stop.signal }), chunkOf([check(0), check(1)]));
    await expect(run).rejects.toThrow('stopped');
    expect(recorded).toEqual([]);
  });
});

describe('confirming', () => {
  it('runs a failed check again as often as it says, and no other', async () => {
    expect(await judged([fail({ a: 1 }), fail(), fail()], { confirm: 2 })).toMatchObject({
      outcome: 'fail',
      data: { a: 1, confirmations: ['fail', 'fail'] },
    });
    expect((await judged([pass], { confirm: 2 }))?.data).toEqual({});
    const failure: ToolAnswer = { kind: 'failure', reason: 'deadline', message: 'late' };
    expect((await judged([failure], { confirm: 2 }))?.data).toEqual({ reason: 'deadline' });
  });

  it('leaves a mixed result a failure, and marks it flaky', async () => {
    expect(await judged([fail({ retryable: false }), pass, fail()], { confirm: 2 })).toMatchObject({
      outcome: 'fail',
      message: 'wrong',
      data: { retryable: false, confirmations: ['pass', 'fail'], flaky: true },
    });
  });
});

describe('a pack whose worker died', () => {
  const split = (n: number) => ({ queue: 'pure', from: 0, to: 1, checks: { from: n, to: n + 1 } });

  it('is split into single checks, without a run', async () => {
    const call = vi.fn(async () => pass);
    const { executor, recorded } = opened(call);
    const checks = [check(0), check(1, { runner: 'runner' }), check(2)];
    expect(await executor.run(job({ stalled: 1 }), chunkOf(checks))).toEqual({
      kind: 'split',
      packs: [split(0), split(2)],
    });
    expect([call.mock.calls, recorded]).toEqual([[], []]);
  });

  it('of one check is run again, and given up when it has died too often', async () => {
    const { executor, results } = opened(async () => pass);
    await executor.run(job({ stalled: 2 }), chunkOf([check(0)]));
    await executor.run(job({ stalled: 3 }), chunkOf([check(0)]));
    expect(results()).toMatchObject([
      { outcome: 'pass' },
      { outcome: 'error', data: { reason: 'stalled', stalled: 3 }, worker: 'w' },
    ]);
  });
});

describe('a check that needs a runner', () => {
  const tool = (name: string, fields: object) => {
    const { code: _code, ...rest } = validation(name);
    return sealTool({ chain: [{ ...rest, ...fields } as ValidationDocument] });
  };
  const command = tool('local/tests', { source: 'command', command: ['true'] });
  const scan = tool('local/scan', { source: 'mcp', mcp_server: 'scanner', mcp_tool_name: 'scan' });
  const commandCheck = check(0, { runner: 'runner', version: command.digest, validation: 'local/tests' });
  const scanCheck = check(1, { runner: 'runner', version: scan.digest, validation: 'local/scan' });
  const runnerJob = (fields: Partial<PackJob> = {}) =>
    job({ pack: { queue: 'runner', from: 0, to: 1 }, ...fields });
  const ready = (serving: Partial<Serving> = {}) => {
    const found = opened(async () => pass, serving);
    for (const { digest, json } of [command, scan]) found.blobs.set(digest, json);
    return found;
  };

  it('is run where this worker has it', async () => {
    const { executor, results } = ready();
    expect(await executor.run(runnerJob(), chunkOf([commandCheck]))).toEqual({ kind: 'done' });
    expect(results()).toMatchObject([{ outcome: 'pass' }]);
  });

  it('is left to another worker where it has not, and nothing is recorded', async () => {
    const { executor, recorded } = ready();
    const answer = await executor.run(runnerJob(), chunkOf([scanCheck]));
    expect(answer).toEqual({ kind: 'unserved', needs: ['mcp:scanner'] });
    expect(recorded).toEqual([]);
  });

  it('goes its own way when it shares a pack: no worker may have what all of them need', async () => {
    const { executor, recorded } = ready();
    const one = (n: number) => ({ queue: 'runner', from: 0, to: 1, checks: { from: n, to: n + 1 } });
    expect(await executor.run(runnerJob(), chunkOf([commandCheck, scanCheck]))).toEqual({
      kind: 'split',
      packs: [one(0), one(1)],
    });
    expect(recorded).toEqual([]);
  });

  it('is an error at once where nobody else comes, with what is lacking and why; the others are run', async () => {
    const { executor, results } = ready({ unserved: 'error', missing: { scanner: 'npx is not in PATH.' } });
    const chunk = chunkOf([commandCheck, scanCheck]);
    expect(await executor.run(runnerJob(), chunk)).toEqual({ kind: 'done' });
    expect(results()).toMatchObject([
      { outcome: 'pass' },
      {
        outcome: 'error',
        data: { reason: 'no_runner', needs: ['mcp:scanner'] },
        message: expect.stringMatching(/local\/scan .*mcp:scanner \(npx is not in PATH\).*sluice doctor/),
      },
    ]);
  });

  it('is an error too where it needs nothing but that such jobs are taken, and this worker takes none', async () => {
    const missing = { graph: 'it takes none' };
    const alone = { serves: ['pure'], unserved: 'error' as const, missing };
    const { executor, blobs, results } = opened(async () => pass, alone);
    const graph = tool('local/both', { source: 'graph', graph: { nodes: [] } });
    blobs.set(graph.digest, graph.json);
    const graphCheck = check(0, { runner: 'runner', version: graph.digest, validation: 'local/both' });
    await executor.run(runnerJob(), chunkOf([graphCheck]));
    expect(results()).toMatchObject([
      {
        outcome: 'error',
        data: { reason: 'no_runner' },
        message: expect.stringContaining('graph (it takes none)'),
      },
    ]);
  });

  it('is given up by any worker once it took too many along', async () => {
    const { executor, results } = ready();
    expect(await executor.run(runnerJob({ stalled: 3 }), chunkOf([scanCheck]))).toEqual({ kind: 'done' });
    expect(results()).toMatchObject([{ outcome: 'error', data: { reason: 'stalled' } }]);
  });

  it('is an error where its version is gone: nobody can say what it needs', async () => {
    const { executor, results } = opened(async () => pass);
    expect(await executor.run(runnerJob(), chunkOf([scanCheck]))).toEqual({ kind: 'done' });
    expect(results()).toMatchObject([{ outcome: 'error', data: { reason: 'validation_gone' } }]);
  });
});

describe('an executor', () => {
  const close = async () => {};
  const executorOf = (plans?: { run: (job: PackJob, chunk: Chunk) => Promise<{ kind: 'done' }> }) => {
    const store = { chunk: async () => ({ chunk: chunkOf([check(0)]), generation: 0 }) };
    const common = {
      store: store as never,
      matcher: { matchAll: async () => [] },
      worker: 'w',
      poisonousAfter: 3,
      serves: ['pure'],
      unserved: 'wait' as const,
    };
    return new Executor(plans === undefined ? common : { ...common, plans: { ...plans, close } });
  };

  it('hands packs of plans to the one that runs them', async () => {
    const run = vi.fn(async () => ({ kind: 'done' as const }));
    const given = job();
    expect(await executorOf({ run }).run(given)).toEqual({ kind: 'done' });
    expect(run.mock.calls).toEqual([[given, chunkOf([check(0)])]]);
  });

  it('takes no manifest for another that came under the same id', async () => {
    const seen: number[] = [];
    let stored = chunkOf([check(0)]);
    const executor = new Executor({
      store: { chunk: async () => ({ chunk: stored, generation: 1 }) } as never,
      matcher: { matchAll: async () => [] },
      plans: {
        run: async (_job, chunk) => {
          seen.push(chunk.acceptedAt);
          return { kind: 'done' };
        },
        close,
      },
      worker: 'w',
      poisonousAfter: 3,
      serves: ['pure'],
      unserved: 'wait',
    });
    await executor.run(job({ acceptedAt: 0 }));
    stored = { ...stored, acceptedAt: 5 };
    await executor.run(job({ acceptedAt: 5 }));
    await executor.run(job({ acceptedAt: 0 }));
    expect(seen).toEqual([0, 5]);
  });

  it('without one leaves them to others', async () => {
    await expect(executorOf().run(job())).rejects.toThrow('no checks of plans');
  });

  it('does nothing for a chunk that is no plan’s', async () => {
    const { executor, recorded } = opened(async () => pass);
    const { plan, ...rest } = chunkOf([check(0)]);
    expect(plan).toBeDefined();
    expect(await executor.run(job(), rest)).toEqual({ kind: 'done' });
    expect(recorded).toEqual([]);
  });
});
