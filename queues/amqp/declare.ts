import type { Channel } from 'rabbitmq-client';
import { type AmqpLink, codeOf } from './link.js';

/** Where a queue is bound. */
export interface Binding {
  exchange: string;
  routing_key: string;
}

/** Runs on a channel of its own: what the broker refuses closes the channel. */
async function onChannel<T>(link: AmqpLink, work: (channel: Channel) => Promise<T>): Promise<T> {
  const channel = await link.channel();
  channel.on('error', () => {});
  try {
    return await work(channel);
  } catch (error) {
    throw link.told(error as Error);
  } finally {
    await channel.close();
  }
}

/** Asks whether something is there. */
async function exists(link: AmqpLink, ask: (channel: Channel) => Promise<unknown>): Promise<boolean> {
  try {
    await onChannel(link, ask);
    return true;
  } catch (error) {
    if (codeOf(error) === 'NOT_FOUND') return false;
    throw error;
  }
}

/** Makes a durable topic exchange where there is none of this name; one that is there stays as it is. */
export async function declareExchange(link: AmqpLink, exchange: string): Promise<void> {
  if (await exists(link, (channel) => channel.exchangeDeclare({ exchange, passive: true }))) return;
  await onChannel(link, (channel) => channel.exchangeDeclare({ exchange, type: 'topic', durable: true }));
}

/** Makes a durable queue where there is none of this name, and binds it. */
export async function declareQueue(
  link: AmqpLink,
  queue: string,
  bindings: readonly Binding[],
): Promise<void> {
  if (!(await exists(link, (channel) => channel.queueDeclare({ queue, passive: true }))))
    await onChannel(link, (channel) => channel.queueDeclare({ queue, durable: true }));
  for (const { exchange, routing_key: routingKey } of bindings)
    await onChannel(link, (channel) => channel.queueBind({ queue, exchange, routingKey }));
}
