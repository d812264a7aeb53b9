import { describe, expect, it } from 'vitest';
import { deliveryTo, type SinkReader } from '../../../src/app/deliver.js';
import { InlineDelivery } from '../../../src/inline/delivery.js';
import { openMemoryStore } from '../../../src/store/memory/index.js';
import { chunkOf, openingOf } from '../../support/evidence.js';
import { eventsOf, FakeSink, isAway, readerOf, refuses } from '../../support/sinks.js';

const COMFORT = { timeout: 10_000, interval: 10 };
const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id);

async function withDelivery(
  sink: FakeSink,
  more: Partial<SinkReader>,
  work: (scene: {
    emit(events: ReturnType<typeof eventsOf>): Promise<void>;
    outstanding(): Promise<number>;
    store: ReturnType<typeof openMemoryStore>;
  }) => Promise<void>,
) {
  const store = openMemoryStore({ outboxCap: 10_000 });
  await store.batches.openBatch(openingOf('b', []));
  await store.outbox.openReader('r', '');
  const { outbox, letters, sinks } = store;
  const deps = { outbox, letters, sinks, clock: { now: () => Date.now() }, fleet: 'f' };
  const delivery = new InlineDelivery(deliveryTo(deps, readerOf('r', sink, more)));
  let chunks = 0;
  try {
    await work({
      store,
      outstanding: () => outbox.outstanding('r'),
      async emit(events) {
        chunks += 1;
        await store.evaluations.accept(chunkOf('b', `c${chunks}`, 1), [], events, 0, 0);
      },
    });
  } finally {
    await delivery.close();
  }
}

describe('delivery in one process', () => {
  it('tries again what was refused while others go on, and sets aside what always is', async () => {
    const sink = new FakeSink((call, { id }) => (id === 's1-0' || call === 1 ? refuses : undefined));
    await withDelivery(sink, { longestWaitMs: 20 }, async ({ emit, outstanding, store }) => {
      await emit(eventsOf(5, 1));
      await expect.poll(outstanding, COMFORT).toBe(0);
      expect(idsOf(sink.took).sort()).toEqual(expect.arrayContaining(['s0-0', 's2-0', 's3-0', 's4-0']));
      const { letters } = await store.letters.list({}, '', 10);
      expect(letters).toMatchObject([{ id: 's1-0', tries: 3, code: 'refused' }]);
    });
  });

  it('waits for a sink that is away, and goes on when it is back', async () => {
    const sink = new FakeSink((call) => (call <= 3 ? isAway : undefined));
    await withDelivery(sink, { longestWaitMs: 20, tries: 1 }, async ({ emit, outstanding, store }) => {
      await emit(eventsOf(30, 1));
      await expect.poll(outstanding, COMFORT).toBe(0);
      expect(idsOf(sink.took).sort()).toEqual(idsOf(eventsOf(30, 1)).sort());
      expect(await store.letters.counts()).toEqual([]);
    });
  });

  it('keeps the order of each subject where that is wanted', async () => {
    let calls = 0;
    const sink = new FakeSink(() => {
      calls += 1;
      return calls % 3 === 0 ? refuses : undefined;
    });
    const more = { longestWaitMs: 2, tries: 100, order: 'subject' as const };
    await withDelivery(sink, more, async ({ emit, outstanding }) => {
      await emit(eventsOf(4, 10));
      await expect.poll(outstanding, COMFORT).toBe(0);
      for (const subject of ['s0', 's1', 's2', 's3']) {
        const own = idsOf(sink.took).filter((id) => id.startsWith(`${subject}-`));
        expect(own).toEqual(Array.from({ length: 10 }, (_, n) => `${subject}-${n}`));
      }
    });
  });

  it('sends no more than its rate', async () => {
    const sink = new FakeSink();
    await withDelivery(sink, { rate: 50 }, async ({ emit, outstanding }) => {
      const began = Date.now();
      await emit(eventsOf(100, 1));
      await expect.poll(outstanding, COMFORT).toBe(0);
      expect(Date.now() - began).toBeGreaterThan(900);
      expect(sink.calls.every((ids) => ids.length <= 50)).toBe(true);
    });
  });

  it('closes at once while its sink is away', async () => {
    const sink = new FakeSink(() => isAway);
    let began = 0;
    await withDelivery(sink, { longestWaitMs: 60_000 }, async ({ emit }) => {
      await emit(eventsOf(3, 1));
      await expect.poll(() => sink.calls.length, COMFORT).toBeGreaterThan(0);
      began = Date.now();
    });
    expect(Date.now() - began).toBeLessThan(2000);
  });
});
