import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { InHand } from '../../../../queues/buses/in-hand.js';
import { Keeper, LongPause } from '../../../../queues/buses/keeper.js';
import { Shared } from '../../../../queues/buses/shared.js';

const message = { body: Buffer.from('x'), attributes: {}, place: 'here' };
const never = new AbortController().signal;

describe('messages in hand', () => {
  it('are let go when their connection is gone, and free their slot', async () => {
    const hands = new InHand(async () => ({ kind: 'later', afterMs: 60_000, reason: 'no' }), 1);
    const gone = new AbortController();
    const first = hands.hold(message, gone.signal);
    const second = hands.hold(message, gone.signal);
    gone.abort();
    expect(await Promise.all([first, second])).toEqual([false, false]);
    const third = hands.hold(message, never);
    await hands.close(1_000);
    expect(await third).toBe(false);
  });

  it('wake the next that waits though the one before it was let go', async () => {
    let finish = () => {};
    const opened = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const hands = new InHand(async () => {
      await opened;
      return { kind: 'done' };
    }, 1);
    const first = hands.hold(message, never);
    const gone = new AbortController();
    const second = hands.hold(message, gone.signal);
    const third = hands.hold(message, never);
    gone.abort();
    finish();
    expect(await Promise.all([first, second, third])).toEqual([true, false, true]);
  });

  it('leave nothing behind at a connection that stands for years', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const hands = new InHand(async () => ({ kind: 'done' }), 4);
    const stands = new AbortController().signal;
    const used = async () => {
      for (let n = 0; n < 6_000; n += 1)
        await Promise.all(Array.from({ length: 8 }, () => hands.hold(message, stands)));
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = await used();
    await used();
    expect((await used()) - before).toBeLessThan(3_000_000);
    await hands.close(20);
  });

  it('do not hold up a close for longer than it may take', async () => {
    const hands = new InHand(() => new Promise(() => {}), 1);
    void hands.hold(message, never);
    await hands.close(20);
  });
});

describe('a kept connection', () => {
  it('is made again after pauses that grow, and tells the same trouble once', async () => {
    vi.useFakeTimers();
    try {
      const told: string[] = [];
      let tries = 0;
      const keeper = new Keeper(
        async () => {
          tries += 1;
          throw new Error('no broker');
        },
        ({ message }) => told.push(message),
      );
      await keeper.start();
      await vi.advanceTimersByTimeAsync(100 + 200 + 400 + 50);
      expect(tries).toBe(4);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(tries).toBeGreaterThan(10);
      expect(tries).toBeLessThan(20);
      expect(told).toEqual(['no broker']);
      keeper.end();
      const before = tries;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(tries).toBe(before);
    } finally {
      vi.useRealTimers();
    }
  });

  it('rests for as long as it is told to', async () => {
    vi.useFakeTimers();
    try {
      let tries = 0;
      const keeper = new Keeper(
        async () => {
          tries += 1;
          throw new LongPause('taken', 30_000);
        },
        () => {},
      );
      await keeper.start();
      await vi.advanceTimersByTimeAsync(29_000);
      expect(tries).toBe(1);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(tries).toBe(2);
      keeper.end();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('something shared', () => {
  it('is opened once for all who ask, and again when it is no longer open', async () => {
    let opened = 0;
    const shared = new Shared(async () => ({ n: ++opened, isOpen: true as boolean }));
    const [a, b] = await Promise.all([shared.get(), shared.get()]);
    expect([a.n, b.n]).toEqual([1, 1]);
    a.isOpen = false;
    const [c, d] = await Promise.all([shared.get(), shared.get()]);
    expect([c.n, d.n]).toEqual([2, 2]);
  });

  it('is opened anew after it could not be', async () => {
    let tries = 0;
    const shared = new Shared(async () => {
      if (++tries === 1) throw new Error('no');
      return { isOpen: true };
    });
    await expect(shared.get()).rejects.toThrow('no');
    await shared.get();
    expect(tries).toBe(2);
  });
});
