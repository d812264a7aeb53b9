import { failure } from '../../core/failure.js';
import { rawOutput } from '../../core/settle.js';
import type { RunFailure } from '../../core/validators/validator.js';
import { type Connection, LOST, Lost, type Noise } from './connection.js';
import { because } from './http.js';
import type { Types } from './requests.js';

/** Why a request failed, and what that says of its session. */
export interface Trouble {
  failure: RunFailure;
  /** The session takes no more calls. */
  isInDoubt: boolean;
  /** The server did not take the request, and may over another session. */
  isUntaken: boolean;
}

/** What is known of the session of a request that failed. */
interface About {
  server: string;
  connection: Connection;
  types: Types;
  isOver: boolean;
  evidence: Record<string, unknown> | undefined;
}

/** What the server wrote for people, and what of its output meant nothing. */
export function evidenceOf(stderr: string, { count, first }: Noise): Record<string, unknown> | undefined {
  const raw = stderr === '' ? {} : { raw_output: rawOutput(stderr) };
  const noise = count === 0 ? {} : { not_understood: { messages: count, first: rawOutput(first) } };
  return stderr === '' && count === 0 ? undefined : { ...raw, ...noise };
}

/** A connection that is over tells why itself. */
async function lostBy(
  error: unknown,
  { connection, types, isOver }: Pick<About, 'connection' | 'types' | 'isOver'>,
): Promise<Lost | undefined> {
  if (error instanceof Lost) return error;
  const { code, data } = error as { code?: unknown; data?: unknown };
  if (code === LOST && data instanceof Lost) return data;
  return isOver && code === types.ErrorCode.ConnectionClosed ? connection.fate() : undefined;
}

/** Why a session could not be begun, in words that follow the server’s name. */
export async function whyNotStarted(
  error: unknown,
  about: Pick<About, 'connection' | 'types' | 'isOver'>,
): Promise<string> {
  const lost = await lostBy(error, about);
  return lost === undefined ? `cannot be used${because(error)}` : `${lost.message} before it was ready`;
}

/** Why a request failed, as a failure of the call. */
export async function troubleOf(error: unknown, about: About): Promise<Trouble> {
  const { server, connection, types, evidence } = about;
  const told = (reason: string, message: string, data = evidence) =>
    failure(reason, `the MCP server ${server} ${message}`, data);
  const lost = await lostBy(error, about);
  if (lost !== undefined) {
    const when = lost.reason === 'mcp_died' ? ' during the call' : '';
    return { failure: told(lost.reason, lost.message + when), isInDoubt: true, isUntaken: false };
  }
  const { code, message } = error as { code?: unknown; message: string };
  if (error instanceof types.McpError) {
    const text = message.replace(/^MCP error -?\d+: /, '');
    const words = `answered with error ${code}: ${text}`;
    return {
      failure: told('mcp_error', words, { ...evidence, code }),
      isInDoubt: false,
      isUntaken: false,
    };
  }
  const status = connection.statusOf(error);
  if (status !== undefined && status > 0) {
    // The session is unknown to it, as after a restart.
    const isUntaken = status === 400 || status === 404;
    const words = `refused the request with HTTP status ${status}: ${connection.hide(message).slice(0, 500)}`;
    return { failure: told('mcp_error', words, { ...evidence, status }), isInDoubt: isUntaken, isUntaken };
  }
  const what = status === undefined ? malformation(error) : message;
  if (what !== undefined) {
    const words = `gave an answer that the protocol does not know: ${what}`;
    return { failure: told('mcp_malformed', words), isInDoubt: false, isUntaken: false };
  }
  const why = because(error);
  return {
    failure: told('mcp_died', `cannot be spoken to${why}`),
    isInDoubt: true,
    isUntaken: why.includes('ECONNREFUSED'),
  };
}

/** What is wrong with an answer, where that is why the request failed. */
function malformation(error: unknown): string | undefined {
  if (error instanceof SyntaxError) return error.message;
  if (!(error instanceof Error && 'issues' in error)) return undefined;
  const [issue] = error.issues as { path: PropertyKey[]; message: string }[];
  return issue === undefined ? error.message : `${issue.path.map(String).join('.')}: ${issue.message}`;
}
