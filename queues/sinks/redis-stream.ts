import type { Redis } from 'ioredis';
import type { OutboxEvent } from '../../src/core/events.js';
import { SluiceError } from '../../src/core/problem.js';
import type { DeliveryFailure, Sink, SinkKind } from '../../src/ports/sink.js';
import { connect } from '../redis.js';

/** Adds each CloudEvent to a stream, with fields `id`, `type` and `event` (the JSON). */
class RedisStreamSink implements Sink {
  readonly #client: Redis;
  readonly #key: string;

  constructor(client: Redis, key: string) {
    this.#client = client;
    this.#key = key;
  }

  async deliver(events: readonly OutboxEvent[]): Promise<DeliveryFailure[]> {
    const writes = this.#client.pipeline();
    for (const { id, type, json } of events)
      writes.xadd(this.#key, '*', 'id', id, 'type', type, 'event', json);
    const replies = (await writes.exec()) ?? [];
    return events.flatMap(({ id }, i) => {
      const error = replies[i] === undefined ? new Error('no answer') : replies[i]?.[0];
      return error ? [{ id, reason: error.message }] : [];
    });
  }

  async close(): Promise<void> {
    this.#client.disconnect();
  }
}

function parse(target: string, fallback: string | undefined): { url: string; key: string } {
  if (!/^rediss?:\/\//.test(target)) {
    if (fallback === undefined) {
      throw new SluiceError(
        'USAGE',
        `--sink redis-stream=${target}: without a fleet's Redis the target is redis://HOST:PORT#KEY`,
      );
    }
    return { url: fallback, key: target };
  }
  const at = target.indexOf('#');
  const key = at < 0 ? '' : target.slice(at + 1);
  if (key === '')
    throw new SluiceError(
      'USAGE',
      `--sink redis-stream=${target}: the stream's key is missing; write redis://HOST:PORT#KEY`,
    );
  return { url: target.slice(0, at), key };
}

export const redisStream: SinkKind = {
  kind: 'redis-stream',
  description: 'Adds each CloudEvent to a Redis stream, in fields id, type and event.',
  target: 'KEY (on the fleet’s Redis) or redis://HOST:PORT#KEY',
  async open(target, { redisUrl }) {
    const { url, key } = parse(target, redisUrl);
    return new RedisStreamSink(connect(url), key);
  },
};
