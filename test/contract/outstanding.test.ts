import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeEvent } from '../../src/core/events.js';
import type { Store } from '../../src/ports/store.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { storeAdapters } from '../support/stores.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis?.stop());

async function write(store: Store, first: number, count: number): Promise<void> {
  for (let n = first; n < first + count; n++) {
    const about = {
      fleet: 'f',
      name: 'delivery.dead',
      subject: `e${n}`,
      revision: '1',
      sequence: 1,
    } as const;
    const event = makeEvent({ ...about, time: 0, data: {} });
    await store.letters.put(
      {
        direction: 'out',
        endpoint: 'x',
        id: event.id,
        type: event.type,
        subject: `e${n}`,
        reason: 'r',
        code: 'refused',
        response: null,
        at: n,
        tries: 1,
        redriven: 0,
        content: event.json,
      },
      event,
    );
  }
}

describe.each(storeAdapters(() => redis, 1000))(
  'what is outstanding for a reader, $name store',
  ({ open }) => {
    it('counts what is not claimed, what is claimed and what is handed over', async () => {
      const store = await open();
      try {
        await store.outbox.openReader('all', '');
        await write(store, 0, 5);
        await store.outbox.openReader('late', await store.outbox.lastEvent());
        await write(store, 5, 3);
        expect(await store.outbox.outstanding('all')).toBe(8);
        // Redis does not count for one that began in the middle: what matters there is whether any waits.
        expect(await store.outbox.outstanding('late')).toBeGreaterThan(0);
        const claimed = await store.outbox.claim('all', 'c', 4, 100, 60_000);
        expect(await store.outbox.outstanding('all')).toBe(8);
        const positions = claimed.map(({ position }) => position);
        await store.outbox.holdBack('all', positions.slice(0, 2));
        await store.outbox.acknowledge('all', positions);
        expect(await store.outbox.outstanding('all')).toBe(6);
        await store.outbox.letGo('all', positions);
        expect(await store.outbox.outstanding('all')).toBe(4);
        const rest = await store.outbox.claim('all', 'c', 10, 100, 60_000);
        await store.outbox.acknowledge(
          'all',
          rest.map(({ position }) => position),
        );
        expect(await store.outbox.outstanding('all')).toBe(0);
        expect(await store.outbox.outstanding('nobody')).toBe(0);
      } finally {
        await store.close();
      }
    });

    it('stays right when the outbox is trimmed', async () => {
      const store = await open();
      try {
        await store.outbox.openReader('all', '');
        await write(store, 0, 6);
        const claimed = await store.outbox.claim('all', 'c', 4, 100, 60_000);
        await store.outbox.acknowledge(
          'all',
          claimed.map(({ position }) => position),
        );
        await store.outbox.trim(Date.now() + 1000, 0, 0);
        expect(await store.outbox.outstanding('all')).toBe(2);
        await write(store, 6, 3);
        expect(await store.outbox.outstanding('all')).toBe(5);
      } finally {
        await store.close();
      }
    });
  },
);
