import { describe, expect, it } from 'vitest';
import { runGraph } from '../../../src/app/tools/graph.js';
import type { ToolAnswer } from '../../../src/app/tools/returns.js';
import { broken, fail, graphOf, pass, run, tool, toolsOf, value } from './graph-build.js';

const verdict = (outcome: string, more: object = {}) => ({
  kind: 'verdict',
  verdict: expect.objectContaining({ outcome, ...more }),
});

describe('what a node is given', () => {
  const input = {
    args: { path: 'src', list: [1, { a: 2 }] },
    subject: { run: 7 },
    resource: 'repo/x',
    slot: 'main',
  };

  it('is what its pointers find, among what the graph was given and what others returned', async () => {
    const document = graphOf({
      lint: {
        arguments: {
          path: { from: '/args/path' },
          second: { from: '/args/list/1/a' },
          repo: { from: '/resource' },
          slot: { from: '/slot' },
          fixed: { value: { from: '/args' } },
        },
      },
      score: {
        arguments: { passed: { from: '/nodes/lint/passed' }, n: { from: '/nodes/lint/data/n' } },
        subject: { from: '/nodes/lint/data' },
      },
      fixed: { subject: { value: [1] } },
    });
    const { calls } = await run(document, { lint: fail({ n: 3 }), score: pass(), fixed: pass() }, { input });
    const args = { path: 'src', second: 2, repo: 'repo/x', slot: 'main', fixed: { from: '/args' } };
    expect(Object.fromEntries(calls)).toEqual({
      lint: { ...input, args },
      score: { ...input, args: { passed: false, n: 3 }, subject: { n: 3 } },
      fixed: { ...input, args: {}, subject: [1] },
    });
  });

  it('lacks what a pointer does not find, where the tool can do without', async () => {
    const document = graphOf({
      a: {},
      b: { arguments: { x: { from: '/nodes/a/x' }, y: { from: '/args/y' } } },
    });
    const { calls } = await run(document, { a: value({ z: 1 }), b: pass() });
    expect(calls[1]?.[1].args).toEqual({});
  });

  it.each([
    ['a required argument that is not found', 'x', /x.*missing.*nothing was found at \/nodes\/a\/x/],
    ['an argument of another type', 'text', /text.*must be a string/],
  ])('is held to what its tool takes: %s', async (_, name, message) => {
    const document = graphOf(
      { a: {}, b: { arguments: { [name]: { from: `/nodes/a/${name}` } } } },
      { isTool: true },
    );
    const input_schema = {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: name === 'x' ? ['x'] : [],
    };
    const nodes = { ...toolsOf(document), 'local/b': { chain: [tool('b', { input_schema })] } };
    const { outcome, called } = await run(document, { a: value({ text: 1 }) }, { nodes });
    expect(called).toEqual(['a']);
    expect(outcome).toMatchObject({
      kind: 'failure',
      reason: 'node',
      data: {
        errored: [
          { node: 'b', tool: 'local/b', reason: 'arguments', message: expect.stringMatching(message) },
        ],
      },
    });
  });

  it('is never a subject that is not there', async () => {
    const document = graphOf({ a: {}, b: { subject: { from: '/nodes/a/x' } } });
    const { outcome, called } = await run(document, { a: value({}), b: pass() });
    expect(called).toEqual(['a']);
    expect(outcome).toMatchObject({ kind: 'failure', data: { errored: [{ node: 'b', reason: 'subject' }] } });
  });
});

describe('a validation that is a graph', () => {
  const three = graphOf({ lint: {}, cover: {}, count: {}, types: { needs: ['lint'] } });

  it('passes when all validations in it passed, whatever its tools returned', async () => {
    const { outcome } = await run(three, {
      lint: pass({ n: 1 }),
      cover: pass(),
      types: pass(),
      count: value(false),
    });
    const part = { passed: true, message: 'fine' };
    expect(outcome).toEqual({
      kind: 'verdict',
      verdict: {
        outcome: 'pass',
        message: '3 of 3 validations passed',
        data: { nodes: { lint: part, cover: part, types: part } },
      },
    });
  });

  it('fails and says which failed; what waits for one that failed runs all the same', async () => {
    const answers = { lint: fail({}, '2 findings'), cover: pass(), types: pass(), count: value(1) };
    const { outcome, called } = await run(three, answers);
    expect(called).toContain('types');
    expect(outcome).toEqual(
      verdict('fail', {
        message: '2 of 3 validations passed: lint failed (2 findings)',
        data: { nodes: expect.objectContaining({ lint: { passed: false, message: '2 findings' } }) },
      }),
    );
  });

  it('names five that failed, and counts the others', async () => {
    const ids = Array.from({ length: 8 }, (_, n) => `n${n}`);
    const document = graphOf(Object.fromEntries(ids.map((id) => [id, {}])));
    const { outcome } = await run(document, Object.fromEntries(ids.map((id) => [id, fail()])));
    expect(outcome).toMatchObject(
      verdict('fail', { message: expect.stringMatching(/^0 of 8 .*n4 failed \(bad\), and 3 more$/) }),
    );
  });

  it('cannot be fixed where one in it cannot', async () => {
    const { outcome } = await run(three, { lint: fail({ retryable: false }), cover: fail(), types: pass() });
    expect(outcome).toMatchObject({ verdict: { data: { retryable: false } } });
  });

  it.each<[string, ToolAnswer[], boolean]>([
    ['all of them rest', [vacuous(), vacuous()], true],
    ['one of them does not rest', [vacuous(), pass()], false],
  ])('rests on nothing where %s on nothing', async (_, [lint, cover], expected) => {
    const { outcome } = await run(graphOf({ lint: {}, cover: {} }), {
      lint: lint as ToolAnswer,
      cover: cover as ToolAnswer,
    });
    expect(outcome.kind === 'verdict' && outcome.verdict.noData === true).toBe(expected);
  });

  it('returns what its output points to, as any validation does', async () => {
    const of = (from: string, answers: Record<string, ToolAnswer>) =>
      run(graphOf({ lint: {}, score: {} }, { output: { from } }), {
        lint: fail(),
        score: pass(),
        ...answers,
      });
    const scored = { passed: true, message: '80 %', data: { percent: 80 } };
    expect((await of('/nodes/score', { score: value(scored) })).outcome).toEqual(
      verdict('pass', { message: '80 %' }),
    );
    expect((await of('/nodes/lint', {})).outcome).toEqual(verdict('fail', { message: 'bad' }));
    expect((await of('/nodes/score', { score: vacuous() })).outcome).toMatchObject({
      verdict: { noData: true },
    });
    expect((await of('/nodes/lint', { score: vacuous() })).outcome).not.toHaveProperty('verdict.noData');
    expect((await of('/nodes/lint/passed', {})).outcome).toEqual(
      verdict('error', { message: expect.stringContaining('malformed return') }),
    );
    expect((await of('/nodes/lint/data/x', {})).outcome).toMatchObject({
      kind: 'failure',
      reason: 'output',
      message: expect.stringContaining('/nodes/lint/data/x'),
    });
  });
});

function vacuous(): ToolAnswer {
  return { kind: 'verdict', verdict: { outcome: 'pass', message: 'no data', data: {}, noData: true } };
}

describe('a tool that is a graph', () => {
  it('returns all outputs by node, in the order of the nodes', async () => {
    const document = graphOf({ z: { needs: ['a'] }, a: {} }, { isTool: true });
    const { outcome } = await run(document, { z: value([1]), a: fail({ n: 1 }) });
    const output = { z: [1], a: { passed: false, message: 'bad', data: { n: 1 } } };
    expect(outcome).toEqual({ kind: 'value', value: output, noData: false });
    expect(Object.keys((outcome as { value: object }).value)).toEqual(['z', 'a']);
  });

  it('returns what its output points to, or is', async () => {
    const nodes = { a: {} };
    const of = async (output: object) =>
      (await run(graphOf(nodes, { isTool: true, output: output as never }), { a: value({ b: [2] }) }))
        .outcome;
    expect(await of({ from: '/nodes/a/b/0' })).toMatchObject({ kind: 'value', value: 2 });
    expect(await of({ value: 'done' })).toMatchObject({ kind: 'value', value: 'done' });
  });

  it('is held to its output_schema', async () => {
    const document = { ...graphOf({ a: {} }, { isTool: true }), output_schema: { required: ['b'] } };
    expect((await run(document, {})).outcome).toMatchObject({ kind: 'failure', reason: 'output_schema' });
  });

  it('rests on nothing where all its nodes do', async () => {
    const document = graphOf({ a: {}, b: {} }, { isTool: true });
    expect((await run(document, { a: vacuous(), b: vacuous() })).outcome).toMatchObject({ noData: true });
    expect((await run(document, { a: vacuous(), b: value(1) })).outcome).toMatchObject({ noData: false });
  });
});

describe('a node that errored', () => {
  const chain = graphOf({
    a: {},
    b: { needs: ['a'] },
    c: { arguments: { x: { from: '/nodes/b' } } },
    d: {},
    e: { needs: ['d'] },
  });

  it('skips what waits for it, and nothing else; the graph names both', async () => {
    const { outcome, called } = await run(chain, { a: broken('exit', 'boo'), d: pass(), e: fail() });
    expect(called).toEqual(['a', 'd', 'e']);
    expect(outcome).toEqual({
      kind: 'failure',
      reason: 'node',
      message: '1 node errored: a (exit: boo); skipped: b, c',
      data: {
        errored: [{ node: 'a', tool: 'local/a', reason: 'exit', message: 'boo' }],
        skipped: ['b', 'c'],
        nodes: {
          d: { passed: true, message: 'fine', data: {} },
          e: { passed: false, message: 'bad', data: {} },
        },
      },
    });
  });

  it.each<[string, ToolAnswer, string]>([
    ['a failure', broken('memory'), 'memory'],
    [
      'a verdict of error',
      { kind: 'verdict', verdict: { outcome: 'error', message: 'm', data: { reason: 'no_engine' } } },
      'no_engine',
    ],
    [
      'a malformed return',
      { kind: 'verdict', verdict: { outcome: 'error', message: 'm', data: { raw_output: 'yes' } } },
      'malformed',
    ],
  ])('errored by %s', async (_, answer, reason) => {
    const { outcome } = await run(chain, { a: answer });
    expect(outcome).toMatchObject({ kind: 'failure', data: { errored: [{ node: 'a', reason }] } });
  });

  it('leaves its evidence, cut where it is too much', async () => {
    const long = 'x'.repeat(100_000);
    const a: ToolAnswer = { kind: 'failure', reason: 'exit', message: long, data: { raw_output: long } };
    const { outcome } = await run(chain, { a, d: value(long), e: value({ small: 1 }) });
    if (outcome.kind !== 'failure') throw new Error('no failure');
    expect(outcome.data).toMatchObject({
      nodes: { d: expect.stringMatching(/^"x+…$/), e: { small: 1 } },
      evidence: { a: expect.stringMatching(/^\{"raw_output":"x+…$/) },
    });
    expect(JSON.stringify(outcome.data).length).toBeLessThan(66_000);
    expect(outcome.message.length).toBeLessThan(500);
  });

  it('is also one whose time ran out before its turn', async () => {
    const { outcome, called } = await run(chain, {}, { deadlineMs: 0 });
    expect(called).toEqual([]);
    expect(outcome).toMatchObject({
      kind: 'failure',
      data: {
        errored: [
          { node: 'a', reason: 'deadline' },
          { node: 'd', reason: 'deadline' },
        ],
        skipped: ['b', 'c', 'e'],
      },
    });
  });

  it('is also one whose tool did not come along', async () => {
    const { outcome } = await run(chain, {}, { nodes: {} });
    expect(outcome).toMatchObject({
      kind: 'failure',
      data: { errored: [{ node: 'a', reason: 'internal' }, { node: 'd' }] },
    });
  });
});

describe('running a graph', () => {
  /** Tools that answer when they are told to. */
  function held(document = graphOf({ a: {} }), more: object = {}) {
    const going = new Map<string, (answer?: ToolAnswer) => void>();
    const input = { args: {}, subject: null, resource: null, slot: null };
    const call = { document, nodes: toolsOf(document), input, deadlineMs: 60_000, ...more };
    const deadlines: number[] = [];
    const ran = runGraph(call, (resolved, _given, deadlineMs) => {
      deadlines.push(deadlineMs);
      return new Promise((resolve) => {
        const name = resolved.chain[0]?.name.replace('local/', '') as string;
        going.set(name, (answer = pass()) => {
          going.delete(name);
          resolve({ outcome: answer, readOnly: name.startsWith('far') ? 'declared' : 'enforced' });
        });
      });
    });
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    return { going, ran, settle, deadlines };
  }

  it('starts a node as soon as what it waits for has ended, whatever else still runs', async () => {
    const { going, ran, settle } = held(
      graphOf({ a: {}, slow: {}, b: { needs: ['a'] }, c: { needs: ['b', 'slow'] } }),
    );
    await settle();
    expect([...going.keys()]).toEqual(['a', 'slow']);
    going.get('a')?.();
    await settle();
    expect([...going.keys()]).toEqual(['slow', 'b']);
    going.get('b')?.(fail());
    await settle();
    expect([...going.keys()]).toEqual(['slow']);
    going.get('slow')?.();
    await settle();
    expect([...going.keys()]).toEqual(['c']);
    going.get('c')?.();
    expect((await ran).outcome).toMatchObject(verdict('fail'));
  });

  it('runs eight nodes at a time', async () => {
    const ids = Array.from({ length: 20 }, (_, n) => `n${n}`);
    const { going, ran, settle } = held(graphOf(Object.fromEntries(ids.map((id) => [id, {}]))));
    for (const expected of [8, 8, 4]) {
      await settle();
      expect(going.size).toBe(expected);
      for (const end of [...going.values()]) end();
    }
    expect((await ran).outcome).toMatchObject(verdict('pass'));
  });

  it('leaves each node what is left of its own time', async () => {
    const { going, settle, deadlines, ran } = held(graphOf({ a: {}, b: { needs: ['a'] } }), {
      deadlineMs: 5_000,
    });
    await settle();
    going.get('a')?.();
    await settle();
    going.get('b')?.();
    await ran;
    const [first = 0, second = 0] = deadlines;
    expect(first).toBeLessThanOrEqual(5_000);
    expect(second).toBeLessThan(first);
    expect(second).toBeGreaterThan(0);
  });

  it('says read_only: enforced only where that held for every node', async () => {
    const { going, settle, ran } = held(graphOf({ a: {}, far: {} }));
    await settle();
    for (const end of [...going.values()]) end();
    expect((await ran).readOnly).toBe('declared');
    expect((await run(graphOf({ a: {} }), {})).readOnly).toBe('enforced');
  });

  it('throws what stops its nodes once nothing runs any more, and starts no other', async () => {
    const document = graphOf({ a: {}, slow: {}, b: { needs: ['slow'] } });
    const started: string[] = [];
    let end = () => {};
    const slow = new Promise<void>((resolve) => {
      end = resolve;
    });
    const input = { args: {}, subject: null, resource: null, slot: null };
    let isOver = false;
    const call = { document, nodes: toolsOf(document), input, deadlineMs: 1_000 };
    const ran = runGraph(call, async ({ chain }) => {
      const name = chain[0]?.name as string;
      started.push(name);
      if (name === 'local/a') throw new Error('stopped: the worker is shutting down');
      await slow;
      return { outcome: pass(), readOnly: 'enforced' };
    }).finally(() => {
      isOver = true;
    });
    ran.catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    end();
    await expect(ran).rejects.toThrow('shutting down');
    expect(started).toEqual(['local/a', 'local/slow']);
  });

  it.each([
    ['has no nodes', graphOf({})],
    ['waits for itself', graphOf({ a: { needs: ['b'] }, b: { needs: ['a'] }, c: {} })],
    ['waits for what is not there', graphOf({ a: { needs: ['x'] } })],
  ])('is an error, and no endless wait, for one that %s', async (_, document) => {
    expect((await run(document, {})).outcome).toMatchObject({ kind: 'failure', reason: 'internal' });
  });
});
