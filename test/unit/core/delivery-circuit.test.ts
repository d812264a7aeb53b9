import { describe, expect, it } from 'vitest';
import {
  afterLook,
  afterSign,
  type Circuit,
  mayTry,
  openCircuit,
  type Sign,
} from '../../../src/core/delivery-circuit.js';

const works: Sign = { kind: 'works', took: true };
const away: Sign = { kind: 'away', reason: 'no answer' };
const gone: Sign = { kind: 'gone', reason: '410' };

/** Signs one after the other, each as a probe where the circuit asks for one. */
function walk(signs: readonly [Sign, number][], from = openCircuit(undefined, 0)): Circuit {
  let circuit = from;
  for (const [sign, now] of signs) {
    const probe = mayTry(circuit, now) === 'probe';
    const begun = { probe, longestMs: 5000, jitter: 0.999999 };
    circuit = afterSign({ ...circuit, probing: probe }, sign, begun, now);
  }
  return circuit;
}

describe('a circuit', () => {
  it('is open to all while the sink works, whatever it refuses', () => {
    const circuit = walk([
      [works, 1],
      [{ kind: 'works', took: false }, 2],
    ]);
    expect(circuit).toMatchObject({ state: 'delivering', tookAt: 1, since: 0 });
    expect(mayTry(circuit, 3)).toBe('go');
  });

  it('pauses a sink that is away, longer after each probe up to the longest, and not for those under way', () => {
    const first = walk([[away, 10]]);
    expect(first).toMatchObject({ state: 'away', reason: 'no answer', since: 10, nextTry: 1010, pauses: 1 });
    expect(walk([[away, 20]], first)).toMatchObject({ nextTry: 1010, pauses: 1, failedAt: 20 });
    expect(mayTry(first, 1009)).toBe('wait');
    expect(mayTry(first, 1010)).toBe('probe');
    const second = walk([[away, 1010]], first);
    expect(second).toMatchObject({ nextTry: 3010, pauses: 2, since: 10, probing: false });
    const third = walk([[away, 3010]], second);
    expect(third).toMatchObject({ nextTry: 7010, pauses: 3 });
    expect(walk([[away, 7010]], third)).toMatchObject({ nextTry: 12_010, pauses: 4 });
  });

  it('lets one probe through at a time', () => {
    const paused = walk([[away, 0]]);
    expect(mayTry({ ...paused, probing: true }, 60_000)).toBe('wait');
  });

  it('waits as long as the sink asks', () => {
    expect(walk([[{ kind: 'away', reason: '429', retryAfterMs: 90_000 }, 10]]).nextTry).toBe(90_010);
  });

  it('is open again after one that arrived or was refused, and starts over with short pauses', () => {
    for (const took of [true, false]) {
      const back = walk([
        [away, 0],
        [away, 1000],
        [{ kind: 'works', took }, 3000],
      ]);
      expect(back).toMatchObject({ state: 'delivering', reason: null, since: 3000, nextTry: null });
      expect(walk([[away, 3001]], back)).toMatchObject({ pauses: 1, nextTry: 4001 });
    }
  });

  it('stays shut for a sink that is gone, whatever those under way bring back', () => {
    const shut = walk([
      [gone, 5],
      [works, 6],
      [away, 7],
      [gone, 8],
    ]);
    expect(shut).toMatchObject({ state: 'disabled', reason: '410', since: 5, nextTry: null });
    expect(mayTry(shut, 1e15)).toBe('wait');
  });

  it.each([
    ['new', undefined, 'go'],
    ['delivering', 'delivering', 'go'],
    ['away', 'away', 'probe'],
    ['disabled', 'disabled', 'wait'],
  ] as const)('of a sink that was left as %s begins with: %s', (_, state, may) => {
    const left = state === undefined ? undefined : { state, reason: 'r', since: 5 };
    const circuit = openCircuit(left, 100);
    expect(mayTry(circuit, 100)).toBe(may);
    expect(circuit.since).toBe(left === undefined ? 100 : 5);
  });

  it.each([
    ['is enabled by hand', walk([[gone, 5]]), 'delivering', 6, 'delivering', 'go'],
    ['hears that another was told it is gone', openCircuit(undefined, 0), 'disabled', 5, 'disabled', 'wait'],
    ['probes when another reached it since', walk([[away, 5]]), 'delivering', 6, 'away', 'probe'],
    ['waits when another reached it before', walk([[away, 5]]), 'delivering', 4, 'away', 'wait'],
    ['goes on when another did not reach it', openCircuit(undefined, 0), 'away', 4, 'delivering', 'go'],
  ] as const)('%s', (_, circuit, state, since, becomes, may) => {
    const next = afterLook(circuit, { state, reason: 'r', since }, 100);
    expect(next.state).toBe(becomes);
    expect(mayTry(next, 100)).toBe(may);
  });

  it('goes on as it is when nothing is noted', () => {
    const circuit = walk([[away, 5]]);
    expect(afterLook(circuit, undefined, 100)).toBe(circuit);
  });
});
