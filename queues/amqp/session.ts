import type { Channel, ReturnedMessage } from 'rabbitmq-client';
import type { OutgoingEvent } from '../../src/ports/sink.js';
import { contentOf, type Mode } from '../buses/content.js';
import { Refused, type Session, Upset } from '../buses/delivering.js';
import { fillTemplate } from '../buses/template.js';
import { type AmqpLink, codeOf } from './link.js';

/** How events become messages. */
export interface Publishing {
  exchange: string;
  routing_key: string;
  mode: Mode;
  mandatory: boolean;
}

/** AMQP carries names and keys as short strings. */
const LONGEST_SHORT = 255;
const PREFIX = 'cloudEvents:';
/** Nobody can publish here: trying other events is of no use. */
const EXCHANGE_CODES: ReadonlySet<string> = new Set(['NOT_FOUND', 'NOT_ALLOWED']);
const FINAL_CODES: ReadonlySet<string> = new Set(['PRECONDITION_FAILED', 'CONTENT_TOO_LARGE']);
const CLOSED = 'CH_CLOSE';

const isShort = (text: string) => Buffer.byteLength(text) <= LONGEST_SHORT;

/** A channel that confirms what it was sent. */
export class AmqpSession implements Session {
  readonly #link: AmqpLink;
  readonly #channel: Channel;
  readonly #publishing: Publishing;
  /** Messages that came back, by the event's id; the broker sends them back before it confirms them. */
  readonly #returned = new Map<string, ReturnedMessage>();
  /** What the broker closed the channel over. */
  #trouble: Error | undefined;

  constructor(link: AmqpLink, channel: Channel, publishing: Publishing) {
    this.#link = link;
    this.#channel = channel;
    this.#publishing = publishing;
    channel.on('error', (error: Error) => {
      this.#trouble ??= link.told(error);
    });
    channel.on('basic.return', (message) => {
      if (message.messageId !== undefined) this.#returned.set(message.messageId, message);
    });
  }

  static async open(link: AmqpLink, publishing: Publishing): Promise<AmqpSession> {
    const channel = await link.channel();
    const session = new AmqpSession(link, channel, publishing);
    await channel.confirmSelect();
    return session;
  }

  get isOpen(): boolean {
    return this.#channel.active && this.#link.isOpen;
  }

  async send(event: OutgoingEvent): Promise<void> {
    const { exchange, routing_key, mode, mandatory } = this.#publishing;
    const routingKey = fillTemplate(routing_key, event);
    if (!isShort(routingKey)) throw new Refused('its routing key has more than 255 bytes', { isFinal: true });
    if (!isShort(event.id)) throw new Refused('its id has more than 255 bytes', { isFinal: true });
    const { body, contentType, attributes } = contentOf(event, mode);
    const headers = Object.entries(attributes).map(([name, value]) => [`${PREFIX}${name}`, value]);
    const envelope = {
      exchange,
      routingKey,
      mandatory,
      durable: true,
      messageId: event.id,
      ...(contentType === undefined ? {} : { contentType }),
      ...(isShort(event.type) ? { type: event.type } : {}),
      ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
    };
    try {
      await this.#confirmed(envelope, body);
    } catch (error) {
      throw await this.#reasonOf(error as Error);
    }
    this.#refuseReturned(event.id);
  }

  end(): void {
    this.#channel.close().catch(() => {});
  }

  /** A channel that the broker has closed is over; one that hangs does so with its connection. */
  drop(): void {
    if (this.#channel.active) this.#link.end('the broker does not answer in time');
  }

  async #confirmed(envelope: Parameters<Channel['basicPublish']>[0], body: Buffer): Promise<void> {
    const { lost } = this.#link;
    let isLost = () => {};
    const gone = new Promise<never>((_, reject) => {
      isLost = () => reject(lost.reason);
    });
    gone.catch(() => {});
    lost.addEventListener('abort', isLost, { once: true });
    if (lost.aborted) isLost();
    try {
      await Promise.race([this.#channel.basicPublish(envelope as never, body), gone]);
    } finally {
      lost.removeEventListener('abort', isLost);
    }
    // The client tells of a returned message one turn later than of its confirmation.
    await new Promise(setImmediate);
  }

  #refuseReturned(id: string): void {
    const returned = this.#returned.get(id);
    if (returned === undefined) return;
    this.#returned.delete(id);
    const { replyCode, replyText } = returned;
    throw new Refused(`no queue takes its routing key: returned as ${replyText}`, {
      response: `${replyCode} ${replyText}`,
    });
  }

  async #reasonOf(error: Error): Promise<Error> {
    const code = codeOf(error);
    if (!this.#link.isOpen) return this.#link.lost.reason as Error;
    if (code === 'NACK') return new Error('the broker could not store it: nack');
    if (code !== CLOSED) this.#trouble ??= this.#link.told(error);
    // Of all that a closed channel fails, one event is told why; the others have to wait for it.
    await new Promise(setImmediate);
    if (!this.#link.isOpen) return this.#link.lost.reason as Error;
    const trouble = this.#trouble;
    if (trouble === undefined) return new Upset('the broker closed the channel');
    const known = codeOf(trouble);
    const isOfTopic = /access to topic/.test(trouble.message);
    if (EXCHANGE_CODES.has(known) || (known === 'ACCESS_REFUSED' && !isOfTopic)) return trouble;
    return new Upset(`the broker refuses it: ${trouble.message}`, {
      isFinal: FINAL_CODES.has(known),
      response: `${known} ${trouble.message}`,
    });
  }
}
