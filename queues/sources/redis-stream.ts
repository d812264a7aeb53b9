import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { growingPauses } from '../../src/core/backoff.js';
import { durationSchema } from '../../src/core/duration-schema.js';
import { redact } from '../../src/core/redact.js';
import { defineSource, type Source, type SourceContext, type Take } from '../../src/ports/source.js';
import { GroupConsumer } from '../redis-stream/group.js';
import {
  REDIS_STREAM_TARGET,
  redisLogin,
  redisLoginOptions,
  streamPlace,
  streamPlaceProblem,
} from '../redis-stream/place.js';
import { RedisStreamSource } from '../redis-stream/source.js';

const options = z.strictObject({
  ...redisLoginOptions,
  group: z.string().min(1).max(256).optional().describe('Consumer group; default: sluice-FLEET-NAME'),
  field: z.string().min(1).default('event').describe('Field with the CloudEvent as JSON'),
  trim: z.boolean().default(false).describe('Remove entries that are done from the stream'),
  claim_after: durationSchema
    .pipe(z.int().min(1_000, 'expected 1s at least'))
    .prefault('1m')
    .describe('How long an entry may be in the hands of a process that says nothing'),
});
type Options = z.output<typeof options>;

const CONNECT_MS = 5_000;
/** Longest silence after a command; a read answers sooner. */
const SILENCE_MS = 15_000;
const LONGEST_PAUSE_MS = 2_000;

async function open(target: string, given: Options, context: SourceContext, take: Take): Promise<Source> {
  const { url = context.redisUrl, key } = streamPlace(target);
  const settings = {
    // Answers of XREADGROUP have another shape in version 3.
    protocol: 2 as const,
    // Commands wait for a Redis that is away, as long as it takes.
    maxRetriesPerRequest: null,
    connectTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    retryStrategy: growingPauses(LONGEST_PAUSE_MS),
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? (2 as const) : false),
    ...(await redisLogin(given, context.secret)),
  };
  const { newRedis } = await import('../redis.js');
  const clients = { client: newRedis(url, settings), reader: newRedis(url, settings) };
  let told = '';
  const listen = (error: Error) => {
    const reason = redact(error.message || (error as NodeJS.ErrnoException).code || 'the connection broke');
    if (reason !== told) context.onError(new Error(reason));
    told = reason;
  };
  for (const client of Object.values(clients)) {
    client.on('error', listen);
    client.on('ready', () => {
      told = '';
    });
  }
  const group = given.group ?? `sluice-${context.fleet}-${context.name}`;
  const name = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const { field, trim, claim_after: claimAfterMs } = given;
  const { concurrency, onError } = context;
  return new RedisStreamSource(
    new GroupConsumer(clients, { key, group, name }),
    clients,
    { key, field, trim, claimAfterMs, concurrency, onError },
    take,
  );
}

export const redisStream = defineSource<Options>({
  kind: 'redis-stream',
  description: 'Takes CloudEvents from a Redis stream, by a consumer group.',
  target: REDIS_STREAM_TARGET,
  options,
  problem: streamPlaceProblem,
  open,
});
