import { z } from 'zod';
import { durationSchema } from '../../src/core/duration-schema.js';
import type { SourceContext } from '../../src/ports/source.js';
import { defineSource } from '../../src/ports/source.js';
import { StandingConnection } from '../nats/connection.js';
import { connectionOptions, loginProblems, natsName } from '../nats/options.js';
import { NatsSource } from '../nats/source.js';
import { NATS_TARGET, parseNatsTarget, subjectProblem } from '../nats/target.js';

const options = z
  .strictObject({
    ...connectionOptions,
    stream: natsName.optional().describe('Stream; default: the one that holds the subject'),
    durable: natsName.optional().describe('Durable consumer; default: sluice-FLEET-NAME'),
    create: z.boolean().default(false).describe('Make the stream when it is missing, without limits'),
    ack_wait: durationSchema
      .pipe(z.int().min(1_000, 'expected 1s at least'))
      .prefault('30s')
      .describe('How long a message may be in the hands of a process that says nothing'),
  })
  .superRefine((given, context) => {
    const report = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    loginProblems(given, report);
    if (given.create && given.stream === undefined) report('stream', 'is missing: create needs its name');
  });
export type NatsSourceOptions = z.output<typeof options>;

export const nats = defineSource<NatsSourceOptions>({
  kind: 'nats',
  description: 'Takes CloudEvents from a stream of NATS JetStream, by a durable consumer.',
  target: NATS_TARGET,
  options,
  problem(target) {
    const parsed = parseNatsTarget(target);
    const message = typeof parsed === 'string' ? parsed : subjectProblem(parsed.subject, { wildcards: true });
    return message === undefined ? undefined : { message };
  },
  async open(target, settings, context: SourceContext, take) {
    const parsed = parseNatsTarget(target);
    if (typeof parsed === 'string') throw new Error(`the target ${parsed}`);
    const { servers, subject, tls } = parsed;
    const { name, fleet, secret, onError } = context;
    const place = { ...settings, servers, name: `sluice ${fleet} source ${name}`, secret };
    const connection = new StandingConnection(tls ? { ...place, tls: place.tls ?? {} } : place, onError);
    const durable = settings.durable ?? `sluice-${fleet}-${name}`;
    return new NatsSource(
      connection,
      { ...settings, subject, durable, isOwn: settings.durable === undefined },
      context,
      take,
    );
  },
});
