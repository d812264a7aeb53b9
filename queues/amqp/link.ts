import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Channel, Connection } from 'rabbitmq-client';
import type { SecretReader } from '../../src/core/secret.js';
import { type Login, type LoginOptions, readLogin, readTls, withoutLogin } from '../buses/login.js';
import type { AmqpTarget } from './target.js';

/** Everything that it takes to connect. */
export interface AmqpPlace {
  target: AmqpTarget;
  options: LoginOptions;
  /** What the connection shows in the broker's own lists. */
  label: string;
  secret: SecretReader;
}

const HEARTBEAT_S = 10;
const FRAME_BYTES = 131_072;
const CLOSE_MS = 1_000;

/** A code of AMQP on an error of the client, such as `NOT_FOUND`. */
export const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** A connection while it stands. */
export class AmqpLink {
  readonly #connection: Connection;
  readonly #login: Login;
  readonly #lost = new AbortController();
  readonly #channels = new Set<Channel>();

  constructor(connection: Connection, login: Login) {
    this.#connection = connection;
    this.#login = login;
    // One for each message under way.
    setMaxListeners(0, this.#lost.signal);
    connection.on('error', (error: Error) => this.#fail(error));
    // What is published now would wait in memory for as long as the alarm of the broker lasts.
    connection.on('connection.blocked', (reason) => this.end(`the broker takes no messages now: ${reason}`));
  }

  /** Raised when the connection is lost or ended; its reason is an Error. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get isOpen(): boolean {
    return !this.#lost.signal.aborted;
  }

  /** An error of the client as it may be shown. */
  told(error: Error): Error {
    const code = codeOf(error);
    const message = withoutLogin(error.message, this.#login) || code || 'the connection failed';
    return Object.assign(new Error(message), { code });
  }

  async channel(): Promise<Channel> {
    const channel = await this.#connection.acquire({ emitErrorsFromChannel: true });
    this.#channels.add(channel);
    channel.once('close', () => this.#channels.delete(channel));
    return channel;
  }

  /** Ends it in good order where the broker answers. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    if (this.isOpen) await Promise.race([this.#inOrder().catch(() => {}), late]);
    clearTimeout(timer);
    this.end();
  }

  /** The client waits until its channels are closed, and does not close them. */
  async #inOrder(): Promise<void> {
    await Promise.all([...this.#channels].map((channel) => channel.close()));
    await this.#connection.close();
  }

  /** Ends it at once. */
  end(reason = 'the connection was closed'): void {
    this.#fail(new Error(reason));
  }

  /** The client would connect again by itself, with the password of old: a new link is made instead. */
  #fail(error: Error): void {
    if (this.isOpen) this.#lost.abort(this.told(error));
    this.#connection.unsafeDestroy();
  }
}

/**
 * The client reads frames of any size that a server names: what is no broker would fill the memory, or
 * end the process by a size that no stream can read.
 */
function refuseHugeFrames(connection: Connection): void {
  const { _socket: socket } = connection as unknown as { _socket: Socket };
  const read = socket.read.bind(socket);
  socket.read = (bytes?: number) => {
    if (bytes === undefined || bytes <= FRAME_BYTES) return read(bytes);
    socket.destroy(new Error('the server does not speak AMQP, or sends frames that are too large'));
    return null;
  };
}

/** Connects once. Throws why it cannot. */
export async function dialAmqp(place: AmqpPlace, ended?: AbortSignal): Promise<AmqpLink> {
  const { target, options, label, secret } = place;
  const { Connection } = await import('rabbitmq-client');
  const login = await readLogin(options, secret);
  const tls = target.isTls ? await readTls(options.tls) : undefined;
  ended?.throwIfAborted();
  const connection = new Connection({
    hostname: target.host,
    port: target.port,
    vhost: target.vhost,
    username: login.user ?? 'guest',
    password: login.password ?? 'guest',
    ...(tls === undefined ? {} : { tls }),
    connectionName: label,
    connectionTimeout: options.timeout,
    acquireTimeout: options.timeout,
    heartbeat: HEARTBEAT_S,
    frameMax: FRAME_BYTES,
    noDelay: true,
  });
  refuseHugeFrames(connection);
  const link = new AmqpLink(connection, login);
  const stop = () => link.end();
  ended?.addEventListener('abort', stop);
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once('connection', resolve);
      link.lost.addEventListener('abort', () => reject(link.lost.reason), { once: true });
    });
  } finally {
    ended?.removeEventListener('abort', stop);
  }
  return link;
}
