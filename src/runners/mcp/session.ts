import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { McpCallResult } from '../../core/mcp/result.js';
import type { McpTool } from '../../core/mcp/tool.js';
import type { JsonObject } from '../../core/registry/model.js';
import type { ReadOnly } from '../../core/result.js';
import { rawOutput } from '../../core/settle.js';
import type { RunFailure } from '../../core/validators/validator.js';
import { type Connection, LOST, Lost, Noise } from './connection.js';
import { because } from './http.js';
import { mcpFailure } from './settings.js';

/** Milliseconds in which a server must be ready, or list its tools. */
const START_MS = 30_000;
/** Milliseconds in which a server that was late must answer a ping. */
const PING_MS = 2000;
/** The SDK’s own timeouts are never asked: it takes no longer one than a timer can wait. */
const NO_TIMEOUT = 2 ** 31 - 1;
const MOST_TOOLS = 1000;

type Types = typeof import('@modelcontextprotocol/sdk/types.js');

/** Runs a request that `signal` cancels; a signal that is aborted after the answer cancels nothing. */
async function cancellable<T>(
  signal: AbortSignal,
  request: (options: { signal: AbortSignal; timeout: number }) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const abort = () => own.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await request({ signal: own.signal, timeout: NO_TIMEOUT });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** What the server wrote for people, and what of its output meant nothing. */
function evidenceOf(stderr: string, { count, first }: Noise): Record<string, unknown> | undefined {
  const raw = stderr === '' ? {} : { raw_output: rawOutput(stderr) };
  const noise = count === 0 ? {} : { not_understood: { messages: count, first: rawOutput(first) } };
  return stderr === '' && count === 0 ? undefined : { ...raw, ...noise };
}

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
    const connection = await connect(noise);
    if ('kind' in connection) return connection;
    const [{ Client }, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
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
      client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => {
        session.#tools = undefined;
      });
      return session;
    } catch (error) {
      const why = late.aborted
        ? `was not ready within ${START_MS / 1000} s`
        : await session.#whyNotStarted(error);
      await session.stop();
      const data = evidenceOf(connection.evidence(), noise);
      return mcpFailure(connection.startReason, `the MCP server ${server} ${why}`, data);
    }
  }

  get readOnly(): ReadOnly {
    return this.connection.readOnly;
  }

  /** The server’s tools: as listed before, unless it said that they changed. Rejects with what went wrong. */
  async tools(signal: AbortSignal): Promise<McpTool[]> {
    if (this.#tools === undefined) {
      const listing = this.#list(AbortSignal.timeout(START_MS));
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

  /** Why a request failed, as a failure of the call; `lost`: the server did not take it, and another session may. */
  async failureOf(error: unknown): Promise<{ failure: RunFailure; lost: boolean }> {
    const about = `the MCP server ${this.server}`;
    const evidence = () => this.evidence();
    const lost = await this.#lostBy(error);
    if (lost !== undefined) {
      this.retire();
      const when = lost.reason === 'mcp_died' ? ' in the middle of the call' : '';
      const message = `${about} ${lost.message}${when}`;
      return { failure: mcpFailure(lost.reason, message, evidence()), lost: false };
    }
    const { code, message } = error as { code?: unknown; message: string };
    if (error instanceof this.types.McpError) {
      const text = message.replace(/^MCP error -?\d+: /, '');
      const told = `${about} answered with error ${code}: ${text}`;
      return { failure: mcpFailure('mcp_error', told, { ...evidence(), code }), lost: false };
    }
    if (error instanceof Error && error.name === 'StreamableHTTPError') return this.#refused(error, evidence);
    if (error instanceof Error && error.name === 'ZodError') {
      const told = `${about} gave an answer that the protocol does not know: ${zodWords(error)}`;
      return { failure: mcpFailure('mcp_malformed', told, evidence()), lost: false };
    }
    this.retire();
    const isRefused = /ECONNREFUSED/.test(because(error));
    const told = `${about} cannot be spoken to${because(error)}`;
    return { failure: mcpFailure('mcp_died', told, evidence()), lost: isRefused };
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

  async #list(signal: AbortSignal): Promise<McpTool[]> {
    const tools: McpTool[] = [];
    for (let cursor: string | undefined; ; ) {
      const request = { method: 'tools/list' as const, params: cursor === undefined ? {} : { cursor } };
      const page = await cancellable(signal, (options) =>
        this.client.request(request, this.types.ListToolsResultSchema, options),
      );
      for (const { name, title, description, inputSchema, outputSchema, annotations } of page.tools)
        tools.push({
          name,
          inputSchema: inputSchema as JsonObject,
          ...(title === undefined ? {} : { title }),
          ...(description === undefined ? {} : { description }),
          ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as JsonObject }),
          ...(annotations === undefined ? {} : { annotations: annotations as JsonObject }),
        });
      cursor = page.nextCursor;
      if (cursor === undefined) return tools;
      // An empty page that leads to another leads nowhere.
      if (tools.length > MOST_TOOLS || page.tools.length === 0)
        throw new Error(`its list of tools has no end: more than ${tools.length}`);
    }
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

  async #lostBy(error: unknown): Promise<Lost | undefined> {
    if (error instanceof Lost) return error;
    const { code, data } = error as { code?: unknown; data?: unknown };
    if (code === LOST && data instanceof Lost) return data;
    return this.isOver && code === this.types.ErrorCode.ConnectionClosed ? this.connection.fate() : undefined;
  }

  async #whyNotStarted(error: unknown): Promise<string> {
    const lost = await this.#lostBy(error);
    if (lost !== undefined) return `${lost.message} before it was ready`;
    return `cannot be used${because(error)}`;
  }

  #refused(error: Error, evidence: () => Record<string, unknown> | undefined) {
    const { code } = error as { code?: number };
    // The session is unknown to it, as after a restart.
    const lost = code === 400 || code === 404;
    if (lost) this.retire();
    const told = `the MCP server ${this.server} refused the request: ${error.message.slice(0, 500)}`;
    return { failure: mcpFailure('mcp_error', told, { ...evidence(), code }), lost };
  }
}

function zodWords(error: Error): string {
  const [issue] = (error as Error & { issues?: { path: PropertyKey[]; message: string }[] }).issues ?? [];
  return issue === undefined
    ? 'it has another form'
    : `${issue.path.map(String).join('.')}: ${issue.message}`;
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
