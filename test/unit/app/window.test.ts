import { describe, expect, it, vi } from 'vitest';
import { Window, type WindowDeps } from '../../../src/app/window.js';
import type { BatchRecord } from '../../../src/core/batch.js';
import type { Turns } from '../../../src/core/fairness.js';
import { openingOf } from '../../support/evidence.js';

function standing(change: Partial<BatchRecord> = {}): BatchRecord {
  const counts = { accepted: 0, decided: 0, passed: 0, failed: 0, errored: 0, vacuousPasses: 0 };
  return { ...openingOf('b', []), state: 'open', total: null, completedAt: null, ...counts, ...change };
}

/** A batch whose work is accepted at once, and decided by the test. */
function play(size: number, record = standing(), front: Turns = {}, more: Partial<WindowDeps> = {}) {
  const state = { ...record };
  const batch = vi.fn(async () => state);
  const deps = { store: { batches: { batch } }, queue: { front: async () => front }, clock: Date };
  const window = new Window({ ...deps, ...more }, size, record);
  const enter = async (evaluations: number, checks = 10) => {
    const turns = await window.enter({ evaluations, checks: { pure: evaluations * checks, runner: 0 } });
    state.accepted += evaluations;
    return turns;
  };
  return { state, batch, enter };
}

/** Whether work is still waiting after a while in which it would have gone in. */
const isWaiting = (work: Promise<unknown>) =>
  Promise.race([work.then(() => false), new Promise((resolve) => setTimeout(() => resolve(true), 40))]);

describe('the window of a batch', () => {
  it('lets the first evaluations go before others, and costs a small batch nothing', async () => {
    const { enter, batch } = play(20_000);
    for (let n = 0; n < 4; n += 1) expect(await enter(64)).toBeUndefined();
    expect(batch).not.toHaveBeenCalled();
    expect(await enter(64)).toEqual({ pure: 5 });
  });

  it('gives what comes after them turns one after the other, from where others stand', async () => {
    const { enter } = play(20_000, standing({ accepted: 300, decided: 300 }), { pure: 50 });
    const turns = [];
    for (let n = 0; n < 3; n += 1) turns.push(await enter(64));
    expect(turns).toEqual([{ pure: 50 }, { pure: 51 }, { pure: 52 }]);
  });

  it('gives a batch of more weight more work for a turn', async () => {
    const { enter } = play(20_000, standing({ accepted: 300, decided: 300, weight: 2 }), { pure: 50 });
    const turns = [];
    for (let n = 0; n < 4; n += 1) turns.push(await enter(64));
    expect(turns.map((each) => each?.pure)).toEqual([50, 50, 51, 51]);
  });

  it('puts another upload to a batch behind what waits of it', async () => {
    const { enter } = play(20_000, standing({ accepted: 3000, decided: 440 }), { pure: 50 });
    expect(await enter(64)).toEqual({ pure: 90 });
  });

  it('waits while too much is undecided, tells that it moves, and goes on', async () => {
    const moved = vi.fn();
    const { enter, state } = play(100, standing(), {}, { moved });
    await enter(64);
    await enter(64);
    const third = enter(64);
    expect(await isWaiting(third)).toBe(true);
    expect(moved).not.toHaveBeenCalled();
    state.decided = 64;
    expect(await third).toBeUndefined();
    expect(moved).toHaveBeenCalledOnce();
  });

  it('counts what an earlier call has accepted', async () => {
    const { enter, state } = play(100, standing({ accepted: 128, decided: 0 }));
    const first = enter(1);
    expect(await isWaiting(first)).toBe(true);
    state.decided = 128;
    await first;
  });

  it('waits no more once it is told to stop', async () => {
    const stop = new AbortController();
    const { enter } = play(64, standing(), {}, { signal: stop.signal });
    await enter(64);
    const second = enter(64);
    expect(await isWaiting(second)).toBe(true);
    stop.abort();
    await second;
  });

  it('lets work in where the batch is gone', async () => {
    const deps = { store: { batches: { batch: async () => undefined } }, queue: {}, clock: Date };
    const window = new Window(deps, 10, standing({ accepted: 500 }));
    expect(await window.enter({ evaluations: 64, checks: { pure: 64, runner: 1 } })).toEqual({
      pure: 1,
      runner: 1,
    });
  });
});
