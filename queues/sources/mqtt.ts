import type { IPublishPacket } from 'mqtt';
import { z } from 'zod';
import { durationSchema } from '../../src/core/duration-schema.js';
import {
  defineSource,
  type IncomingMessage,
  type Source,
  type SourceContext,
  type Take,
} from '../../src/ports/source.js';
import type { Address } from '../buses/address.js';
import { InHand } from '../buses/in-hand.js';
import { Keeper, LongPause } from '../buses/keeper.js';
import { loginOptions } from '../buses/login.js';
import { dialMqtt, type LinkLost, type MqttLink, type MqttPlace } from '../mqtt/link.js';
import { attributesOf } from '../mqtt/message.js';
import { TAKEN_OVER } from '../mqtt/reasons.js';
import { filterProblem, mqttProblem, parseMqttTarget } from '../mqtt/target.js';

const LONGEST_EXPIRY_S = 2 ** 32 - 1;
/** Two clients that take a session from each other do so no more often. */
const AFTER_TAKEOVER_MS = 30_000;
/** Not every broker says that a session was taken over: then it is so many short connections in a row. */
const MOST_SHORT = 2;
const SHORT_MS = 3_000;

const options = z.strictObject({
  ...loginOptions,
  client_id: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Client id that the session belongs to; default: sluice-FLEET-NAME. One connection at a time'),
  session_expiry: durationSchema
    .pipe(z.int().min(1_000, 'expected 1s at least'))
    .prefault('7d')
    .describe('How long the broker keeps messages for this source while it is away'),
});
type Options = z.output<typeof options>;

/** Subscribes with a session that outlives the connection, and acknowledges each message by itself. */
class MqttSource implements Source {
  readonly #place: MqttPlace;
  readonly #timeoutMs: number;
  readonly #inHand: InHand;
  readonly #keeper: Keeper;
  #link: MqttLink | undefined;
  #short = 0;

  constructor(place: MqttPlace, context: SourceContext, take: Take) {
    this.#place = place;
    this.#timeoutMs = place.options.timeout;
    this.#inHand = new InHand(take, context.concurrency);
    this.#keeper = new Keeper((isUp, ended) => this.#subscribe(isUp, ended), context.onError);
  }

  start(): Promise<void> {
    return this.#keeper.start();
  }

  async close(deadlineMs: number): Promise<void> {
    this.#keeper.end();
    await this.#inHand.close(deadlineMs);
    await this.#link?.close();
  }

  async #subscribe(isUp: () => void, ended: AbortSignal): Promise<never> {
    const link = await dialMqtt(this.#place, ended, (packet, on, next) => this.#take(packet, on, next));
    this.#link = link;
    if (ended.aborted) await link.close();
    try {
      await this.#subscribed(link);
      isUp();
      const since = performance.now();
      return await lossOf(link).catch((loss: LinkLost) => {
        throw this.#wasTaken(loss, performance.now() - since) ? this.#takeover() : loss;
      });
    } finally {
      // At the end what is in hand may still be acknowledged.
      if (!ended.aborted) link.end();
    }
  }

  #wasTaken({ reasonCode }: LinkLost, stoodMs: number): boolean {
    this.#short = reasonCode === undefined && stoodMs < SHORT_MS ? this.#short + 1 : 0;
    return reasonCode === TAKEN_OVER || this.#short > MOST_SHORT;
  }

  #takeover(): LongPause {
    const { clientId } = this.#place;
    return new LongPause(
      `another client takes the session ${clientId}: give each its own client_id, and share $share/GROUP/TOPIC`,
      AFTER_TAKEOVER_MS,
    );
  }

  /** What the broker retains comes with the first subscription of a session, and not with later ones. */
  async #subscribed(link: MqttLink): Promise<void> {
    const { place: topic } = this.#place.target;
    const late = AbortSignal.timeout(this.#timeoutMs);
    const [granted] = await Promise.race([
      link.client.subscribeAsync(topic, { qos: 1, rh: 1 }),
      lossOf(link),
      rejectedOn(late, 'the broker does not answer in time'),
    ]);
    if (granted?.qos === 0) throw new Error('the broker gives no messages with QoS 1, which may not be lost');
  }

  #take(packet: IPublishPacket, link: MqttLink, next: () => void): void {
    const { qos, messageId, topic, properties, payload } = packet;
    const { contentType } = properties ?? {};
    const message: IncomingMessage = {
      body: Buffer.from(payload),
      ...(contentType === undefined ? {} : { contentType }),
      attributes: attributesOf(properties?.userProperties ?? {}),
      place: messageId === undefined ? `topic ${topic}` : `topic ${topic}, message ${messageId}`,
    };
    const held = this.#inHand.hold(message, link.lost).then((isDone) => {
      if (isDone && qos === 1 && messageId !== undefined) link.acknowledge(messageId);
    });
    // Without an acknowledgement the broker does not wait: it is read no faster than it is taken.
    if (qos === 1) next();
    else held.then(next, next);
  }
}

const rejectedOn = (signal: AbortSignal, message?: string): Promise<never> =>
  new Promise((_, reject) => {
    const fail = () => reject(message === undefined ? signal.reason : new Error(message));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });

/** Throws why the connection was lost, once it is. */
const lossOf = (link: MqttLink): Promise<never> => rejectedOn(link.lost);

export const mqtt = defineSource<Options>({
  kind: 'mqtt',
  description: 'Takes the messages of a topic of a broker of MQTT 5, which keeps them while it is away.',
  target: 'mqtt[s]://HOST:PORT#TOPIC (with + and #, or $share/GROUP/TOPIC)',
  options,
  problem(target, settings) {
    const message = mqttProblem(target, settings);
    if (message !== undefined) return { message };
    const wrong = filterProblem((parseMqttTarget(target) as Address).place);
    return wrong === undefined ? undefined : { message: wrong };
  },
  async open(target, settings, context, take) {
    const place: MqttPlace = {
      target: parseMqttTarget(target) as Address,
      options: settings,
      clientId: settings.client_id ?? `sluice-${context.fleet}-${context.name}`,
      session: {
        expirySeconds: Math.min(Math.ceil(settings.session_expiry / 1000), LONGEST_EXPIRY_S),
        receiveMaximum: context.concurrency,
      },
      secret: context.secret,
    };
    const source = new MqttSource(place, context, take);
    await source.start();
    return source;
  },
});
