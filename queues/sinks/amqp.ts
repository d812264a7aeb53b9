import { z } from 'zod';
import { show } from '../../src/core/problem.js';
import {
  type DeliveryFailure,
  defineSink,
  type OutgoingEvent,
  type Sink,
  type SinkContext,
} from '../../src/ports/sink.js';
import { declareExchange } from '../amqp/declare.js';
import { type AmqpLink, type AmqpPlace, dialAmqp } from '../amqp/link.js';
import { AmqpSession } from '../amqp/session.js';
import { type AmqpTarget, amqpProblem, parseAmqpTarget } from '../amqp/target.js';
import { modeSchema } from '../buses/content.js';
import { deliverOn, type Sessions } from '../buses/delivering.js';
import { loginOptions } from '../buses/login.js';
import { Shared } from '../buses/shared.js';
import { PLACEHOLDERS, strangePlaceholder } from '../buses/template.js';

const options = z.strictObject({
  ...loginOptions,
  routing_key: z
    .string()
    .min(1)
    .default('{type}')
    .describe('Routing key; {type} is the event’s name (plan.failed), {subject} its subject'),
  declare: z.boolean().default(false).describe('Make a durable topic exchange when there is none'),
  mandatory: z
    .boolean()
    .default(true)
    .describe('An event that no queue takes is refused; false: it is taken, and gone'),
  mode: modeSchema,
});
type Options = z.output<typeof options>;

/** Publishes each event as a persistent message, and waits until the broker has confirmed it. */
class AmqpSink implements Sink, Sessions {
  readonly #place: AmqpPlace;
  readonly #options: Options;
  readonly #onError: SinkContext['onError'];
  readonly #closing = new AbortController();
  readonly #link = new Shared(() => this.#dial());
  readonly #session = new Shared(() => this.own());

  constructor(place: AmqpPlace, settings: Options, onError: SinkContext['onError']) {
    this.#place = place;
    this.#options = settings;
    this.#onError = onError;
  }

  async deliver(events: readonly OutgoingEvent[], signal?: AbortSignal): Promise<DeliveryFailure[]> {
    if (events.length === 0) return [];
    const { signal: closing } = this.#closing;
    const stop = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    return await deliverOn(this, events, { timeoutMs: this.#options.timeout, signal: stop });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const link = await this.#link.present();
    await link?.close();
  }

  shared(): Promise<AmqpSession> {
    return this.#session.get();
  }

  async own(): Promise<AmqpSession> {
    const link = await this.#link.get();
    return await AmqpSession.open(link, { ...this.#options, exchange: this.#place.target.place });
  }

  async #dial(): Promise<AmqpLink> {
    const link = await dialAmqp(this.#place, this.#closing.signal);
    link.lost.addEventListener('abort', () => {
      if (!this.#closing.signal.aborted) this.#onError(link.lost.reason as Error);
    });
    const { place: exchange } = this.#place.target;
    try {
      if (this.#options.declare && exchange !== '') await declareExchange(link, exchange);
    } catch (error) {
      await link.close();
      throw error;
    }
    return link;
  }
}

export const amqp = defineSink<Options>({
  kind: 'amqp',
  description:
    'Publishes each event to an exchange of RabbitMQ (AMQP 0-9-1), and waits until it is confirmed.',
  target: 'amqp[s]://HOST:PORT/VHOST#EXCHANGE (without EXCHANGE the routing key names the queue)',
  options,
  problem(target, settings) {
    const message = amqpProblem(target, settings);
    if (message !== undefined) return { message };
    const strange = strangePlaceholder(settings.routing_key);
    if (strange === undefined) return undefined;
    return {
      message: 'has braces in routing_key that are none',
      found: show(strange),
      allowed: PLACEHOLDERS,
    };
  },
  async open(target, settings, { name, fleet, secret, onError }) {
    const place: AmqpPlace = {
      target: parseAmqpTarget(target) as AmqpTarget,
      options: settings,
      label: `sluice ${fleet} sink ${name}`,
      secret,
    };
    return new AmqpSink(place, settings, onError);
  },
});
