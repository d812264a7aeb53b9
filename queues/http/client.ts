import { lookup as lookUp } from 'node:dns/promises';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { hostOf, literalAddress, privateRange } from './addresses.js';
import { HttpTrouble, troubleOf } from './trouble.js';
import { userAgent } from './user-agent.js';

/** Certificates and key in PEM, as Node takes them. */
export interface TlsContent {
  ca?: string;
  cert?: string;
  key?: string;
}

/** Every address of a host. */
export type Resolve = (host: string) => Promise<{ address: string; family: number }[]>;

export interface ClientOptions {
  /** Whether hosts may have addresses that are not public. */
  allowPrivate: boolean;
  /** Default: as the operating system resolves names. */
  resolve?: Resolve;
}

export interface HttpRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** For all of it: connection, headers and body of the answer, in milliseconds. */
  timeoutMs: number;
  /** Bytes of the answer's body that are read; what is longer is cut. */
  maxBytes: number;
  tls?: TlsContent;
  signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  status: number;
  statusText: string;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
  /** The body was longer than `maxBytes`; its end was not read. */
  cut: boolean;
}

/** Milliseconds that one of several addresses may take to connect before the next is tried. */
const NEXT_ADDRESS_MS = 1000;

const resolveByName: Resolve = (host) => lookUp(host, { all: true, verbatim: true });

function addressTrouble(host: string, address: string, range: string): HttpTrouble {
  const what = host === address ? 'is' : `has the address ${address}, which is`;
  return new HttpTrouble('address', `${host} ${what} ${range}; such addresses are not allowed here`);
}

/**
 * Asks others over HTTP and trusts none of them: connects only to addresses that it has checked, follows
 * no redirect, reads no more than it was told to, and always ends in time. Connections are kept for the
 * next request.
 */
export class GuardedClient {
  readonly #allowPrivate: boolean;
  readonly #resolve: Resolve;
  readonly #plain = new http.Agent({ keepAlive: true, maxFreeSockets: 16 });
  readonly #secure = new https.Agent({ keepAlive: true, maxFreeSockets: 16 });

  constructor({ allowPrivate, resolve = resolveByName }: ClientOptions) {
    this.#allowPrivate = allowPrivate;
    this.#resolve = resolve;
  }

  /** The answer, whatever its status. Throws HttpTrouble when there is none. */
  async request(request: HttpRequest): Promise<HttpAnswer> {
    const address = literalAddress(request.url);
    const range = address === undefined || this.#allowPrivate ? undefined : privateRange(address);
    if (address !== undefined && range !== undefined) throw addressTrouble(address, address, range);
    const deadline = performance.now() + request.timeoutMs;
    try {
      return await this.#once(request, deadline);
    } catch (error) {
      // The other side had closed a kept connection just as it was used again.
      if (error !== STALE) throw error;
      return await this.#once(request, deadline, true);
    }
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }

  #once(request: HttpRequest, deadline: number, afresh = false): Promise<HttpAnswer> {
    const { url, signal, timeoutMs, maxBytes } = request;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new HttpTrouble('stopped', `${url.host}: stopped`));
      const sent = this.#send(request, afresh);
      const settle = (end: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        end();
      };
      const fail = (error: unknown) => {
        const isStale = sent.reusedSocket && !afresh && (error as { code?: string }).code === 'ECONNRESET';
        settle(() => reject(isStale ? STALE : troubleOf(error, url.host)));
        sent.destroy();
      };
      const late = () =>
        fail(new HttpTrouble('timeout', `${url.host}: no whole answer within ${timeoutMs} ms`));
      const stop = () => fail(new HttpTrouble('stopped', `${url.host}: stopped`));
      const timer = setTimeout(late, Math.max(0, deadline - performance.now()));
      signal?.addEventListener('abort', stop, { once: true });
      const done = (answer: HttpAnswer) => {
        settle(() => resolve(answer));
        // What is not yet sent or read is of no use: such a connection cannot be used again.
        if (answer.cut || !sent.writableFinished) sent.destroy();
      };
      sent.on('error', fail);
      sent.on('response', (answer) => collect(answer, maxBytes, done, fail));
      sent.on('upgrade', (answer, socket) => {
        socket.destroy();
        done(answerOf(answer, [], true));
      });
      sent.end(request.body);
    });
  }

  #send({ url, method, headers, body, tls }: HttpRequest, afresh: boolean): ClientRequest {
    const isSecure = url.protocol === 'https:';
    const agent = isSecure ? this.#secure : this.#plain;
    return (isSecure ? https : http).request({
      ...tls,
      // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED does not switch it off.
      ...(isSecure ? { rejectUnauthorized: true } : {}),
      hostname: hostOf(url),
      port: url.port,
      path: url.pathname + url.search,
      method,
      headers: {
        'user-agent': userAgent(),
        'accept-encoding': 'identity',
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
        ...headers,
      },
      agent: afresh ? false : agent,
      lookup: this.#lookup,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    } as https.RequestOptions);
  }

  /** Resolves a name for the connection, which goes to nothing but what is returned here. */
  readonly #lookup: LookupFunction = (host, options, callback) => {
    const give = async () => {
      const all = (await this.#resolve(host)).filter(({ address }) => isIP(address) !== 0);
      const allowed = all.filter(({ address }) => this.#allowPrivate || privateRange(address) === undefined);
      const [first] = all;
      if (first === undefined) throw new HttpTrouble('connection', `${host}: no address is known for it`);
      if (allowed[0] === undefined)
        throw addressTrouble(host, first.address, privateRange(first.address) ?? 'reserved');
      return allowed as [(typeof allowed)[0], ...typeof allowed];
    };
    give().then(
      (allowed) =>
        options.all ? callback(null, allowed) : callback(null, allowed[0].address, allowed[0].family),
      (error) => callback(error, []),
    );
  };
}

/** The connection that was to be used again is closed: a new one may do. */
const STALE = new Error('a kept connection is closed');

function answerOf(message: IncomingMessage, chunks: Buffer[], cut: boolean): HttpAnswer {
  const { statusCode = 0, statusMessage = '', headers } = message;
  return { status: statusCode, statusText: statusMessage, headers, body: Buffer.concat(chunks), cut };
}

/** Reads `maxBytes` of the body; fails where it ends before its end. */
function collect(
  message: IncomingMessage,
  maxBytes: number,
  done: (answer: HttpAnswer) => void,
  fail: (error: unknown) => void,
): void {
  const chunks: Buffer[] = [];
  let left = maxBytes;
  message.on('data', (chunk: Buffer) => {
    if (left < 0) return;
    chunks.push(chunk.subarray(0, left));
    left -= chunk.length;
    if (left < 0) done(answerOf(message, chunks, true));
  });
  message.on('end', () => {
    if (left >= 0) done(answerOf(message, chunks, false));
  });
  message.on('error', () => fail(new Error('the connection closed in the middle of the answer')));
}
