import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deliver, giveUp, type SinkReader } from '../../../src/app/deliver.js';
import { backoffMs } from '../../../src/core/backoff.js';
import type { OutboxEvent } from '../../../src/core/events.js';
import type { Sink } from '../../../src/ports/sink.js';
import { openMemoryStore } from '../../../src/store/memory/index.js';
import { chunkOf, event, openingOf } from '../../support/evidence.js';

const NOW = 1_700_000_000_000;

async function outboxWith(...events: OutboxEvent[]) {
  const store = openMemoryStore({ outboxCap: 100 });
  await store.batches.openBatch(openingOf('b', []));
  const chunk = chunkOf('b', 'c', 1);
  await store.evaluations.accept(chunk, [], events, NOW, NOW);
  await store.outbox.openReader('r', '');
  const entries = await store.outbox.claim('r', 'one', 100, 0, 60_000);
  const positions = entries.map(({ position }) => position);
  await store.outbox.holdBack('r', positions);
  await store.outbox.acknowledge('r', positions);
  return { deps: { outbox: store.outbox, clock: { now: () => NOW }, fleet: 'f' }, positions };
}
const reader = (sink: Partial<Sink>): SinkReader => ({
  name: 'r',
  sink: { deliver: async () => [], close: async () => {}, ...sink },
});

describe('backoffMs', () => {
  it.each([
    [1, 0, undefined, 500],
    [1, 0.999999, undefined, 1000],
    [4, 0, undefined, 4000],
    [1000, 0.999999, undefined, 300_000],
    [1, 0.5, 60_000, 60_000],
    [12, 0.5, 1, 225_000],
  ])('try %d with jitter %d and Retry-After %s waits %d ms', (n, jitter, retryAfter, ms) => {
    expect(backoffMs(n, jitter, retryAfter)).toBe(ms);
  });

  it('stays within half a second and five minutes unless the receiver asks for more, and never shrinks', () => {
    const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 }), jitter, fc.nat(), (n, j, retryAfter) => {
        const ms = backoffMs(n, j, retryAfter);
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(Math.max(500, retryAfter));
        expect(ms).toBeLessThanOrEqual(Math.max(300_000, retryAfter));
        expect(backoffMs(n + 1, j, retryAfter)).toBeGreaterThanOrEqual(ms);
      }),
    );
  });
});

describe('one delivery', () => {
  it('lets go of what arrived and keeps what did not, with its reason and the longest wait', async () => {
    const { deps, positions } = await outboxWith(event('a'), event('b'), event('c'));
    const sink = reader({
      deliver: async () => [
        { id: 'a', reason: 'busy', retryAfterMs: 10 },
        { id: 'c', reason: 'busy', retryAfterMs: 30 },
      ],
    });
    expect(await deliver(deps, sink, positions)).toEqual({
      positions: [positions[0], positions[2]],
      reason: 'busy',
      retryAfterMs: 30,
    });
    expect(await deps.outbox.outstanding('r')).toBe(2);
  });

  it('takes a sink that throws for one that took nothing', async () => {
    const { deps, positions } = await outboxWith(event('a'), event('b'));
    const rest = await deliver(deps, reader({ deliver: () => Promise.reject(new Error('down')) }), positions);
    expect(rest).toEqual({ positions, reason: 'down' });
    expect(await deps.outbox.outstanding('r')).toBe(2);
  });

  it('buries what was given up with one delivery.dead, and none for a delivery.dead', async () => {
    const dead = event('d', 'dev.sluice.delivery.dead.v1');
    const { deps, positions } = await outboxWith(event('a'), dead);
    await giveUp(deps, reader({}), { positions, reason: 'down' });
    const events = (await deps.outbox.events('', 10, 0)).map(({ event: e }) => e);
    expect(events.map(({ type }) => type)).toEqual([
      'dev.sluice.test.made.v1',
      'dev.sluice.delivery.dead.v1',
      'dev.sluice.delivery.dead.v1',
    ]);
    expect(JSON.parse(events[2]?.json ?? '').data).toMatchObject({ event: 'a', sink: 'r', reason: 'down' });
    expect(await deps.outbox.outstanding('r')).toBe(1);
  });
});
