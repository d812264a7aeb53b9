import { describe, expect, it } from 'vitest';
import { ScaleAnswers } from '../../../../src/app/scale/answers.js';
import { type ScaleLook, ScaleWatch } from '../../../../src/app/scale/watch.js';
import type { QueueBacklog } from '../../../../src/ports/backlog.js';
import type { LivingRole } from '../../../../src/ports/store.js';

const queueOf = (part: Partial<QueueBacklog> = {}): QueueBacklog => ({
  queue: 'pure',
  shard: 0,
  waiting: 0,
  active: 0,
  delayed: 0,
  dueMs: undefined,
  added: 0,
  oldestMs: undefined,
  ...part,
});

/** A fleet whose queues and workers are what the test says. */
function fleet() {
  const state = { now: 1_000_000, queues: [] as QueueBacklog[], workers: [] as string[] };
  const watch = new ScaleWatch(
    {
      backlog: { read: async () => state.queues },
      roster: {
        alive: async () => state.workers.map((id): LivingRole => ({ role: 'worker', id, serves: [] })),
      },
      clock: { now: () => state.now },
    },
    30_000,
  );
  return { state, watch };
}

const policy = { idleMs: 30_000, targetAgeMs: 2000 };
const limits = { min: 0, max: 8 };

describe('what an autoscaler is told', () => {
  it('is a number before anything is known, within its limits', async () => {
    const fail = () => Promise.reject(new Error('away'));
    const answers = new ScaleAnswers(fail, { now: () => 0 }, policy);
    expect(await answers.answer(limits)).toEqual({ value: 1, backlog: 0, oldest_ms: 0, workers: 0 });
    expect((await answers.answer({ min: 2, max: 8 })).value).toBe(2);
    expect((await answers.answer({ min: 0, max: 0 })).value).toBe(0);
  });

  it('is what was told last while Redis is away', async () => {
    const { state, watch } = fleet();
    let look: () => Promise<ScaleLook> = () => watch.look();
    const answers = new ScaleAnswers(() => look(), { now: () => state.now }, policy);
    state.queues = [queueOf({ waiting: 12, added: 12, oldestMs: 5000 })];
    const before = await answers.answer(limits);
    expect(before).toEqual({ value: 1, backlog: 12, oldest_ms: 5000, workers: 0 });
    look = () => Promise.reject(new Error('away'));
    state.now += 60_000;
    expect(await answers.answer(limits)).toEqual(before);
  });

  it('asks Redis once a second at most', async () => {
    const { state, watch } = fleet();
    let looks = 0;
    const look = () => {
      looks += 1;
      return watch.look();
    };
    const answers = new ScaleAnswers(look, { now: () => state.now }, policy);
    await Promise.all([answers.answer(limits), answers.answer(limits)]);
    await answers.answer(limits);
    expect(looks).toBe(1);
    state.now += 1000;
    await answers.answer(limits);
    expect(looks).toBe(2);
  });
});

describe('a look at the load', () => {
  it('counts the queues whose jobs workers take, and the workers', async () => {
    const { state, watch } = fleet();
    state.workers = ['a', 'b', 'mine'];
    state.queues = [
      queueOf({ waiting: 3, active: 1, added: 10, oldestMs: 70 }),
      queueOf({ queue: 'runner', waiting: 2, delayed: 1, dueMs: 900, added: 5, oldestMs: 90 }),
      queueOf({ queue: 'decide', waiting: 50, added: 90, oldestMs: 9000 }),
    ];
    const { load } = await watch.look((id) => id === 'mine', 4);
    expect(load.sample).toEqual({
      at: state.now,
      waiting: 5,
      active: 1,
      dueMs: 900,
      oldestMs: 90,
      added: 15,
      left: 8,
      workers: 6,
    });
  });

  it('leaves out jobs of runners that nobody here moves, and has them tried from time to time', async () => {
    const { state, watch } = fleet();
    const stuck = () => [
      queueOf({ added: 3 }),
      queueOf({ queue: 'runner', waiting: 1, delayed: 4, dueMs: 0, added: 5, oldestMs: 600_000 }),
    ];
    state.queues = stuck();
    state.workers = ['a'];
    const waits = async () => (await watch.look()).load.sample.waiting;
    expect(await waits()).toBe(1);
    state.now += 61_000;
    expect(await waits()).toBe(0);
    state.workers = [];
    expect(await waits()).toBe(1);
    state.now += 1000;
    expect(await waits()).toBe(0);
    state.now += 300_000;
    expect(await waits()).toBe(1);
    // One has left: they are not stuck.
    state.queues = [queueOf({ queue: 'runner', waiting: 1, delayed: 3, dueMs: 0, added: 5 })];
    state.now += 1000;
    expect(await waits()).toBe(1);
  });
});
