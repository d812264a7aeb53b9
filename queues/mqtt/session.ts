import { randomUUID } from 'node:crypto';
import type { IClientPublishOptions } from 'mqtt';
import type { OutgoingEvent } from '../../src/ports/sink.js';
import { type Content, contentOf, type Mode } from '../buses/content.js';
import { Refused, type Session, Upset } from '../buses/delivering.js';
import { fillTemplate } from '../buses/template.js';
import type { LinkLost, MqttLink } from './link.js';
import { packetBytes } from './packet-size.js';
import { isFinal, isUpset, reasonOf, TOO_LARGE } from './reasons.js';
import { topicProblem } from './target.js';

/** How events become messages. */
export interface Publishing {
  topic: string;
  qos: 1 | 2;
  mode: Mode;
}

/** Messages under way at a time: brokers of old take 20, and say so. */
const MOST_UNDER_WAY = 100;

/** A client id of its own: brokers end an older connection with the same one. */
export const freshClientId = (start: string): string => `${start}-${randomUUID().slice(0, 8)}`;

const SPECIAL: Readonly<Record<string, string>> = { '/': '%2F', '+': '%2B', '#': '%23', '\0': '%00' };

/** The topic of an event: dots of its name are slashes; its subject is one level. */
export const topicOf = (template: string, event: OutgoingEvent): string =>
  fillTemplate(template, event, (part) =>
    'type' in part
      ? part.type.replaceAll('.', '/')
      : part.subject.replace(/[/+#\0]/g, (found) => SPECIAL[found] as string),
  );

/** A connection that events are published on. */
export class MqttSession implements Session {
  readonly #link: MqttLink;
  readonly #publishing: Publishing;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;
  #hasRefused = false;

  constructor(link: MqttLink, publishing: Publishing) {
    this.#link = link;
    this.#publishing = publishing;
    link.lost.addEventListener('abort', () => {
      for (const wake of this.#waiting.splice(0)) wake();
    });
  }

  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  async send(event: OutgoingEvent): Promise<void> {
    const { topic: template, qos, mode } = this.#publishing;
    const topic = topicOf(template, event);
    const problem = topicProblem(topic);
    if (problem !== undefined) throw new Refused(`it ${problem}`, { isFinal: true });
    const content = contentOf(event, mode);
    const properties = propertiesOf(event, content);
    const most = this.#link.maximumPacketSize;
    const bytes = packetBytes(topic, content.body.byteLength, properties);
    if (most !== undefined && bytes > most)
      throw new Refused(`its packet has ${bytes} bytes; the broker takes ${most} at most`, { isFinal: true });
    while (this.isOpen && this.#underWay >= Math.min(MOST_UNDER_WAY, this.#link.receiveMaximum))
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#underWay += 1;
    try {
      await this.#acknowledged(topic, content.body, { qos, retain: false, properties });
    } finally {
      this.#underWay -= 1;
      this.#waiting.shift()?.();
    }
  }

  end(): void {
    void this.#link.close();
  }

  drop(): void {
    this.#link.end('the broker does not answer in time');
  }

  #acknowledged(topic: string, body: Buffer, options: IClientPublishOptions): Promise<void> {
    const { lost, client } = this.#link;
    return new Promise((resolve, reject) => {
      const isLost = () => reject(this.#lossOf(lost.reason as LinkLost));
      if (lost.aborted) return isLost();
      lost.addEventListener('abort', isLost, { once: true });
      client.publish(topic, body, options, (error) => {
        // What the client fails when it is ended, fails for why it was.
        if (lost.aborted) return isLost();
        lost.removeEventListener('abort', isLost);
        if (error) reject(this.#failureOf(error));
        else resolve();
      });
    });
  }

  #lossOf(loss: LinkLost): Error {
    const { reasonCode } = loss;
    if (isUpset(reasonCode))
      return new Upset(loss.message, { isFinal: reasonCode === TOO_LARGE, response: String(reasonCode) });
    // mosquitto 2.0.11 without a limit of messages under way closes the connection after a refusal.
    return this.#hasRefused ? new Upset('the broker closed the connection over another event') : loss;
  }

  #failureOf(error: Error & { code?: unknown }): Error {
    if (typeof error.code !== 'number') return error;
    this.#hasRefused = true;
    const reason = reasonOf(error.code);
    return new Refused(`the broker refuses it: ${reason}`, {
      isFinal: isFinal(error.code),
      response: `${error.code} ${reason}`,
    });
  }
}

/** What stands beside the body. Outside of binary mode id and type do so under names of our own. */
function propertiesOf(
  { id, type }: OutgoingEvent,
  { contentType, attributes }: Content,
): { contentType?: string; userProperties: Record<string, string> } {
  const isBinary = Object.keys(attributes).length > 0;
  return {
    ...(contentType === undefined ? {} : { contentType }),
    userProperties: isBinary ? attributes : { 'sluice-id': id, 'sluice-type': type },
  };
}
