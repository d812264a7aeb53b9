import { ClientError, errorOf } from './error.js';
import { BlockReader } from './server-sent.js';
import { type CallOptions, pause, type Transport, waitBefore } from './transport.js';
import type { SluiceEvent } from './types.js';

/** Events that are kept no more: those behind `after`; it goes on at `from` (null: with what comes). */
export interface EventGap {
  after: string;
  from: string | null;
}

export interface EventOptions extends CallOptions {
  /** Names such as evaluation.failed, or plan.*; default: all. */
  type?: readonly string[];
  batch?: string;
  plan?: string;
  evaluation?: string;
  /** Where to begin; default now. */
  from?: 'now' | 'oldest';
  /** Position to go on behind, as `position` said it. */
  after?: string;
  /**
   * Hears that events may be missing, because they are kept no more; it goes on then. Default: the
   * iteration ends with a ClientError, EVENTS_GONE.
   */
  onGap?: (gap: EventGap) => void;
}

/** Events as they come; connects again by itself, and misses none. */
export interface EventStream extends AsyncIterable<SluiceEvent> {
  /**
   * Behind the event that was taken last, or the place that the server has looked through: `after` of
   * another stream goes on here. Undefined before the server has said where it is.
   */
  readonly position: string | undefined;
}

/** The server sends something every 15 seconds: a connection that is silent for longer is dead. */
const SILENCE_MS = 45_000;
const LONGEST_WAIT_NTH = 6;
/** Answers after which to go on trying; others stay as they are. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** What a function of the caller threw: no trouble of the connection. */
class Thrown {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

class Follower implements EventStream {
  position: string | undefined;
  readonly #transport: Transport;
  readonly #options: EventOptions;

  constructor(transport: Transport, options: EventOptions) {
    this.#transport = transport;
    this.#options = options;
    this.position = options.after;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SluiceEvent> {
    const { signal } = this.#options;
    const isEnded = () => signal?.aborted === true;
    let failures = 0;
    while (!isEnded()) {
      const connection = new AbortController();
      let refused: Response | undefined;
      try {
        const response = await this.#connect(connection);
        if (response.ok && response.body !== null) {
          for await (const event of this.#read(response.body, connection)) {
            failures = 0;
            yield event;
          }
        } else {
          if (!PASSING.has(response.status)) throw await errorOf(response);
          refused = response;
          await response.body?.cancel();
        }
      } catch (error) {
        if (error instanceof Thrown) throw error.error;
        if (error instanceof ClientError) throw error;
      } finally {
        connection.abort();
      }
      if (isEnded()) return;
      failures += 1;
      try {
        await pause(waitBefore(Math.min(failures, LONGEST_WAIT_NTH), refused), signal);
      } catch {
        return;
      }
    }
  }

  #connect(connection: AbortController): Promise<Response> {
    const { type, batch, plan, evaluation, from, signal } = this.#options;
    const place = this.position === undefined ? undefined : { 'last-event-id': this.position };
    const silence = setTimeout(() => connection.abort(), SILENCE_MS);
    const query = { type, batch, plan, evaluation, from, follow: true };
    return this.#transport
      .send(
        { method: 'GET', path: '/v1/events', query, headers: place },
        {
          headers: { accept: 'text/event-stream' },
          signal: signal === undefined ? connection.signal : AbortSignal.any([signal, connection.signal]),
        },
      )
      .finally(() => clearTimeout(silence));
  }

  async *#read(body: ReadableStream<Uint8Array>, connection: AbortController): AsyncGenerator<SluiceEvent> {
    const blocks = new BlockReader();
    const decoder = new TextDecoder();
    const reader = body.getReader();
    try {
      for (;;) {
        const silence = setTimeout(() => connection.abort(), SILENCE_MS);
        const { done, value } = await reader.read().finally(() => clearTimeout(silence));
        if (done) return;
        for (const { id, event, data } of blocks.push(decoder.decode(value, { stream: true }))) {
          if (event === 'sluice.gap' && data !== undefined) this.#tellGap(JSON.parse(data) as EventGap);
          else if (data !== undefined) {
            // Before the event is handed over: what asks for it meanwhile is answered with it taken.
            if (id !== undefined) this.position = id;
            yield JSON.parse(data) as SluiceEvent;
          } else if (id !== undefined) this.position = id;
        }
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  #tellGap(gap: EventGap): void {
    const { onGap } = this.#options;
    if (onGap !== undefined) {
      try {
        onGap(gap);
      } catch (error) {
        throw new Thrown(error);
      }
      return;
    }
    const goesOn = gap.from === null ? 'with what comes' : `at ${gap.from}`;
    const message = `Events behind ${gap.after} are kept no more; what follows begins ${goesOn}.`;
    throw new ClientError(message, { code: 'EVENTS_GONE', body: gap });
  }
}

/** Follows events. The wait between two connections grows while none comes about. */
export const followEvents = (transport: Transport, options: EventOptions = {}): EventStream =>
  new Follower(transport, options);
