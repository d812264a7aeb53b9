import { nearestName, SluiceError } from '../../src/core/problem.js';
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

/** Finds the kind of `KIND=TARGET`; throws USAGE with the nearest kind. */
export function parseSink(option: string): { kind: SinkKind; target: string } {
  const at = option.indexOf('=');
  const kinds = builtInSinks.map(({ kind }) => kind);
  const name = at < 0 ? option : option.slice(0, at);
  const kind = builtInSinks.find((candidate) => candidate.kind === name);
  if (kind === undefined) {
    const near = nearestName(name, kinds);
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    throw new SluiceError(
      'USAGE',
      `--sink ${option}: unknown kind "${name}"; allowed: ${kinds.join(', ')}${hint}`,
    );
  }
  const target = at < 0 ? '' : option.slice(at + 1);
  if (target === '')
    throw new SluiceError(
      'USAGE',
      `--sink ${option}: write ${kind.kind}=TARGET, where TARGET is ${kind.target}`,
    );
  return { kind, target };
}
