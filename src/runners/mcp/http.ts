import { AsyncLocalStorage } from 'node:async_hooks';
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { failure } from '../../core/failure.js';
import type { RunFailure } from '../../core/validators/validator.js';
import { type Connection, LOST, Lost, MOST_MESSAGE, type Noise } from './connection.js';
import { type McpHttpSettings, secretsOf, taken } from './settings.js';

/** Milliseconds that a server has to hear that its session is over. */
const FAREWELL_MS = 1000;
/** Milliseconds that a stream may stay open behind its answer. */
const LINGER_MS = 2000;

/** A request whose answer, or the end of whose stream, has not come. */
interface Open {
  id: RequestId;
  /** Ends the exchange that the answer comes by. */
  gone: AbortController;
  /** Runs from the answer on. */
  linger?: NodeJS.Timeout;
  /** The server has said how to go on where the stream broke off. */
  isResumable: boolean;
  isBroken: boolean;
}

/** The bytes of a body, up to a limit; `onEnd` hears when no more come, and why, where that is an error. */
function bounded(body: ReadableStream<Uint8Array>, onEnd: (why?: Error) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let size = 0;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          onEnd();
          return;
        }
        size += value.length;
        if (size > MOST_MESSAGE) {
          void reader.cancel().catch(() => {});
          throw new Lost('mcp_too_large', `answered with more than ${MOST_MESSAGE / 2 ** 20} MiB`);
        }
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        onEnd(error as Error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/**
 * The SDK’s transport with what it leaves open: answers are bounded in size, a request whose stream
 * ended without an answer fails at once, and a cancelled one lets go of its stream.
 */
class BoundedHttp implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #inner: StreamableHTTPClientTransport;
  readonly #open = new Map<RequestId, Open>();
  readonly #streams = new Set<Open>();
  readonly #current = new AsyncLocalStorage<Open>();

  constructor(make: (fetch: typeof globalThis.fetch) => StreamableHTTPClientTransport) {
    this.#inner = make((url, init) => this.#fetch(url, init));
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.#error(error);
    this.#inner.onmessage = (message) => {
      if ('id' in message && !('method' in message) && message.id !== undefined) this.#answered(message.id);
      this.onmessage?.(message);
    };
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) return this.#inner.send(message);
    if (!('id' in message)) {
      const cancelled = message.method === 'notifications/cancelled' ? message.params?.requestId : undefined;
      try {
        return await this.#inner.send(message);
      } finally {
        if (cancelled !== undefined) this.#letGo(cancelled as RequestId);
      }
    }
    const open: Open = { id: message.id, gone: new AbortController(), isResumable: false, isBroken: false };
    this.#open.set(open.id, open);
    const onresumptiontoken = () => {
      open.isResumable = true;
    };
    try {
      await this.#current.run(open, () => this.#inner.send(message, { onresumptiontoken }));
    } catch (error) {
      this.#open.delete(open.id);
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const { gone } of [...this.#open.values(), ...this.#streams]) gone.abort();
    this.#open.clear();
    await this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  /** Tells the server that the session is over, where it has one. */
  async farewell(): Promise<void> {
    await this.#inner.terminateSession();
  }

  #answered(id: RequestId): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    if (open !== undefined && this.#streams.has(open))
      open.linger = setTimeout(() => open.gone.abort(), LINGER_MS).unref();
  }

  #letGo(id: RequestId): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    open?.gone.abort();
  }

  async #fetch(url: string | URL | Request, init?: RequestInit): Promise<Response> {
    const open = init?.method === 'POST' ? this.#current.getStore() : undefined;
    const response = await fetch(url, {
      ...init,
      ...(open === undefined ? {} : { signal: open.gone.signal }),
    });
    if (response.body === null) return response;
    if (open !== undefined) this.#streams.add(open);
    const { status, statusText, headers } = response;
    const body = bounded(response.body, (why) => this.#ended(open, why));
    return new Response(body, { status, statusText, headers });
  }

  /** What came last is read first. */
  #ended(open: Open | undefined, why: Error | undefined): void {
    if (open === undefined) return;
    this.#streams.delete(open);
    clearTimeout(open.linger);
    setImmediate(() => {
      if (!this.#open.has(open.id)) return;
      open.isBroken = true;
      if (why instanceof Lost) this.#lose(open, why);
      else if (!open.isResumable)
        this.#lose(open, new Lost('mcp_died', `broke off its answer${because(why)}`));
    });
  }

  #lose({ id }: Open, why: Lost): void {
    this.#letGo(id);
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: LOST, message: why.message, data: why } });
  }

  #error(error: Error): void {
    // Others reach the request that they are about.
    if (error instanceof SyntaxError || 'issues' in error) this.onerror?.(error);
    // The SDK has given up resuming a stream; it does not say which.
    if (!/^Maximum reconnection attempts/.test(error.message)) return;
    for (const open of this.#open.values())
      if (open.isBroken) this.#lose(open, new Lost('mcp_died', 'broke off its answer'));
  }
}

/** Why a connection failed, which Node.js tells in the cause alone. */
export function because(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { cause } = error;
  const errors = cause instanceof AggregateError ? cause.errors : [cause];
  const inner = errors.find((each) => each instanceof Error && each.message !== '') as Error | undefined;
  return `: ${inner?.message ?? error.message}`;
}

/** Readies the way to a server that runs elsewhere; nothing is sent yet. */
export async function connectHttp(
  server: string,
  settings: McpHttpSettings,
  env: NodeJS.ProcessEnv,
  noise: Noise,
): Promise<Connection | RunFailure> {
  const { url, headers, headers_from } = settings;
  const values = taken(server, 'headers_from', headers_from, env);
  if (values.kind === 'failure') return values;
  let given: Headers;
  try {
    given = new Headers({ ...headers, ...values.values });
  } catch {
    // The error would quote the value, which may be a secret.
    const message = `the MCP server ${server} cannot be used: one of its headers has a name or a value that HTTP does not take`;
    return failure('mcp_not_configured', message);
  }
  const sdk = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const transport = new BoundedHttp(
    (fetch) =>
      new sdk.StreamableHTTPClientTransport(new URL(url), {
        fetch,
        requestInit: { headers: Object.fromEntries(given) },
      }),
  );
  const { hide } = secretsOf(settings, env);
  noise.hide = hide;
  let isStopped = false;
  return {
    transport,
    readOnly: 'declared',
    startReason: 'mcp_unreachable',
    hide,
    evidence: () => '',
    statusOf: (error) => (error instanceof sdk.StreamableHTTPError ? (error.code ?? 0) : undefined),
    fate: async () => new Lost('mcp_died', 'ended the session'),
    async stop() {
      if (isStopped) return;
      isStopped = true;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, FAREWELL_MS);
      });
      await Promise.race([transport.farewell().catch(() => {}), late]);
      clearTimeout(timer);
      await transport.close().catch(() => {});
    },
  };
}
