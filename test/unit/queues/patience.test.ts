import { describe, expect, it, vi } from 'vitest';
import { patiently, willPass } from '../../../queues/patience.js';

describe('trouble that will pass', () => {
  it.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", undefined, true],
    ['MISCONF Redis is configured to save RDB snapshots', undefined, true],
    ['LOADING Redis is loading the dataset in memory', undefined, true],
    ["READONLY You can't write against a read only replica.", undefined, true],
    ['Connection is closed.', undefined, true],
    ['connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED', true],
    ['WRONGTYPE Operation against a key', undefined, false],
    ['OOMPH', undefined, false],
    ['ERR unknown command', undefined, false],
    ['x is not a function', undefined, false],
  ])('%s (%s): %s', (message, code, passes) => {
    expect(willPass(Object.assign(new Error(message), { code }))).toBe(passes);
  });

  it('is no matter of undefined, null or text', () => {
    expect([undefined, null, 'OOM', 1].map(willPass)).toEqual([false, false, false, false]);
  });
});

describe('patiently', () => {
  const oom = new Error('OOM command not allowed');

  it('does the work again until it is done, and tells of every refusal', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const work = vi.fn().mockRejectedValueOnce(oom).mockResolvedValue('done');
      const told = vi.fn();
      const done = patiently(work, new AbortController().signal, told);
      await vi.runAllTimersAsync();
      expect(await done).toBe('done');
      expect([work.mock.calls.length, told.mock.calls.length]).toEqual([2, 1]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('throws at once what will not pass', async () => {
    const work = vi.fn().mockRejectedValue(new Error('no'));
    await expect(patiently(work, new AbortController().signal, () => {})).rejects.toThrow('no');
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('gives up when it is told to stop', async () => {
    const stop = new AbortController();
    const waiting = patiently(
      () => Promise.reject(oom),
      stop.signal,
      () => stop.abort(),
    );
    await expect(waiting).rejects.toThrow();
  });
});
