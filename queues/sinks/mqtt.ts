import { z } from 'zod';
import { show } from '../../src/core/problem.js';
import {
  type DeliveryFailure,
  defineSink,
  type OutgoingEvent,
  type Sink,
  type SinkContext,
} from '../../src/ports/sink.js';
import type { Address } from '../buses/address.js';
import { modeSchema } from '../buses/content.js';
import { deliverOn, type Sessions } from '../buses/delivering.js';
import { loginOptions } from '../buses/login.js';
import { Shared } from '../buses/shared.js';
import { PLACEHOLDERS, strangePlaceholder } from '../buses/template.js';
import { dialMqtt, type MqttLink } from '../mqtt/link.js';
import { freshClientId, MqttSession } from '../mqtt/session.js';
import { mqttProblem, parseMqttTarget, topicProblem } from '../mqtt/target.js';

const options = z.strictObject({
  ...loginOptions,
  qos: z
    .union([z.literal(1), z.literal(2)], { error: 'expected 1 or 2' })
    .default(1)
    .describe('1: at least once; 2: exactly once between this sink and the broker'),
  client_id: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Client id, which no other connection may have; default: a fresh one at each connection'),
  mode: modeSchema,
});
type Options = z.output<typeof options>;

/** Publishes each event, and waits until the broker has acknowledged it. */
class MqttSink implements Sink, Sessions {
  readonly #target: Address;
  readonly #options: Options;
  readonly #context: SinkContext;
  readonly #closing = new AbortController();
  readonly #link: Shared<MqttLink>;
  readonly #session = new Shared(async () => this.#on(await this.#link.get()));

  constructor(target: Address, settings: Options, context: SinkContext) {
    this.#target = target;
    this.#options = settings;
    this.#context = context;
    const { client_id } = settings;
    this.#link = new Shared(() => this.#dial(client_id ?? this.#freshId()));
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

  shared(): Promise<MqttSession> {
    return this.#session.get();
  }

  async own(): Promise<MqttSession> {
    const { client_id } = this.#options;
    return this.#on(await this.#dial(client_id === undefined ? this.#freshId() : `${client_id}-alone`));
  }

  #on(link: MqttLink): MqttSession {
    return new MqttSession(link, { ...this.#options, topic: this.#target.place });
  }

  #freshId(): string {
    const { fleet, name } = this.#context;
    return freshClientId(`sluice-${fleet}-${name}`);
  }

  async #dial(clientId: string): Promise<MqttLink> {
    const { secret, onError } = this.#context;
    const place = { target: this.#target, options: this.#options, clientId, secret };
    const link = await dialMqtt(place, this.#closing.signal);
    link.lost.addEventListener('abort', () => {
      if (!this.#closing.signal.aborted && !link.wasClosed) onError(link.lost.reason as Error);
    });
    return link;
  }
}

export const mqtt = defineSink<Options>({
  kind: 'mqtt',
  description: 'Publishes each event to a topic of a broker of MQTT 5, and waits until it is acknowledged.',
  target: 'mqtt[s]://HOST:PORT#TOPIC ({type}: the event’s name with slashes, {subject}: its subject)',
  options,
  problem(target, settings) {
    const message = mqttProblem(target, settings);
    if (message !== undefined) return { message };
    const { place } = parseMqttTarget(target) as Address;
    const strange = strangePlaceholder(place);
    if (strange !== undefined)
      return {
        message: 'has braces in its topic that are none',
        found: show(strange),
        allowed: PLACEHOLDERS,
      };
    const wrong = topicProblem(place);
    return wrong === undefined ? undefined : { message: wrong };
  },
  async open(target, settings, context) {
    return new MqttSink(parseMqttTarget(target) as Address, settings, context);
  },
});
