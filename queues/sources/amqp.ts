import type { AsyncMessage, Channel } from 'rabbitmq-client';
import { z } from 'zod';
import {
  defineSource,
  type IncomingMessage,
  type Source,
  type SourceContext,
  type Take,
} from '../../src/ports/source.js';
import { declareQueue } from '../amqp/declare.js';
import { type AmqpLink, type AmqpPlace, dialAmqp } from '../amqp/link.js';
import { attributesOf, bodyOf } from '../amqp/message.js';
import { type AmqpTarget, amqpProblem, parseAmqpTarget } from '../amqp/target.js';
import { InHand } from '../buses/in-hand.js';
import { Keeper } from '../buses/keeper.js';
import { loginOptions } from '../buses/login.js';

const options = z.strictObject({
  ...loginOptions,
  declare: z.boolean().default(true).describe('Make a durable queue when there is none'),
  bind: z
    .array(
      z.strictObject({
        exchange: z.string().min(1).max(255),
        routing_key: z.string().max(255).default('#'),
      }),
    )
    .default([])
    .describe('Exchanges whose messages go to the queue; with declare alone'),
});
type Options = z.output<typeof options>;

/** Consumes a queue. What the broker has handed out and is not acknowledged goes back when the channel ends. */
class AmqpSource implements Source {
  readonly #place: AmqpPlace;
  readonly #options: Options;
  readonly #concurrency: number;
  readonly #inHand: InHand;
  readonly #keeper: Keeper;
  #link: AmqpLink | undefined;
  #stop: () => Promise<unknown> = () => Promise.resolve();

  constructor(place: AmqpPlace, settings: Options, context: SourceContext, take: Take) {
    this.#place = place;
    this.#options = settings;
    this.#concurrency = context.concurrency;
    this.#inHand = new InHand(take, context.concurrency);
    this.#keeper = new Keeper((isUp, ended) => this.#consume(isUp, ended), context.onError);
  }

  start(): Promise<void> {
    return this.#keeper.start();
  }

  async close(deadlineMs: number): Promise<void> {
    this.#keeper.end();
    const stopped = this.#stop().catch(() => {});
    await this.#inHand.close(deadlineMs);
    void stopped;
    await this.#link?.close();
  }

  async #consume(isUp: () => void, ended: AbortSignal): Promise<never> {
    const { place: queue } = this.#place.target;
    const link = await dialAmqp(this.#place, ended);
    if (ended.aborted) await link.close();
    this.#link = link;
    try {
      if (this.#options.declare) await declareQueue(link, queue, this.#options.bind);
      const channel = await link.channel();
      const over = new AbortController();
      const lost = this.#until(link, channel, over);
      lost.catch(() => {});
      await channel.basicQos({ prefetchCount: this.#concurrency });
      const take = (message: AsyncMessage) => void this.#take(channel, message, over.signal);
      const { consumerTag } = await channel.basicConsume({ queue }, take);
      this.#stop = () => channel.basicCancel({ consumerTag });
      isUp();
      return await lost;
    } catch (error) {
      throw link.told(error as Error);
    } finally {
      // At the end what is in hand may still be acknowledged.
      if (!ended.aborted) await link.close();
    }
  }

  /** Throws once this channel brings nothing more. */
  #until(link: AmqpLink, channel: Channel, over: AbortController): Promise<never> {
    return new Promise((_, reject) => {
      let reason = new Error('the broker closed the channel');
      channel.on('error', (error: Error) => {
        reason = error;
      });
      channel.on('basic.cancel', () => {
        over.abort();
        reject(new Error('the queue was deleted, or moved elsewhere'));
      });
      channel.once('close', () => {
        over.abort();
        reject(link.isOpen ? reason : link.lost.reason);
      });
    });
  }

  async #take(channel: Channel, message: AsyncMessage, gone: AbortSignal): Promise<void> {
    const { contentType } = message;
    const incoming: IncomingMessage = {
      body: bodyOf(message),
      ...(contentType === undefined ? {} : { contentType }),
      attributes: attributesOf(message.headers ?? {}),
      place: `queue ${this.#place.target.place}, delivery ${message.deliveryTag}`,
    };
    if (!(await this.#inHand.hold(incoming, gone))) return;
    if (channel.active) channel.basicAck({ deliveryTag: message.deliveryTag });
  }
}

export const amqp = defineSource<Options>({
  kind: 'amqp',
  description: 'Takes the messages of a queue of RabbitMQ (AMQP 0-9-1).',
  target: 'amqp[s]://HOST:PORT/VHOST#QUEUE',
  options,
  problem(target, settings) {
    const address = parseAmqpTarget(target);
    const message = amqpProblem(target, settings);
    if (message !== undefined) return { message };
    if (typeof address !== 'string' && address.place === '') return { message: 'lacks its queue behind #' };
    if (settings.bind.length > 0 && !settings.declare)
      return { message: 'has the option bind, which goes with declare: true' };
    return undefined;
  },
  async open(target, settings, context, take) {
    const place: AmqpPlace = {
      target: parseAmqpTarget(target) as AmqpTarget,
      options: settings,
      label: `sluice ${context.fleet} source ${context.name}`,
      secret: context.secret,
    };
    const source = new AmqpSource(place, settings, context, take);
    await source.start();
    return source;
  },
});
