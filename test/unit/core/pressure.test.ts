import { describe, expect, it } from 'vitest';
import {
  type Hold,
  holdOf,
  holdWords,
  isNear,
  type Load,
  type PressureMarks,
} from '../../../src/core/pressure.js';

const MIB = 2 ** 20;
const usual: PressureMarks = { memory: { percent: 80 }, waiting: 1000 };
const memory = (used: number, limit: number): Load => ({ memory: { used, limit }, waiting: 0 });
const held = (kind: Hold['kind']): Hold => ({ kind, found: 0, mark: 0 });

describe('holdOf', () => {
  it.each<[string, Load, PressureMarks, Hold | undefined, Hold['kind'] | undefined]>([
    ['nothing is known', {}, usual, undefined, undefined],
    ['all is below', { ...memory(79, 100), waiting: 999 }, usual, undefined, undefined],
    ['a share of the memory is in use', memory(80, 100), usual, undefined, 'memory'],
    ['there is no limit that it is a share of', memory(1e12, 0), usual, undefined, undefined],
    ['bytes hold without a limit', memory(10, 0), { memory: { bytes: 10 } }, undefined, 'memory'],
    ['too many jobs wait', { waiting: 1000 }, usual, undefined, 'backlog'],
    ['a mark that is off holds up nobody', memory(100, 100), { waiting: 5 }, undefined, undefined],
    ['it goes on below nine tenths only', memory(72, 100), usual, held('memory'), 'memory'],
    ['… and then it does', memory(71.9, 100), usual, held('memory'), undefined],
    ['… of the mark that it waited for', { waiting: 950 }, usual, held('memory'), undefined],
    ['both: memory is told', { ...memory(90, 100), waiting: 1000 }, usual, held('backlog'), 'memory'],
  ])('%s', (_name, load, marks, before, kind) => {
    expect(holdOf(load, marks, before)?.kind).toBe(kind);
  });
});

describe('isNear', () => {
  const large = 10_000 * MIB;
  it.each<[string, Load, PressureMarks, boolean]>([
    ['far below', memory(0.5 * large, large), usual, false],
    ['seven tenths of a mark', memory(0.56 * large, large), usual, true],
    ['no more room than may be taken while nobody looks', memory(20 * MIB, 100 * MIB), usual, true],
    ['as few jobs', { waiting: 0 }, { waiting: 4000 }, true],
    ['room for many more jobs', { waiting: 0 }, { waiting: 100_000 }, false],
    ['no mark', memory(1e12, 0), usual, false],
  ])('%s', (_name, load, marks, near) => {
    const own = 'memory' in load ? { memory: load.memory } : load;
    expect(isNear(own as Load, marks)).toBe(near);
  });
});

describe('holdWords', () => {
  it.each<[Hold, string]>([
    [
      { kind: 'memory', found: 83.2 * MIB, mark: 80 * MIB },
      'Redis uses 83 MiB, and new work waits from 80 MiB on (backpressure.redis_memory)',
    ],
    [
      { kind: 'backlog', found: 120_000, mark: 100_000 },
      '120000 jobs wait, and new work waits from 100000 on (backpressure.backlog)',
    ],
  ])('%o', (hold, words) => {
    expect(holdWords(hold)).toBe(words);
  });
});
