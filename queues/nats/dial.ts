import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { ConnectionOptions as ClientOptions, NatsConnection, TlsOptions } from '@nats-io/transport-node';
import type { SecretReader, Tls } from '../../src/core/secret.js';
import { readLogin } from '../buses/login.js';
import { greetingServers } from './greeting.js';
import type { ConnectionOptions } from './options.js';

/** Everything that it takes to connect. */
export interface NatsPlace extends ConnectionOptions {
  /** Each as HOST:PORT. */
  servers: string[];
  /** As what the connection shows in the server's own lists. */
  name: string;
  secret: SecretReader;
}

/** A connection while it stands. */
export interface NatsLink {
  client: NatsConnection;
  jetstream: JetStreamClient;
  manager: JetStreamManager;
}

/** A server that says nothing for so long is given up: two pings unanswered. */
const PING_MS = 5_000;

type Login = Pick<ClientOptions, 'user' | 'pass' | 'token' | 'authenticator'>;

/** Secrets are read at each dial, so that they can be rotated. */
async function login(place: NatsPlace): Promise<Login> {
  const { credsAuthenticator, nkeyAuthenticator } = await import('@nats-io/transport-node');
  const { token, nkey, creds, secret } = place;
  if (token !== undefined) return { token: await secret(token) };
  if (nkey !== undefined)
    return { authenticator: nkeyAuthenticator(Buffer.from((await secret(nkey)).trim())) };
  if (creds !== undefined) return { authenticator: credsAuthenticator(Buffer.from(await secret(creds))) };
  const { user, password } = await readLogin(place, secret);
  return user === undefined || password === undefined ? {} : { user, pass: password };
}

/** The client compares certificates of servers that are given by address with `localhost`. */
function tlsOptions({ ca, cert, key }: Tls, servers: readonly string[]): TlsOptions {
  const hosts = servers.map((server) => server.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
  const files = {
    ...(ca === undefined ? {} : { caFile: ca }),
    ...(cert === undefined ? {} : { certFile: cert }),
    ...(key === undefined ? {} : { keyFile: key }),
  };
  const isOneOfThem = (_: string, certificate: PeerCertificate) => {
    const troubles = hosts.map((host) => checkServerIdentity(host, certificate));
    return troubles.includes(undefined) ? undefined : troubles[0];
  };
  return Object.assign(files, { checkServerIdentity: isOneOfThem });
}

/**
 * Connects once. The client's own reconnecting is off: it keeps what was under way until it times out,
 * hides why it cannot connect, and cannot be ended before its first connection.
 */
export async function dial(place: NatsPlace): Promise<NatsLink> {
  const { connect } = await import('@nats-io/transport-node');
  const { jetstream, jetstreamManager } = await import('@nats-io/jetstream');
  const credentials = await login(place);
  const client = await connect({
    ...credentials,
    servers: await greetingServers(place.servers, place.timeout),
    ...(place.tls === undefined ? {} : { tls: tlsOptions(place.tls, place.servers) }),
    name: place.name,
    timeout: place.timeout,
    reconnect: false,
    ignoreClusterUpdates: true,
    noAsyncTraces: true,
    pingInterval: PING_MS,
  });
  const options = { timeout: place.timeout };
  return {
    client,
    jetstream: jetstream(client, options),
    manager: await jetstreamManager(client, { ...options, checkAPI: false }),
  };
}
