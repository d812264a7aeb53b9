import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LOOK_EVERY_MS, whileUndecided } from '../../../src/app/undecided.js';

/** Work that ends with its signal alone. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<string>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
const never = new AbortController().signal;

describe('work that matters only while its evaluation is undecided', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('is not begun when that is decided', async () => {
    const work = vi.fn(async () => 'done');
    expect(await whileUndecided(async () => true, never, work)).toBeUndefined();
    expect(work).not.toHaveBeenCalled();
  });

  it('comes to its end while it is not', async () => {
    expect(
      await whileUndecided(
        async () => false,
        never,
        async () => 'done',
      ),
    ).toBe('done');
  });

  it('is stopped at the next look once it is, and brings nothing', async () => {
    let decided = false;
    const running = whileUndecided(async () => decided, never, untilAborted);
    await vi.advanceTimersByTimeAsync(3 * LOOK_EVERY_MS);
    decided = true;
    await vi.advanceTimersByTimeAsync(LOOK_EVERY_MS);
    expect(await running).toBeUndefined();
  });

  it('brings nothing either when it does not heed the signal', async () => {
    let decided = false;
    const running = whileUndecided(
      async () => decided,
      never,
      () => new Promise((resolve) => setTimeout(() => resolve('late'), 10 * LOOK_EVERY_MS)),
    );
    await vi.advanceTimersByTimeAsync(LOOK_EVERY_MS);
    decided = true;
    await vi.advanceTimersByTimeAsync(9 * LOOK_EVERY_MS);
    expect(await running).toBeUndefined();
  });

  it('throws when the worker is to stop: another must do it again', async () => {
    const stop = new AbortController();
    const running = whileUndecided(async () => false, stop.signal, untilAborted);
    const expected = expect(running).rejects.toThrow('drain');
    await vi.advanceTimersByTimeAsync(0);
    stop.abort(new Error('drain'));
    await expected;
  });

  it('throws what the work throws by itself', async () => {
    const broken = () => Promise.reject(new Error('broken'));
    await expect(whileUndecided(async () => false, never, broken)).rejects.toThrow('broken');
  });

  it('may have any number of runs listen to its signal', async () => {
    const warned = vi.fn();
    process.on('warning', warned);
    const listening = async (signal: AbortSignal) => {
      for (let n = 0; n < 20; n += 1) signal.addEventListener('abort', () => {});
      await new Promise<void>((resolve) => process.nextTick(resolve));
    };
    await whileUndecided(async () => false, never, listening);
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
  });

  it('goes on over looks that fail or hang', async () => {
    let looks = 0;
    const isDecided = () => {
      looks += 1;
      if (looks === 2) return Promise.reject(new Error('Redis is away'));
      return looks === 3 ? new Promise<boolean>(() => {}) : Promise.resolve(false);
    };
    const running = whileUndecided(isDecided, never, async () => {
      await new Promise((resolve) => setTimeout(resolve, 6 * LOOK_EVERY_MS));
      return 'done';
    });
    await vi.advanceTimersByTimeAsync(6 * LOOK_EVERY_MS);
    expect(await running).toBe('done');
    expect(looks).toBe(3);
  });
});
