import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBulk, LAST_TURN, resumedAt, turnAt, turnsOf } from '../../../src/core/fairness.js';

describe('isBulk', () => {
  it.each<[string, number, number, number, boolean]>([
    ['nothing yet', 0, 0, 0, false],
    ['a small batch', 255, 2550, 0, false],
    ['many evaluations', 256, 256, 0, true],
    ['many checks of few evaluations', 3, 2560, 0, true],
    ['a few playbooks', 15, 0, 15, false],
    ['many playbooks', 16, 0, 16, true],
  ])('%s', (_name, evaluations, pure, runner, bulk) => {
    expect(isBulk(evaluations, { pure, runner })).toBe(bulk);
  });
});

describe('turns', () => {
  it.each<[string, number, number | undefined, number, number, number]>([
    ['a batch that begins stands beside the lowest that waits', LAST_TURN, 70, 0, 1, 70],
    ['one that begins where nothing waits begins with the first turn', LAST_TURN, undefined, 0, 1, 1],
    ['one that asked for nothing for a while has saved nothing', 3, 70, 640, 1, 70],
    ['one that is ahead by its own waiting work stays there', 75, 70, 6400, 1, 75],
    ['one that is further ahead comes back', 1000, 70, 6400, 1, 80],
    ['where turns begin again, so does it', 1000, undefined, 6400, 1, 11],
    ['a heavy one is less far ahead for the same work', 1000, 70, 6400, 10, 71],
  ])('%s', (_name, at, lowest, waiting, weight, expected) => {
    expect(resumedAt('pure', at, lowest, waiting, weight)).toBe(expected);
  });

  it('are whole, from the first to the last', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (at) => {
        const turn = turnAt(at);
        expect(Number.isInteger(turn) && turn >= 1 && turn <= LAST_TURN).toBe(true);
      }),
    );
  });
});

/** Checks of a chunk in these plays: a turn of a batch of weight 1. */
const CHUNK = 640;

/** A batch that always has something to bring, up to a window of chunks. */
interface Bringing {
  weight: number;
  window: number;
  at: number;
  waiting: number;
  served: number;
}
const bringing = (weight: number, window = 40): Bringing => ({
  weight,
  window,
  at: LAST_TURN,
  waiting: 0,
  served: 0,
});

/** A queue as BullMQ keeps it: the lowest turn first, and among the same the first that came. */
class Line {
  readonly #waiting: { turn: number; batch: Bringing }[] = [];

  lowest = (): number | undefined => this.#waiting[0]?.turn;

  add(turn: number, batch: Bringing): void {
    const behind = this.#waiting.findIndex((each) => each.turn > turn);
    this.#waiting.splice(behind === -1 ? this.#waiting.length : behind, 0, { turn, batch });
  }

  serve(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    next.batch.waiting -= 1;
    next.batch.served += 1;
  }

  fill(batch: Bringing): void {
    batch.at = resumedAt('pure', batch.at, this.lowest(), batch.waiting * CHUNK, batch.weight);
    for (; batch.waiting < batch.window; batch.waiting += 1) {
      this.add(turnAt(batch.at), batch);
      batch.at += turnsOf('pure', CHUNK, batch.weight);
    }
  }
}

/** Serves so many chunks while these batches bring more, each as soon as it sees that it may. */
function play(line: Line, batches: readonly Bringing[], chunks: number): void {
  for (let n = 0; n < chunks; n += 1) {
    if (n % 8 === 0) for (const batch of batches) line.fill(batch);
    line.serve();
  }
}

describe('large batches that bring work at the same time', () => {
  it('get shares by weight', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(weights, (given) => {
        const batches = given.map((weight) => bringing(weight));
        play(new Line(), batches, 2000);
        const sum = given.reduce((all, weight) => all + weight, 0);
        for (const { weight, served } of batches) {
          const fair = (2000 * weight) / sum;
          expect(served).toBeGreaterThan(fair * 0.85 - 20);
          expect(served).toBeLessThan(fair * 1.15 + 20);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('share with one that comes later, which neither waits for them nor holds them up', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 20, max: 400 }), (before, window) => {
        const line = new Line();
        const old = bringing(1, window);
        play(line, [old], before);
        const fresh = bringing(1);
        const earlier = old.served;
        play(line, [old, fresh], 400);
        expect(Math.abs(fresh.served - 200)).toBeLessThan(30);
        expect(Math.abs(old.served - earlier - 200)).toBeLessThan(30);
      }),
      { numRuns: 50 },
    );
  });

  it('share again after turns have begun again', () => {
    const line = new Line();
    const old = bringing(1);
    play(line, [old], 5000);
    while (old.waiting > 0) line.serve();
    const fresh = bringing(1);
    const before = old.served;
    play(line, [fresh], 8);
    play(line, [old, fresh], 400);
    expect(Math.abs(old.served - before - 200)).toBeLessThan(30);
  });

  it('go in the order of arrival at the end of the range, and none starves', () => {
    const line = new Line();
    const [one, two] = [bringing(1), bringing(5)];
    for (let n = 0; n < 40; n += 1) line.add(LAST_TURN, one);
    one.waiting = 40;
    play(line, [one, two], 800);
    expect(one.served).toBeGreaterThan(300);
    expect(two.served).toBeGreaterThan(300);
  });
});
