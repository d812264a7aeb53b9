import type { SourceKind } from '../../src/ports/source.js';
import { amqp } from './amqp.js';
import { mqtt } from './mqtt.js';
import { nats } from './nats.js';
import { redisStream } from './redis-stream.js';

/** Every kind of source. A new one is a file beside this one and a line here. */
export const builtInSources: readonly SourceKind[] = [amqp, mqtt, nats, redisStream];
