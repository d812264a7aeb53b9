import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Activations, type Ready } from '../../../src/app/tools/activations.js';
import type { ToolInput } from '../../../src/app/tools.js';
import type { LifecycleHooks, ToolDocument } from '../../../src/core/registry/model.js';
import type { RunFailure } from '../../../src/core/validators/validator.js';
import { QuickJsInterpreter } from '../../../src/runners/quickjs.js';
import { ManualInterpreter } from './manual-interpreter.js';

const quickjs = new QuickJsInterpreter(1);
beforeAll(() => quickjs.check('() => 1'), 30_000);
afterAll(() => quickjs.close());

const HOST = { serves: ['pure'], platform: 'linux', arch: 'x64', node: 'v20' };
const INPUT: ToolInput = { args: { n: 1 }, subject: { a: 1 }, resource: 'repo/x', slot: null };
const MINUTE = 60_000;

function tool(lifecycle: LifecycleHooks, name = 'local/tool'): ToolDocument {
  return {
    kind: 'tool',
    name,
    description: 'a tool',
    source: 'code',
    code: '() => 1',
    capability: { read_only: true, writes: false, checkpointable: false, network: false },
    lifecycle,
    idempotent: true,
  };
}

/** What one call is made ready with, through QuickJS. */
async function readyWith(lifecycle: LifecycleHooks, input = INPUT, deadlineMs = 5_000) {
  const activations = new Activations({ interpreter: quickjs, host: HOST });
  const ready = await activations.ready(tool(lifecycle), input, deadlineMs);
  await activations.close();
  return ready;
}

const inputOf = (ready: Ready | RunFailure) => (ready.kind === 'ready' ? ready.input : ready);
const reasonOf = (ready: Ready | RunFailure) => (ready.kind === 'failure' ? ready.reason : 'ready');

describe('hooks of a tool', () => {
  it('leaves the input of a tool without hooks as it is, without a state', async () => {
    const ready = await readyWith({});
    expect(ready).toMatchObject({ kind: 'ready', input: INPUT });
    expect(ready).not.toHaveProperty('state');
  });

  it('tells discover and activate of the tool and the host', async () => {
    const ready = await readyWith({ activate: '(given) => given' });
    const { name, description } = tool({});
    const told = {
      tool: { name, description, version: expect.stringMatching(/^[0-9a-f]{64}$/) },
      host: HOST,
    };
    expect(ready).toMatchObject({ kind: 'ready', state: told });
    expect(ready).not.toHaveProperty('state.tool.code');
    expect(ready).not.toHaveProperty('state.tool.lifecycle');
  });

  it.each<[string, string, object]>([
    ['true', '() => true', { kind: 'ready' }],
    ['false', '() => false', { reason: 'not_available', message: expect.stringContaining('discover hook') }],
    [
      'a reason',
      '({ host }) => "not on " + host.platform',
      { message: expect.stringMatching(/: not on linux$/) },
    ],
    ['a number', '() => 1', { reason: 'discover', data: { raw_output: '1' } }],
    [
      'nothing',
      '() => {}',
      { reason: 'discover', message: expect.stringContaining('true, false or why not') },
    ],
    [
      'a throw',
      '() => { throw new Error("no") }',
      { reason: 'discover', message: expect.stringContaining('threw Error: no') },
    ],
  ])('takes %s of discover', async (_what, discover, expected) => {
    expect(await readyWith({ discover })).toMatchObject(expected);
  });

  it.each<[string, string, unknown]>([
    ['nothing', '() => {}', INPUT],
    ['null', '() => null', INPUT],
    ['some fields', '({ args }) => ({ args: { n: args.n + 1 } })', { ...INPUT, args: { n: 2 } }],
    [
      'all of them',
      '(given) => ({ ...given, subject: null, resource: null })',
      { ...INPUT, subject: null, resource: null },
    ],
    [
      'what state it was activated with',
      '({ state }) => ({ subject: state })',
      { ...INPUT, subject: { pid: 7 } },
    ],
  ])('takes %s of execute for the run', async (_what, execute, expected) => {
    expect(inputOf(await readyWith({ activate: '() => ({ pid: 7 })', execute }))).toEqual(expected);
  });

  it('keeps the state that execute changes for that run alone', async () => {
    const activations = new Activations({ interpreter: quickjs, host: HOST });
    const counting = tool({ activate: '() => 0', execute: '({ state }) => ({ state: state + 1 })' });
    const states = [];
    for (let n = 0; n < 2; n += 1) states.push(await activations.ready(counting, INPUT, 5_000));
    await activations.close();
    expect(states).toMatchObject([{ state: 1 }, { state: 1 }]);
  });

  it.each<[string, string, string]>([
    ['a text', '() => "x"', 'an object, or nothing; found "x"'],
    ['an unknown key', '() => ({ arg: {} })', 'did you mean "args"?'],
    ['args that are no object', '() => ({ args: [] })', 'args as an object; found []'],
    ['a resource that is no text', '() => ({ resource: 1 })', 'resource as a text or null; found 1'],
    ['a throw', '() => { throw "x" }', 'threw x'],
  ])('refuses %s of execute', async (_what, execute, message) => {
    const ready = await readyWith({ execute });
    expect(ready).toMatchObject({ reason: 'execute', message: expect.stringContaining(message) });
  });

  it('counts the time of execute against the caller’s deadline', async () => {
    expect(reasonOf(await readyWith({ execute: '() => { for (;;); }' }, INPUT, 50))).toBe('deadline');
  });
});

/** Activations over an interpreter whose calls the test answers, with the hooks `activate` and `deactivate`. */
function manual(lifecycle: LifecycleHooks = { activate: 'activate', deactivate: 'deactivate' }) {
  const interpreter = new ManualInterpreter();
  const errors: string[] = [];
  const onError = ({ message }: Error) => errors.push(message);
  const activations = new Activations({ interpreter, host: HOST, onError });
  const ready = (name = 'local/tool', ms = MINUTE) => activations.ready(tool(lifecycle, name), INPUT, ms);
  return { interpreter, activations, ready, errors };
}

async function used(ready: Promise<Ready | RunFailure>): Promise<Ready | RunFailure> {
  const came = await ready;
  if (came.kind === 'ready') came.done();
  return came;
}

describe('activations', () => {
  afterEach(() => void vi.useRealTimers());

  it('activates once for calls that arrive together, and for later ones', async () => {
    const { interpreter, activations, ready } = manual();
    const together = [ready(), ready(), ready()];
    await interpreter.answer('activate', 7);
    const all = [...(await Promise.all(together)), await ready()];
    expect(all.map((each) => each.kind === 'ready' && each.state)).toEqual([7, 7, 7, 7]);
    interpreter.auto = true;
    await activations.close();
    expect(interpreter.counts).toEqual({ activate: 1, deactivate: 1 });
  });

  it('activates versions of a document each for itself', async () => {
    const { interpreter, activations, ready } = manual();
    interpreter.auto = true;
    await Promise.all([ready('local/a'), ready('local/b'), ready('local/a')]);
    await activations.close();
    expect(interpreter.counts).toEqual({ activate: 2, deactivate: 2 });
  });

  it('fails the calls that waited for an activation, and tries again after a pause', async () => {
    vi.useFakeTimers();
    const { interpreter, activations, ready } = manual();
    const together = [ready(), ready()];
    await interpreter.fail('activate');
    const soon = await ready();
    expect([...(await Promise.all(together)), soon].map(reasonOf)).toEqual(Array(3).fill('activate'));
    vi.advanceTimersByTime(1_000);
    interpreter.auto = true;
    expect(reasonOf(await ready())).toBe('ready');
    await activations.close();
    expect(interpreter.counts).toEqual({ activate: 2, deactivate: 1 });
  });

  it('asks again after a minute where a tool could not run', async () => {
    vi.useFakeTimers();
    const { interpreter, ready } = manual({ discover: 'discover' });
    const first = ready();
    await interpreter.answer('discover', 'no such program');
    expect([reasonOf(await first), reasonOf(await ready())]).toEqual(['not_available', 'not_available']);
    vi.advanceTimersByTime(MINUTE);
    const later = ready();
    await interpreter.answer('discover', true);
    expect([reasonOf(await later), reasonOf(await ready())]).toEqual(['ready', 'ready']);
  });

  it('lets a caller go at its deadline while the activation goes on for the next', async () => {
    vi.useFakeTimers();
    const { interpreter, activations, ready } = manual();
    const hurried = ready('local/tool', 100);
    await vi.advanceTimersByTimeAsync(100);
    expect(reasonOf(await hurried)).toBe('deadline');
    const patient = ready();
    await interpreter.answer('activate', 1);
    expect(await patient).toMatchObject({ kind: 'ready', state: 1 });
    interpreter.auto = true;
    await activations.close();
    expect(interpreter.counts).toEqual({ activate: 1, deactivate: 1 });
  });

  it('deactivates what was not used for ten minutes, and activates it anew after that has ended', async () => {
    vi.useFakeTimers();
    const { interpreter, activations, ready } = manual();
    const first = ready();
    await interpreter.answer('activate', 1);
    await vi.advanceTimersByTimeAsync(15 * MINUTE);
    expect(interpreter.counts).toEqual({ activate: 1 });
    await used(first);
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect(interpreter.counts).toEqual({ activate: 1, deactivate: 1 });
    const again = ready();
    await vi.advanceTimersByTimeAsync(1);
    expect(interpreter.counts).toEqual({ activate: 1, deactivate: 1 });
    await interpreter.answer('deactivate', null);
    await interpreter.answer('activate', 2);
    expect(await again).toMatchObject({ state: 2 });
    interpreter.auto = true;
    await activations.close();
    expect(interpreter.counts).toEqual({ activate: 2, deactivate: 2 });
  });

  it('keeps 200 versions, and drops those that were not used for the longest time', async () => {
    const { interpreter, activations, ready } = manual();
    interpreter.auto = true;
    const names = Array.from({ length: 202 }, (_each, n) => `local/t${n}`);
    for (const name of names.slice(0, 200)) await used(ready(name));
    await used(ready('local/t0'));
    expect(interpreter.counts).toEqual({ activate: 200 });
    for (const name of names.slice(200)) await used(ready(name));
    await used(ready('local/t0'));
    expect(interpreter.counts).toEqual({ activate: 202, deactivate: 2 });
    await activations.close();
    expect(interpreter.counts).toEqual({ activate: 202, deactivate: 202 });
  });

  it('waits on close for what is being activated, and refuses what comes later', async () => {
    const { interpreter, activations, ready } = manual();
    const running = ready();
    let isClosed = false;
    const closing = activations.close().then(() => {
      isClosed = true;
    });
    await interpreter.answer('activate', 1);
    expect(isClosed).toBe(false);
    expect(reasonOf(await running)).toBe('ready');
    expect(reasonOf(await ready())).toBe('stopped');
    await interpreter.answer('deactivate', null);
    await closing;
    expect(interpreter.counts).toEqual({ activate: 1, deactivate: 1 });
  });

  it('tells of a deactivation that failed, and goes on', async () => {
    const { interpreter, activations, ready, errors } = manual();
    const running = [ready('local/a'), ready('local/b')];
    await interpreter.answer('activate', 1);
    await interpreter.answer('activate', 2);
    await Promise.all(running);
    const closing = activations.close();
    await interpreter.fail('deactivate');
    await interpreter.answer('deactivate', null);
    await closing;
    expect(errors).toEqual(['the deactivate hook of local/a threw Error: deactivate failed']);
  });

  it('takes a deactivate that returns nothing', async () => {
    const errors: Error[] = [];
    const activations = new Activations({ interpreter: quickjs, host: HOST, onError: (e) => errors.push(e) });
    await activations.ready(tool({ activate: '() => 1', deactivate: '() => {}' }), INPUT, 5_000);
    await activations.close();
    expect(errors).toEqual([]);
  });
});
