import { parseSink } from '../queues/sinks/built-in.js';
import { deliveryTo, type SinkReader } from '../src/app/deliver.js';
import type { FleetEngine } from '../src/compose.js';
import { sha256 } from '../src/core/digest.js';
import type { OutboxEvent } from '../src/core/events.js';
import { consumerDeps, type Role, startRole } from './lifecycle.js';

const CLAIM_WAIT_MS = 500;

/** Opens a sink given as KIND=TARGET; the same option is the same reader of the outbox, over restarts. */
export async function openSinkReader(
  option: string,
  redisUrl: string | undefined,
  scope?: { name: string; wants: (event: OutboxEvent) => boolean },
): Promise<SinkReader> {
  const { kind, target } = parseSink(option);
  const sink = await kind.open(target, redisUrl === undefined ? {} : { redisUrl });
  const name = `${kind.kind}-${sha256(`${target}\u0000${scope?.name ?? ''}`).slice(0, 12)}`;
  return scope === undefined ? { name, sink } : { name, sink, wants: scope.wants };
}

/** Starts a dispatcher: brings the outbox to these sinks. Readers must be open. */
export function startDispatcher(engine: FleetEngine, readers: readonly SinkReader[]): Promise<Role> {
  const { store, clock, config } = engine;
  return startRole(engine, 'dispatcher', async (id) => {
    const { dispatchTo } = await import('../queues/delivery.js');
    const deps = { ...consumerDeps(engine), consumer: id };
    const outgoing = { outbox: store.outbox, clock, fleet: config.fleet };
    const settings = { tries: config.delivery.tries, waitMs: CLAIM_WAIT_MS };
    const consumers = readers.map((reader) => dispatchTo(deps, deliveryTo(outgoing, reader), settings));
    return {
      async drain(deadlineMs) {
        await Promise.all(consumers.map((consumer) => consumer.drain(deadlineMs)));
      },
    };
  });
}
