import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Activations, type Ready } from '../../../src/app/tools/activations.js';
import type { LifecycleHooks, ToolDocument } from '../../../src/core/registry/model.js';
import { ManualInterpreter } from './manual-interpreter.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const toolWith = (name: string, lifecycle: LifecycleHooks): ToolDocument => ({
  kind: 'tool',
  name,
  description: '',
  source: 'code',
  code: '() => 1',
  capability: { read_only: true, writes: false, checkpointable: false, network: false },
  lifecycle,
  idempotent: true,
});
const HOOKS = { activate: 'activate', deactivate: 'deactivate' };
const TOOLS = [toolWith('local/a', HOOKS), toolWith('local/b', { ...HOOKS, discover: 'discover' })];

type Step =
  | { kind: 'call'; tool: number; ms: number }
  | { kind: 'done'; place: number }
  | { kind: 'answer'; place: number; ok: boolean }
  | { kind: 'wait'; ms: number };

const place = fc.nat({ max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('call'),
    tool: fc.nat({ max: TOOLS.length - 1 }),
    ms: fc.constantFrom(10, 1e9),
  }),
  fc.record({ kind: fc.constant('done'), place }),
  fc.record({ kind: fc.constant('answer'), place, ok: fc.constantFrom(true, true, true, false) }),
  fc.record({ kind: fc.constant('wait'), ms: fc.constantFrom(20, 1_000, 60_000, 600_000, 600_000) }),
);

/** Counts activations that are alive, by version, and the most that any version had at a time. */
function watch(interpreter: ManualInterpreter) {
  const alive = new Map<string, number>();
  const seen = { most: 0, activated: 0, deactivated: 0, alive };
  const add = (version: string, by: number) => {
    const count = (alive.get(version) ?? 0) + by;
    alive.set(version, count);
    seen.most = Math.max(seen.most, count);
  };
  interpreter.onCall = ({ hook, version }) => {
    if (hook === 'activate') add(version, 1);
    if (hook === 'deactivate') seen.deactivated += 1;
  };
  interpreter.onEnd = ({ hook, version }, { ok }) => {
    if (hook === 'activate' && ok) seen.activated += 1;
    if (hook === 'deactivate' || (hook === 'activate' && !ok)) add(version, -1);
  };
  return seen;
}

it('deactivates every activation once, and never has two of a version alive, whatever happens when', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const interpreter = new ManualInterpreter();
      const seen = watch(interpreter);
      const activations = new Activations({
        interpreter,
        host: { serves: [], platform: '', arch: '', node: '' },
      });
      const ready: Ready[] = [];
      const calls: Promise<unknown>[] = [];
      for (const each of steps) {
        if (each.kind === 'call') {
          const document = TOOLS[each.tool] as ToolDocument;
          const input = { args: {}, subject: null, resource: null, slot: null };
          const call = activations.ready(document, input, each.ms);
          calls.push(call.then((came) => came.kind === 'ready' && ready.push(came)));
        } else if (each.kind === 'done') ready.splice(each.place, 1)[0]?.done();
        else if (each.kind === 'answer') interpreter.end(each.place, each.ok);
        await vi.advanceTimersByTimeAsync(each.kind === 'wait' ? each.ms : 0);
      }
      interpreter.auto = true;
      const closing = activations.close();
      while (interpreter.waiting.length > 0) {
        interpreter.end(0, true);
        await vi.advanceTimersByTimeAsync(0);
      }
      await Promise.all([closing, ...calls]);
      expect(seen.most).toBeLessThanOrEqual(1);
      expect(seen.deactivated).toBe(seen.activated);
      expect([...seen.alive.values()].every((count) => count === 0)).toBe(true);
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 300 },
  );
});
