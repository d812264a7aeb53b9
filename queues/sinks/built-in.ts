import type { SinkKind } from '../../src/ports/sink.js';
import { amqp } from './amqp.js';
import { mqtt } from './mqtt.js';
import { nats } from './nats.js';
import { ndjson } from './ndjson.js';
import { redisStream } from './redis-stream.js';
import { stdout } from './stdout.js';
import { webhook } from './webhook.js';

/** Every kind of sink. A new one is a file beside this one and a line here. */
export const builtInSinks: readonly SinkKind[] = [amqp, mqtt, nats, ndjson, redisStream, stdout, webhook];
