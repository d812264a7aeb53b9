import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { failure } from '../../core/failure.js';
import type { McpCallResult } from '../../core/mcp/result.js';
import type { McpTool } from '../../core/mcp/tool.js';
import type { JsonObject } from '../../core/registry/model.js';
import type { ReadOnly } from '../../core/result.js';
import type { RunFailure } from '../../core/validators/validator.js';
import { isRoot } from '../process/users.js';
import { type Connection, Noise } from './connection.js';
import { lastWords } from './last-words.js';
import { cancellable, listTools, type Types } from './requests.js';
import { evidenceOf, type Trouble, troubleOf, whyNotStarted } from './trouble.js';

/** Milliseconds in which a server must be ready, or list its tools. */
const START_MS = 30_000;
/** Milliseconds in which a server that was late must answer a ping. */
const PING_MS = 1000;

/** A session with a server: initialised, and good for many calls at a time. */
export class McpSession {
  /** Calls that are under way. */
  inFlight = 0;
  /** It takes no more calls: the server is gone, or does not answer. */
  isOver = false;
  /** While it is being found out whether the server still answers. */
  checking: Promise<void> | undefined;
  #tools: Promise<McpTool[]> | undefined;
  #listed = 0;

  private constructor(
    readonly server: string,
    private readonly client: Client,
    private readonly connection: Connection,
    private readonly types: Types,
    private readonly noise: Noise,
    private readonly onOver: () => void,
  ) {}

  /** `signal` gives the start up, as when the worker ends; never throws. */
  static async open(
    server: string,
    connect: (noise: Noise) => Promise<Connection | RunFailure>,
    signal: AbortSignal,
    onOver: () => void,
  ): Promise<McpSession | RunFailure> {
    const noise = new Noise();
    const [connection, { Client }, types] = await Promise.all([
      connect(noise),
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
    if ('kind' in connection) return connection;
    // Output schemas are checked by the registry’s own rules, where a document has one.
    const jsonSchemaValidator: jsonSchemaValidator = {
      getValidator:
        <T>(): JsonSchemaValidator<T> =>
        (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
    };
    const client = new Client({ name: 'sluice', version: '1' }, { jsonSchemaValidator });
    const session = new McpSession(server, client, connection, types, noise, onOver);
    const late = AbortSignal.timeout(START_MS);
    const given = AbortSignal.any([signal, late]);
    try {
      client.onerror = (error) => noise.add(error.message);
      client.onclose = () => session.#end();
      await cancellable(given, (options) => client.connect(connection.transport, options));
      // One that ends right after its greeting would be started again and again.
      if (session.isOver) throw await connection.fate();
      client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => {
        session.#tools = undefined;
      });
      return session;
    } catch (error) {
      const { isOver } = session;
      const why = late.aborted ? `was not ready within ${START_MS / 1000} s` : undefined;
      const message = why ?? (await whyNotStarted(error, { connection, types, isOver }));
      await session.stop();
      const said = connection.evidence();
      const told = `the MCP server ${server} ${message}${lastWords(said, server, isRoot())}`;
      return failure(connection.startReason, told, evidenceOf(said, noise));
    }
  }

  get readOnly(): ReadOnly {
    return this.connection.readOnly;
  }

  /** The server’s tools: as listed before, unless it said that they changed. Rejects with what went wrong. */
  async tools(signal: AbortSignal): Promise<McpTool[]> {
    if (this.#tools === undefined) {
      const listing = listTools(this.client, this.types, AbortSignal.timeout(START_MS));
      this.#tools = listing;
      this.#listed = performance.now();
      listing.catch(() => {
        if (this.#tools === listing) this.#tools = undefined;
      });
    }
    return within(this.#tools, signal);
  }

  /** Forgets tools that were listed more than a second ago, for one that is not among them. */
  forgetOldTools(): boolean {
    if (performance.now() - this.#listed < 1000) return false;
    this.#tools = undefined;
    return true;
  }

  async call(name: string, args: JsonObject, signal: AbortSignal): Promise<McpCallResult> {
    try {
      const request = { method: 'tools/call' as const, params: { name, arguments: args } };
      return await cancellable(signal, (options) =>
        this.client.request(request, this.types.CallToolResultSchema, options),
      );
    } catch (error) {
      if (signal.aborted) this.#check();
      throw error;
    }
  }

  /** Why a request failed. A session that such an error leaves in doubt takes no more calls. */
  async troubleOf(error: unknown): Promise<Trouble> {
    const { server, connection, types } = this;
    const trouble = await troubleOf(error, {
      server,
      connection,
      types,
      isOver: this.isOver,
      evidence: this.evidence(),
    });
    if (trouble.isInDoubt) this.retire();
    return trouble;
  }

  /** What goes with a failure of it, where there is anything. */
  evidence(): Record<string, unknown> | undefined {
    return evidenceOf(this.connection.evidence(), this.noise);
  }

  /** Takes no more calls, and ends when those under way have. */
  retire(): void {
    this.isOver = true;
    this.onOver();
  }

  /** Ends it, and every call that is under way; never rejects. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.connection.stop();
    await this.client.close().catch(() => {});
  }

  #end(): void {
    this.isOver = true;
    this.onOver();
  }

  /** A server that is late may be stuck: it is pinged, and one that does not answer gets no more calls. */
  #check(): void {
    if (this.isOver || this.checking !== undefined) return;
    const { RequestTimeout, ConnectionClosed } = this.types.ErrorCode;
    const ping = this.client.ping({ timeout: PING_MS }).catch((error: { code?: number }) => {
      // A server that refuses to be pinged answers.
      const isSilent = !(error instanceof this.types.McpError);
      if (isSilent || error.code === RequestTimeout || error.code === ConnectionClosed) this.retire();
    });
    this.checking = ping.then(() => {
      this.checking = undefined;
    });
  }
}

/** What the promise brings, unless the signal is aborted before. */
export function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
