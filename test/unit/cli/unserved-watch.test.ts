import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../config/schema.js';
import {
  UnservedWatch,
  type Waiting,
  waitingAdvice,
  waitingOf,
  waitingWords,
} from '../../../src/cli/unserved-watch.js';

const waiting = (count: number, isCut = false): Waiting => ({ needs: ['ansible'], count, isCut });
const SECOND = 1000;

describe('a batch whose checks wait for a runner', () => {
  it('is told of at once, and every minute', () => {
    const watch = new UnservedWatch(true);
    const told = [0, 5, 59, 60, 119, 120].map((at) => watch.see(at * SECOND, waiting(2), 1, 2));
    expect(told).toEqual(['warn', 'fine', 'fine', 'warn', 'fine', 'warn']);
  });

  it('is no concern while nothing waits', () => {
    const watch = new UnservedWatch(false);
    for (const at of [0, 100, 200]) expect(watch.see(at * SECOND, waiting(0), 1, 9)).toBe('fine');
  });

  it('is given up when nothing else is left and nothing was decided for a minute', () => {
    const watch = new UnservedWatch(false);
    expect(watch.see(0, waiting(2), 1, 2)).toBe('warn');
    expect(watch.see(59 * SECOND, waiting(2), 1, 2)).toBe('fine');
    expect(watch.see(60 * SECOND, waiting(2), 1, 2)).toBe('give-up');
  });

  it.each<[string, boolean, (at: number) => [Waiting, number, number]]>([
    ['others may come', true, () => [waiting(2), 1, 2]],
    ['something else is left', false, () => [waiting(2), 1, 3]],
    ['something is decided now and then', false, (at) => [waiting(2), Math.floor(at / 45), 2]],
  ])('is not given up while %s', (_name, others, standing) => {
    const watch = new UnservedWatch(others);
    const told = Array.from({ length: 60 }, (_, n) => watch.see(n * 5 * SECOND, ...standing(n * 5)));
    expect(told).not.toContain('give-up');
  });

  it('is given up by what can be seen where there is more', () => {
    const watch = new UnservedWatch(false);
    watch.see(0, waiting(200, true), 1, 5000);
    expect(watch.see(60 * SECOND, waiting(200, true), 1, 5000)).toBe('give-up');
  });

  it('is told in words', () => {
    const rest = 'which no living worker serves';
    expect(waitingWords(waiting(1))).toBe(`an evaluation waits for ansible, ${rest}`);
    expect(waitingWords({ ...waiting(2), needs: ['ansible', 'mcp:x'] })).toBe(
      `2 evaluations wait for ansible and mcp:x, ${rest}`,
    );
    expect(waitingWords(waiting(200, true))).toBe(`200 or more evaluations wait for ansible, ${rest}`);
  });

  it('is told with what to do: to change the setting first where that is why', () => {
    const adviceOf = (worker: object) => waitingAdvice(configSchema.parse({ worker }), 'sluice worker');
    const start = 'start a worker on a machine that has it (sluice doctor tells): sluice worker';
    expect(adviceOf({})).toBe(start);
    const advice = adviceOf({ runner_concurrency: 0 });
    expect(advice).toMatch(
      /^here worker\.runner_concurrency is 0 in the settings, .*: set it to 1 or more, or /,
    );
    expect(advice.endsWith(start)).toBe(true);
  });

  it('is told apart from other batches and from plans', async () => {
    const marks = ['a', 'b', 'c', 'gone'].map((chunk, n) => ({
      chunk,
      needs: [`mcp:${n}`, 'ansible'],
      since: n,
    }));
    const batches = ['own', 'other', 'own', undefined];
    const store = {
      unserved: { list: async () => marks },
      evaluations: {
        chunks: async () => batches.map((batch) => batch && { chunk: { batch }, generation: 1 }),
      },
    };
    expect(await waitingOf(store as never, 'own')).toEqual({
      needs: ['ansible', 'mcp:0', 'mcp:2'],
      count: 2,
      isCut: false,
    });
  });
});
