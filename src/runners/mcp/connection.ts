import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ReadOnly } from '../../core/result.js';

/** Largest message of a server, in bytes. */
export const MOST_MESSAGE = 16 * 1024 * 1024;

/** Error code of a call whose answer cannot come any more; its data is `Lost`. */
export const LOST = -32099;

/** Why a call’s answer cannot come any more. */
export class Lost extends Error {
  constructor(
    readonly reason: 'mcp_died' | 'mcp_too_large' | 'mcp_malformed',
    message: string,
  ) {
    super(message);
  }
}

/** A way to a server that stands, and what is known of it besides its messages. */
export interface Connection {
  readonly transport: Transport;
  readonly readOnly: ReadOnly;
  /** Why a start over it fails: `mcp_not_started`, `mcp_unreachable`. */
  readonly startReason: string;
  /** A text of the server without the secrets that it was given; to be used before a text is cut. */
  hide(text: string): string;
  /** Tail of what the server wrote for people, without its secrets; empty where it is not known. */
  evidence(): string;
  /** Why it is over, in words that follow the server’s name; waits up to a second to learn it. */
  fate(): Promise<Lost>;
  /**
   * HTTP status by which the server refused a request, at most 0 where it is none; undefined for an
   * error of another kind.
   */
  statusOf(error: unknown): number | undefined;
  /** Ends it and the server behind it; never rejects. */
  stop(): Promise<void>;
}

/** How many lines or messages of a server meant nothing, and the first of them. */
export class Noise {
  count = 0;
  first = '';
  /** Takes the server’s secrets out of a text. */
  hide = (text: string): string => text;

  add(text: string): void {
    if (this.count === 0) this.first = this.hide(text).slice(0, 200);
    this.count += 1;
  }
}
