import type { Consumer, ConsumerConfig, ConsumerInfo } from '@nats-io/jetstream';
import type { NatsLink } from './dial.js';
import { isMissing } from './trouble.js';

/** Which messages, and how they are kept track of. */
export interface Subscription {
  subject: string;
  /** Default: the one that holds the subject. */
  stream?: string | undefined;
  /** Name of the durable consumer. */
  durable: string;
  /** It is ours to change; one that the operator named is left as it is where it stands. */
  isOwn: boolean;
  /** Make the stream when it is missing. */
  create: boolean;
  /** Milliseconds until a message that nobody speaks for comes again. */
  ack_wait: number;
}

const NANOSECONDS = 1_000_000;

/** Name of the stream that the messages are in. */
async function findStream({ manager }: NatsLink, { subject, stream, create }: Subscription): Promise<string> {
  if (stream === undefined) {
    const names = await manager.streams.names(subject).next();
    if (names.length > 1)
      throw new Error(`several streams hold ${subject}: ${names.join(', ')}; name one by the option stream`);
    const [name] = names;
    if (name === undefined) throw new Error(`no stream holds ${subject}`);
    return name;
  }
  try {
    await manager.streams.info(stream);
  } catch (error) {
    if (!isMissing(error)) throw error;
    if (!create) throw new Error(`there is no stream ${stream}`);
    await manager.streams.add({ name: stream, subjects: [subject] });
  }
  return stream;
}

/**
 * What we ask of a consumer. Messages that are put off count among those that wait for their
 * acknowledgement, so that a limit at the concurrency would let them hold up all others; what is in hand is
 * limited by what is fetched.
 */
const wantedConfig = ({ subject, ack_wait }: Subscription, concurrency: number) => ({
  filter_subject: subject,
  ack_wait: ack_wait * NANOSECONDS,
  max_ack_pending: concurrency + 1_000,
});

function unlike(info: ConsumerInfo, wanted: Partial<ConsumerConfig>): boolean {
  const { filter_subject, ack_wait, max_ack_pending } = info.config;
  return (
    filter_subject !== wanted.filter_subject ||
    ack_wait !== wanted.ack_wait ||
    max_ack_pending !== wanted.max_ack_pending
  );
}

/** The durable consumer, made when it is missing. Throws what has to change on the server first. */
export async function durableConsumer(
  link: NatsLink,
  subscription: Subscription,
  concurrency: number,
): Promise<{ consumer: Consumer; stream: string; ackWaitMs: number }> {
  const { AckPolicy, DeliverPolicy } = await import('@nats-io/jetstream');
  const { durable, isOwn } = subscription;
  const { consumers } = link.manager;
  const stream = await findStream(link, subscription);
  const wanted = wantedConfig(subscription, concurrency);
  let info = await consumers.info(stream, durable).catch((error) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (info === undefined) {
    const policies = { ack_policy: AckPolicy.Explicit, deliver_policy: DeliverPolicy.All };
    info = await consumers.add(stream, { durable_name: durable, ...policies, ...wanted });
  }
  if (info.config.deliver_subject !== undefined || info.config.ack_policy !== AckPolicy.Explicit)
    throw new Error(
      `the consumer ${durable} of ${stream} is not a pull consumer with explicit acknowledgement`,
    );
  if (isOwn && unlike(info, wanted)) info = await consumers.update(stream, durable, wanted);
  const consumer = link.jetstream.consumers.getConsumerFromInfo(info);
  return { consumer, stream, ackWaitMs: (info.config.ack_wait ?? wanted.ack_wait) / NANOSECONDS };
}
