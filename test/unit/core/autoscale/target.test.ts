import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Load, measure, type Sample, waitedMs } from '../../../../src/core/autoscale/load.js';
import {
  neededWorkers,
  ownShare,
  type ScalePolicy,
  type ScaleState,
  targetWorkers,
} from '../../../../src/core/autoscale/target.js';

const NOW = 1_000_000;
const policy: ScalePolicy = { min: 0, max: 8, idleMs: 30_000, targetAgeMs: 2000 };

const sampleOf = (part: Partial<Sample> = {}): Sample => ({
  at: NOW,
  waiting: 0,
  active: 0,
  dueMs: undefined,
  added: 0,
  left: 0,
  oldestMs: undefined,
  workers: 0,
  ...part,
});

const loadOf = (part: Partial<Sample> = {}, more: Partial<Load> = {}): Load => ({
  sample: sampleOf(part),
  emptyAt: undefined,
  arrivals: 0,
  rate: undefined,
  moved: false,
  ...more,
});

describe('what a load needs', () => {
  it.each<[string, Load, number]>([
    ['nothing where nothing is to be done', loadOf(), 0],
    ['one where work waits and nobody knows how fast it goes', loadOf({ waiting: 1000 }), 1],
    ['one as long as something is in hand', loadOf({ active: 1, workers: 1 }), 1],
    ['one where something came and went since the last look', loadOf({ workers: 1 }, { moved: true }), 1],
    ['one for a try that is due before the idle time is over', loadOf({ dueMs: 20_000, workers: 1 }), 1],
    ['none for a try that is due later', loadOf({ dueMs: 40_000, workers: 1 }), 0],
    ['none for a try that is not due yet where there is no worker', loadOf({ dueMs: 20_000 }), 0],
    ['one for a try that is due where there is no worker', loadOf({ dueMs: 0 }), 1],
    ['what takes all within the target age', loadOf({ waiting: 100, workers: 4 }, { rate: 10 }), 5],
    ['what keeps up with what comes', loadOf({ active: 2, workers: 3 }, { rate: 10, arrivals: 29 }), 3],
    ['no more than there are jobs for', loadOf({ waiting: 2, workers: 1 }, { rate: 0.001 }), 3],
  ])('is %s', (_, load, need) => {
    expect(neededWorkers(load, policy)).toBe(need);
  });
});

describe('the target', () => {
  const quiet: ScaleState = { since: NOW - 60_000, needs: [] };
  const busy: ScaleState = { since: NOW - 60_000, needs: [{ at: NOW - 10_000, need: 3 }] };
  const late = { waiting: 50, oldestMs: 3000 };
  it.each<[string, ScaleState | undefined, Load, number, number, number, string]>([
    ['one at once from zero', undefined, loadOf({ waiting: 1, oldestMs: 0 }), 0, 0, 1, 'work'],
    ['all that are needed from zero', quiet, loadOf({ waiting: 60 }, { rate: 10 }), 0, 0, 3, 'work'],
    ['zero where nothing waits', undefined, loadOf(), 0, 0, 0, 'steady'],
    ['twice as many when the oldest waits too long', quiet, loadOf({ ...late, workers: 2 }), 2, 0, 4, 'late'],
    [
      'as many as needed when the speed is known',
      quiet,
      loadOf({ ...late, workers: 2 }, { rate: 5 }),
      2,
      0,
      5,
      'late',
    ],
    ['the same while some begin', busy, loadOf({ ...late, workers: 1 }), 2, 1, 2, 'steady'],
    [
      'the same while nothing is late',
      quiet,
      loadOf({ waiting: 50, oldestMs: 100, workers: 1 }),
      1,
      0,
      1,
      'steady',
    ],
    ['the most at the limit', quiet, loadOf({ ...late, workers: 8 }), 8, 0, 8, 'limits'],
    ['zero after the idle time', quiet, loadOf({ workers: 2 }), 2, 0, 0, 'idle'],
    ['what was needed in the idle time', busy, loadOf({ workers: 5 }), 5, 0, 3, 'idle'],
    [
      'the same before the idle time is over',
      { since: NOW - 5000, needs: [] },
      loadOf({ workers: 2 }),
      2,
      0,
      2,
      'steady',
    ],
  ])('is %s', (_, state, load, running, starting, workers, why) => {
    expect(targetWorkers(state, load, running, starting, NOW, policy)).toMatchObject({ workers, why });
  });

  const anything = fc.record({
    waiting: fc.nat(5000),
    active: fc.nat(50),
    oldestMs: fc.nat(100_000),
    workers: fc.nat(20),
    starting: fc.nat(5),
    arrivals: fc.double({ min: 0, max: 1000, noNaN: true }),
    rate: fc.option(fc.double({ min: 0, max: 1000, noNaN: true }), { nil: undefined }),
    min: fc.nat(5),
    max: fc.integer({ min: 1, max: 20 }),
  });

  it('never leaves its limits', () => {
    fc.assert(
      fc.property(anything, ({ arrivals, rate, min, max, starting, ...part }) => {
        const limits = { ...policy, min: Math.min(min, max), max };
        const load = loadOf(part, { arrivals, rate });
        const { workers } = targetWorkers(undefined, load, part.workers + starting, starting, NOW, limits);
        expect(workers).toBeGreaterThanOrEqual(limits.min);
        expect(workers).toBeLessThanOrEqual(limits.max);
      }),
    );
  });

  it('never falls when more waits', () => {
    fc.assert(
      fc.property(anything, fc.nat(1000), ({ arrivals, rate, starting, ...part }, more) => {
        const at = (waiting: number) => {
          const load = loadOf({ ...part, waiting }, { arrivals, rate });
          return targetWorkers(quiet, load, part.workers + starting, starting, NOW, policy).workers;
        };
        expect(at(part.waiting + more)).toBeGreaterThanOrEqual(at(part.waiting));
      }),
    );
  });
});

/** A fleet whose workers do `speed` jobs a second each, and which is looked at each second. */
function play(seconds: number, speed: number, comes: (second: number) => number) {
  let state: ScaleState | undefined;
  let load: Load | undefined;
  let running = 0;
  const queue: number[] = [];
  let [added, left] = [0, 0];
  const targets: number[] = [];
  for (let second = 0; second < seconds; second++) {
    const at = NOW + second * 1000;
    const came = comes(second);
    for (let n = 0; n < came; n++) queue.push(at);
    added += came;
    const done = queue.splice(0, Math.min(queue.length, Math.round(running * speed))).length;
    left += done;
    const oldestMs = queue[0] === undefined ? undefined : at - queue[0];
    const active = Math.min(done, running);
    load = measure(
      load,
      sampleOf({ at, waiting: queue.length, active, added, left, oldestMs, workers: running }),
    );
    const target = targetWorkers(state, load, running, 0, at, policy);
    state = target.state;
    running = target.workers;
    targets.push(running);
  }
  return { targets, waiting: queue.length };
}

/** How often a series turns from more to fewer or back. */
function turns(series: readonly number[]): number {
  const steps = series
    .slice(1)
    .map((value, i) => value - (series[i] ?? 0))
    .filter((step) => step !== 0);
  return steps.slice(1).filter((step, i) => Math.sign(step) !== Math.sign(steps[i] ?? 0)).length;
}

describe('in the course of time', () => {
  it('constant load is kept up with, without workers that come and go', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 5, max: 20 }), (arrivals, speed) => {
        fc.pre(arrivals < speed * policy.max * 0.9);
        const { targets, waiting } = play(400, speed, () => arrivals);
        expect(waiting).toBeLessThanOrEqual(arrivals * 3);
        expect(turns(targets)).toBeLessThanOrEqual(2);
        expect(turns(targets.slice(150))).toBe(0);
        expect(targets.at(-1)).toBeLessThanOrEqual(Math.ceil(arrivals / speed) + 1);
      }),
      { numRuns: 60 },
    );
  });

  it('a batch brings workers, and their end brings zero after the idle time', () => {
    const { targets, waiting } = play(120, 10, (second) => (second === 1 ? 600 : 0));
    expect(waiting).toBe(0);
    expect(Math.max(...targets)).toBe(8);
    expect(targets.at(-1)).toBe(0);
    expect(turns(targets)).toBe(1);
  });

  it('a trickle keeps one worker', () => {
    const { targets } = play(200, 50, (second) => (second % 10 === 0 ? 1 : 0));
    expect(targets.slice(1).every((target) => target === 1)).toBe(true);
  });
});

describe('what a load is', () => {
  it('has no wait that is longer than since nothing waited', () => {
    const empty = measure(undefined, sampleOf({ at: NOW - 700 }));
    const load = measure(empty, sampleOf({ waiting: 1, added: 1, oldestMs: 3_600_000 }));
    expect(waitedMs(load, NOW)).toBe(700);
    expect(waitedMs(measure(undefined, sampleOf({ waiting: 1, oldestMs: 5000 })), NOW)).toBe(5000);
  });

  it('tells how fast workers are while work waits, and keeps it when none does', () => {
    let load = measure(undefined, sampleOf({ waiting: 100, added: 100, workers: 2 }));
    load = measure(load, sampleOf({ at: NOW + 1000, waiting: 80, added: 100, left: 20, workers: 2 }));
    expect(load.rate).toBe(10);
    load = measure(load, sampleOf({ at: NOW + 2000, added: 100, left: 100, workers: 2 }));
    expect(load.rate).toBe(10);
  });

  it('does not make much of two looks in a moment', () => {
    const first = measure(undefined, sampleOf({ waiting: 5, added: 5, workers: 1 }));
    const second = measure(first, sampleOf({ at: NOW + 1, waiting: 905, added: 905, workers: 1 }));
    expect(second).toMatchObject({ arrivals: 0, rate: undefined, moved: true });
    const third = measure(second, sampleOf({ at: NOW + 1000, waiting: 905, added: 905, workers: 1 }));
    expect(third.arrivals).toBeGreaterThan(100);
  });
});

describe('the share of one of several supervisors', () => {
  it.each([
    ['all that others do not run, alone', 4, 1, 0, 1, 3],
    ['nothing where others run enough', 3, 5, 0, 1, 0],
    ['its part where others run enough', 3, 3, 0, 2, 2],
    ['its smaller part', 3, 3, 1, 2, 1],
    ['more where others cannot', 4, 1, 0, 2, 3],
    ['nothing where there is nothing', 0, 0, 1, 2, 0],
  ])('is %s', (_, target, others, place, supervisors, own) => {
    expect(ownShare(target, others, place, supervisors)).toBe(own);
  });

  it('adds up to the target', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.integer({ min: 1, max: 6 }), (target, supervisors) => {
        const parts = Array.from({ length: supervisors }, (_, place) =>
          ownShare(target, target, place, supervisors),
        );
        const sum = parts.reduce((all, one) => all + one, 0);
        expect(sum).toBe(supervisors === 1 ? 0 : target);
      }),
    );
  });
});
