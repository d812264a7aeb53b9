import type { Redis } from 'ioredis';
import { z } from 'zod';
import { growingPauses } from '../../src/core/backoff.js';
import { SluiceError } from '../../src/core/problem.js';
import { redact } from '../../src/core/redact.js';
import { withoutPassword } from '../../src/core/redis-url.js';
import {
  type DeliveryFailure,
  defineSink,
  type OutgoingEvent,
  type Sink,
  type SinkContext,
} from '../../src/ports/sink.js';
import {
  REDIS_STREAM_TARGET,
  redisLogin,
  redisLoginOptions,
  streamPlace,
  streamPlaceProblem,
} from '../redis-stream/place.js';

const CONNECT_MS = 5000;
/** Milliseconds that Redis may take over one event. */
const ANSWER_MS = 10_000;
const LONGEST_PAUSE_MS = 2000;

const options = z.strictObject({
  ...redisLoginOptions,
  max_length: z
    .int()
    .min(1)
    .optional()
    .describe('About how many entries the stream keeps, the newest; default: all'),
});
type Options = z.output<typeof options>;

/**
 * Adds each event to a stream, with fields `id`, `type` and `event` (the JSON). Redis takes any event
 * or none: whatever it answers but a new entry is of the stream as a whole.
 */
class RedisStreamSink implements Sink {
  readonly #client: Redis;
  readonly #key: string;
  readonly #bound: readonly string[];
  #trouble: string | undefined;

  constructor(client: Redis, key: string, maxLength: number | undefined, onError: (error: Error) => void) {
    this.#client = client;
    this.#key = key;
    this.#bound = maxLength === undefined ? [] : ['MAXLEN', '~', String(maxLength)];
    client.on('error', (error: Error) => {
      this.#trouble = error.message || (error as NodeJS.ErrnoException).code;
      onError(error);
    });
    client.on('ready', () => {
      this.#trouble = undefined;
    });
  }

  async deliver(events: readonly OutgoingEvent[], signal?: AbortSignal): Promise<DeliveryFailure[]> {
    if (events.length === 0) return [];
    const writes = this.#client.pipeline();
    for (const { id, type, json, projected } of events)
      writes.xadd(this.#key, ...this.#bound, '*', 'id', id, 'type', type, 'event', projected ?? json);
    const replies = (await unlessAborted(writes.exec(), signal)) ?? [];
    return events.flatMap(({ id }, n): DeliveryFailure[] => {
      const error = replies[n] === undefined ? new Error('no answer') : replies[n]?.[0];
      return error ? [{ id, kind: 'away', reason: this.#reasonOf(error) }] : [];
    });
  }

  /** What ended the connection says more than that it ended. */
  #reasonOf({ name, message }: Error): string {
    const isOfConnection = name === 'MaxRetriesPerRequestError' || message === 'Connection is closed.';
    if (isOfConnection) return redact(this.#trouble ?? 'the connection to Redis broke');
    return redact(message === 'Command timed out' ? 'Redis does not answer in time' : message);
  }

  async close(): Promise<void> {
    this.#client.disconnect();
  }
}

function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(new Error('it was told to stop before Redis answered'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

async function open(target: string, given: Options, context: SinkContext): Promise<Sink> {
  const { url = context.redisUrl, key } = streamPlace(target);
  if (url === undefined) {
    const message = 'without a fleet’s Redis the target is redis://HOST:PORT#KEY';
    throw new SluiceError('USAGE', `redis-stream=${withoutPassword(target)}: ${message}`);
  }
  const settings = {
    // What is on its way when the connection breaks fails at once: delivery tries again.
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    commandTimeout: ANSWER_MS,
    retryStrategy: growingPauses(LONGEST_PAUSE_MS),
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    ...(await redisLogin(given, context.secret)),
  };
  const { newRedis } = await import('../redis.js');
  return new RedisStreamSink(newRedis(url, settings), key, given.max_length, context.onError);
}

export const redisStream = defineSink({
  kind: 'redis-stream',
  description: 'Adds each CloudEvent to a Redis stream, in fields id, type and event.',
  target: REDIS_STREAM_TARGET,
  options,
  problem: streamPlaceProblem,
  open,
});
