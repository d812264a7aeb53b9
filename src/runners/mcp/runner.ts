import { failure } from '../../core/failure.js';
import { missingArguments } from '../../core/mcp/required.js';
import { toolOutput } from '../../core/mcp/result.js';
import { noSecrets, type Secrets } from '../../core/mcp/secrets.js';
import { findTool, type McpTool, notReadOnly } from '../../core/mcp/tool.js';
import { nearestName } from '../../core/problem.js';
import { mcpArguments } from '../../core/registry/mcp-arguments.js';
import { isValidation, type JsonObject } from '../../core/registry/model.js';
import type { ReadOnly } from '../../core/result.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { Ran, ToolOutput, ToolRun, ToolRunner } from '../../ports/runner.js';
import type { Processes } from '../process/request.js';
import { connectHttp } from './http.js';
import { McpPool } from './pool.js';
import type { McpSession } from './session.js';
import { type McpServerSettings, secretsOf } from './settings.js';
import { connectStdio } from './stdio.js';

export type { McpServerSettings } from './settings.js';

/** Largest structured return of a validation, in characters of JSON; a transform may be given more. */
const MOST_OF_A_RETURN = 2 ** 20;

/** The time that a call has, and what it has come to. */
class Limit {
  readonly #own = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal;
  readonly #abort = () => this.#own.abort(this.#outer.reason);
  stage = 'it was not ready, or its sessions were all busy';
  session: McpSession | undefined;

  constructor(ms: number, outer: AbortSignal) {
    this.#outer = outer;
    this.#timer = setTimeout(() => this.#own.abort(new Error('deadline')), ms);
    outer.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#abort);
  }
}

/** Calls tools of MCP servers, over sessions that it keeps (DESIGN 6; ADR 0016). */
export class McpRunner implements ToolRunner {
  readonly #servers: Readonly<Record<string, McpServerSettings>>;
  readonly #processes: Processes;
  readonly #env: NodeJS.ProcessEnv;
  readonly #pools = new Map<string, McpPool>();

  /** `env`: where `env_from` and `headers_from` take their values. Nothing is started before the first call. */
  constructor(
    servers: Readonly<Record<string, McpServerSettings>>,
    processes: Processes,
    env: NodeJS.ProcessEnv,
  ) {
    this.#servers = servers;
    this.#processes = processes;
    this.#env = env;
  }

  async run(call: ToolRun, signal: AbortSignal): Promise<Ran<ToolOutput>> {
    const { outcome, readOnly } = await this.#ran(call, signal);
    if (outcome.kind !== 'failure') return { outcome, readOnly };
    return { outcome: hidden(outcome, this.#secrets(call.document.mcp_server ?? '')), readOnly };
  }

  async #ran(call: ToolRun, signal: AbortSignal): Promise<Ran<ToolOutput>> {
    signal.throwIfAborted();
    const { mcp_server: server = '' } = call.document;
    const pool = this.#pool(server);
    if ('kind' in pool) return { outcome: pool, readOnly: 'declared' };
    const limit = new Limit(call.deadlineMs, signal);
    let readOnly: ReadOnly = 'declared';
    try {
      const outcome = await this.#tried(pool, limit.signal, (session) => {
        readOnly = session.readOnly;
        limit.session = session;
        return this.#call(session, call, limit);
      });
      return { outcome, readOnly };
    } catch (error) {
      signal.throwIfAborted();
      if (!limit.signal.aborted) throw error;
      const message = `the MCP server ${server} was not done within ${call.deadlineMs} ms: ${limit.stage}`;
      return { outcome: failure('deadline', message, limit.session?.evidence()), readOnly };
    } finally {
      limit.end();
    }
  }

  /** The tools that a server lists, for discovery and doctor. Throws only when `signal` is aborted. */
  async tools(server: string, signal: AbortSignal): Promise<McpTool[] | RunFailure> {
    signal.throwIfAborted();
    const pool = this.#pool(server);
    if ('kind' in pool) return pool;
    const tools = await this.#tried(pool, signal, (session) => session.tools(signal));
    const secrets = this.#secrets(server);
    return 'kind' in tools ? hidden(tools, secrets) : secrets.hideDeep(tools);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  #pool(server: string): McpPool | RunFailure {
    let pool = this.#pools.get(server);
    if (pool !== undefined) return pool;
    const settings = Object.hasOwn(this.#servers, server) ? this.#servers[server] : undefined;
    if (settings === undefined) return noSuchServer(server, Object.keys(this.#servers));
    pool = new McpPool(server, settings.sessions, (noise) =>
      'url' in settings
        ? connectHttp(server, settings, this.#env, noise)
        : connectStdio(server, settings, this.#processes, this.#env, noise),
    );
    this.#pools.set(server, pool);
    return pool;
  }

  #secrets(server: string): Secrets {
    const settings = Object.hasOwn(this.#servers, server) ? this.#servers[server] : undefined;
    return settings === undefined ? noSecrets : secretsOf(settings, this.#env);
  }

  /** A request that the server refused together with its session is made once more, over another one. */
  async #tried<T>(
    pool: McpPool,
    signal: AbortSignal,
    work: (session: McpSession) => Promise<T>,
  ): Promise<T | RunFailure> {
    for (let n = 1; ; n++) {
      const answer = await pool.use(signal, async (session) => {
        try {
          return { done: await work(session) };
        } catch (error) {
          signal.throwIfAborted();
          return session.troubleOf(error);
        }
      });
      if ('kind' in answer) return answer;
      if ('done' in answer) return answer.done;
      if (!answer.isUntaken || n === 2) return answer.failure;
    }
  }

  async #call(session: McpSession, call: ToolRun, limit: Limit): Promise<ToolOutput> {
    const { document } = call;
    const name = document.mcp_tool_name ?? '';
    limit.stage = 'it had not listed its tools';
    const tool = await this.#tool(session, name, limit.signal);
    if ('kind' in tool) return tool;
    const refusal = notReadOnly(document, tool);
    if (refusal !== undefined) return refusal;
    limit.stage = `its tool "${name}" had not answered`;
    const given: JsonObject = mcpArguments(document.arguments ?? {}, call);
    const missing = missingArguments(document, tool, given, call);
    if (missing !== undefined) return missing;
    const result = await session.call(name, given, limit.signal);
    const output = toolOutput(name, result, this.#secrets(session.server));
    return isValidation(document) && output.kind === 'value' ? ofBoundedSize(name, output) : output;
  }

  async #tool(session: McpSession, name: string, signal: AbortSignal): Promise<McpTool | RunFailure> {
    const found = findTool(session.server, await session.tools(signal), name);
    if (!('kind' in found) || !session.forgetOldTools()) return found;
    return findTool(session.server, await session.tools(signal), name);
  }
}

/** Whatever part of a failure quotes the server. */
function hidden(failure: RunFailure, { hide, hideDeep }: Secrets): RunFailure {
  const { message, data } = failure;
  return { ...failure, message: hide(message), ...(data === undefined ? {} : { data: hideDeep(data) }) };
}

function noSuchServer(server: string, names: readonly string[]): RunFailure {
  const nearest = nearestName(server, names);
  const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
  const message = `no MCP server "${server}" is configured; mcp_servers has: ${names.join(', ') || 'none'}${hint}`;
  return failure('mcp_no_such_server', message);
}

function ofBoundedSize(tool: string, output: { kind: 'value'; value: unknown }): ToolOutput {
  const { length } = JSON.stringify(output.value);
  if (length <= MOST_OF_A_RETURN) return output;
  const message = `the MCP tool "${tool}" returned ${length} characters of JSON; a validation returns at most ${MOST_OF_A_RETURN}`;
  return failure('mcp_too_large', message);
}
