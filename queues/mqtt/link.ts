import { setMaxListeners } from 'node:events';
import type { IClientOptions, IPublishPacket, MqttClient } from 'mqtt';
import type { SecretReader } from '../../src/core/secret.js';
import type { Address } from '../buses/address.js';
import { type Login, type LoginOptions, readLogin, readTls, withoutLogin } from '../buses/login.js';
import { reasonOf } from './reasons.js';

/** Everything that it takes to connect. */
export interface MqttPlace {
  target: Address;
  options: LoginOptions;
  clientId: string;
  /** A session that outlives its connection, by so many seconds; absent: it ends with it. */
  session?: { expirySeconds: number; receiveMaximum: number };
  secret: SecretReader;
}

const KEEPALIVE_S = 15;
const CLOSE_MS = 1_000;
const PUBACK = 0x40;

/** Why a connection was lost. `reasonCode`: what the broker gave when it ended it. */
export class LinkLost extends Error {
  readonly reasonCode: number | undefined;

  constructor(message: string, reasonCode?: number) {
    super(message);
    this.reasonCode = reasonCode;
  }
}

/** A connection while it stands. The client's own reconnecting is off: it would keep what is under way. */
export class MqttLink {
  readonly client: MqttClient;
  readonly #login: Login;
  readonly #lost = new AbortController();
  #reason: LinkLost | undefined;
  /** Whether this side ended it. */
  wasClosed = false;
  /** What the broker takes, as it said when it connected; a number of bytes. */
  maximumPacketSize: number | undefined;
  /** Messages that it takes before it has acknowledged one. */
  receiveMaximum = 65_535;

  constructor(client: MqttClient, login: Login) {
    this.client = client;
    this.#login = login;
    // One for each message under way.
    setMaxListeners(0, this.#lost.signal);
    client.on('error', (error: Error & { code?: unknown }) => {
      // After packets that it cannot read the client would go on waiting.
      this.end(this.#told(error));
    });
    client.on('disconnect', ({ reasonCode }) => {
      this.#reason ??= new LinkLost(`the broker ended the connection: ${reasonOf(reasonCode)}`, reasonCode);
    });
    client.on('close', () => this.end());
  }

  /** Raised when the connection is lost or ended; its reason is a LinkLost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get isOpen(): boolean {
    return !this.#lost.signal.aborted;
  }

  /** Acknowledges a message of this connection. The client itself does so in order, one at a time. */
  acknowledge(messageId: number): void {
    if (this.isOpen) this.client.stream.write(Buffer.from([PUBACK, 2, messageId >> 8, messageId & 0xff]));
  }

  /** Ends it in good order where the broker answers. */
  async close(): Promise<void> {
    this.wasClosed = true;
    if (this.isOpen) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
      });
      const ended = new Promise((resolve) => this.client.end(false, resolve));
      await Promise.race([ended, late]);
      clearTimeout(timer);
    }
    this.end();
  }

  /** Ends it at once. */
  end(reason = 'the connection was lost'): void {
    if (!this.isOpen) return;
    this.#lost.abort(this.#reason ?? new LinkLost(reason));
    this.client.end(true);
    this.client.stream.destroy();
  }

  #told(error: Error & { code?: unknown }): string {
    const text = withoutLogin(error.message, this.#login);
    return text || String(error.code ?? 'the connection failed');
  }
}

function sessionOf({ session }: MqttPlace): IClientOptions {
  if (session === undefined) return { clean: true };
  const { expirySeconds: sessionExpiryInterval, receiveMaximum } = session;
  return { clean: false, properties: { sessionExpiryInterval, receiveMaximum } };
}

/**
 * Connects once. Throws why it cannot. `onMessage` gets every message, and whoever gave it acknowledges
 * those with QoS 1; the next one is read when it has called back.
 */
export async function dialMqtt(
  place: MqttPlace,
  ended: AbortSignal,
  onMessage: (packet: IPublishPacket, link: MqttLink, next: () => void) => void = (_, __, next) => next(),
): Promise<MqttLink> {
  const { target, options, clientId, secret } = place;
  const { connect } = await import('mqtt');
  const login = await readLogin(options, secret);
  const tls = target.isTls ? await readTls(options.tls) : {};
  ended.throwIfAborted();
  const client = connect({
    ...tls,
    ...sessionOf(place),
    protocol: target.isTls ? 'mqtts' : 'mqtt',
    host: target.host,
    port: target.port,
    ...(login.user === undefined ? {} : { username: login.user }),
    ...(login.password === undefined ? {} : { password: login.password }),
    clientId,
    protocolVersion: 5,
    connectTimeout: options.timeout,
    keepalive: KEEPALIVE_S,
    reconnectPeriod: 0,
    queueQoSZero: false,
    resubscribe: false,
    log: () => {},
  });
  const link = new MqttLink(client, login);
  client.handleMessage = (packet, callback) => {
    // The client acknowledges what is called back without an error, at once.
    const later = new Error('acknowledged later');
    onMessage(packet, link, () => callback(packet.qos === 1 ? later : undefined));
  };
  const stop = () => link.end();
  ended.addEventListener('abort', stop);
  try {
    await new Promise<void>((resolve, reject) => {
      link.lost.addEventListener('abort', () => reject(link.lost.reason), { once: true });
      client.once('connect', ({ properties }) => {
        link.maximumPacketSize = properties?.maximumPacketSize;
        link.receiveMaximum = properties?.receiveMaximum ?? link.receiveMaximum;
        resolve();
      });
    });
  } finally {
    ended.removeEventListener('abort', stop);
  }
  return link;
}
