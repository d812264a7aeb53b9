/**
 * A dispatcher for tests that kill it, with one sink that keeps order: Redis, settings and the sink's list
 * come as JSON in SLUICE_TEST_DISPATCHER. The sink refuses one event in four, now and then is away, and
 * adds what it takes to the list. Says "up" on its IPC channel.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { openFleet } from '../../src/compose.js';
import type { DeliveryFailure, OutgoingEvent } from '../../src/ports/sink.js';
import { startDispatcher } from '../../workers/dispatcher.js';
import { untilTold } from '../../workers/lifecycle.js';
import { configWith, silent } from './fleet.js';
import { isAway, readerOf, refuses } from './sinks.js';

const { settings, url, list } = JSON.parse(process.env.SLUICE_TEST_DISPATCHER ?? '{}') as {
  settings: Parameters<typeof configWith>[0];
  url: string;
  list: string;
};
const told = untilTold();
const engine = await openFleet(configWith(settings), url, silent);
const client = new Redis(url);

const sink = {
  async deliver(events: readonly OutgoingEvent[]): Promise<DeliveryFailure[]> {
    const failures: DeliveryFailure[] = [];
    const fallen = Math.random() < 0.02;
    for (const { id } of events) {
      await delay(Math.random() * 3);
      if (fallen) failures.push({ id, ...isAway });
      else if (Math.random() < 0.25) failures.push({ id, ...refuses });
      else await client.rpush(list, id);
    }
    return failures;
  },
  close: async () => client.disconnect(),
};
const more = { order: 'subject', tries: 1000, batch: 10, concurrency: 4, longestWaitMs: 20 } as const;
const role = await startDispatcher(engine, [readerOf('ordered', sink, more)]);
process.send?.('up');
await told;
await role.stop();
await engine.close();
if (process.connected) process.disconnect();
