import { ClientError, errorOf } from './error.js';

export interface ClientOptions {
  /** Where the API is, such as https://sluice.example.com; a path may stand before /v1. */
  url: string;
  /** Bearer token, as `sluice token add` prints it. */
  token: string;
  /** Default: that of Node.js. */
  fetch?: typeof fetch;
  /** How often a call is tried again that found no server, a busy one or too many requests. Default 5. */
  retries?: number;
  /** Milliseconds that one try of a call may take; uploads and streams are not bound by it. Default 60,000. */
  timeout?: number;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, and the wait between two tries. */
  signal?: AbortSignal | undefined;
}

/** What a call that changes something takes. */
export interface ChangeOptions extends CallOptions {
  /**
   * The same key of the same token is the same request, however often it is made. Default: a new one,
   * which is kept over the tries of this call.
   */
  idempotencyKey?: string | undefined;
}

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  query?: Query | undefined;
  json?: unknown;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

const DEFAULT_RETRIES = 5;
const DEFAULT_TIMEOUT_MS = 60_000;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 10_000;
/** Longest wait that a server may ask for. */
const LONGEST_ASKED_MS = 60_000;

/** Answers after which the same request may be made again. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Waits; throws what the signal says when it is aborted meanwhile. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Milliseconds before the n-th try after the first, from 1: growing, and never the same for two clients. */
export function waitBefore(nth: number, response?: Response): number {
  const asked = retryAfterMs(response?.headers.get('retry-after') ?? null);
  const own = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (nth - 1)) * (0.5 + Math.random() / 2);
  return Math.max(own, Math.min(LONGEST_ASKED_MS, asked));
}

function retryAfterMs(header: string | null): number {
  if (header === null) return 0;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

/** A segment of a path. */
export const segment = (text: string): string => encodeURIComponent(text);

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}

/** Makes requests, and makes them again where that may help. */
export class Transport {
  readonly retries: number;
  readonly #base: string;
  readonly #token: string;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;

  constructor({ url, token, fetch: own, retries, timeout }: ClientOptions) {
    this.#base = new URL(url).href.replace(/\/$/, '');
    this.#token = token;
    this.#fetch = own ?? fetch;
    this.retries = retries ?? DEFAULT_RETRIES;
    this.#timeoutMs = timeout ?? DEFAULT_TIMEOUT_MS;
  }

  /** Asks for something. */
  read<T>(path: string, query: Query | undefined, options: CallOptions = {}): Promise<T> {
    return this.json({ method: 'GET', path, query, signal: options.signal });
  }

  /** Changes something, once. */
  change<T>(
    method: 'POST' | 'PUT',
    path: string,
    json: unknown,
    { signal, idempotencyKey = crypto.randomUUID() }: ChangeOptions = {},
  ): Promise<T> {
    return this.json({ method, path, json, signal, headers: { 'idempotency-key': idempotencyKey } });
  }

  /** Removes something; `onRetry` is called before it is asked for again. */
  remove<T>(path: string, onRetry: () => void, { signal }: CallOptions = {}): Promise<T> {
    return this.json({ method: 'DELETE', path, signal }, onRetry);
  }

  /** The JSON of the answer; undefined where it has no body. Throws ClientError. */
  async json<T>(request: Request, onRetry?: () => void): Promise<T> {
    const { signal } = request;
    return this.trying(signal, async (nth) => {
      if (nth > 0) onRetry?.();
      const timeout = AbortSignal.timeout(this.#timeoutMs);
      const both = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
      const headers: Record<string, string> = { accept: 'application/json' };
      if (request.json !== undefined) headers['content-type'] = 'application/json';
      const response = await this.send(request, {
        headers,
        signal: both,
        ...(request.json === undefined ? {} : { body: JSON.stringify(request.json) }),
      });
      if (!response.ok) return response;
      const text = await response.text();
      return { value: parsed(text, response.status) as T };
    });
  }

  /**
   * Tries until there is a value, the answer is one that stays, all tries are used up, or `isOver` says
   * that trying is of no use. Throws ClientError, or what the signal says.
   */
  async trying<T>(
    signal: AbortSignal | undefined,
    attempt: (nth: number) => Promise<Response | { value: T }>,
    retries = this.retries,
    isOver: () => boolean = () => false,
  ): Promise<T> {
    for (let nth = 0; ; nth += 1) {
      let failed: Response | ClientError;
      try {
        const found = await attempt(nth);
        if (!(found instanceof Response)) return found.value;
        failed = found;
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof ClientError && error.code !== 'NETWORK') throw error;
        const message = `No answer from ${this.#base}: ${reasonOf(error)}`;
        failed =
          error instanceof ClientError ? error : new ClientError(message, { code: 'NETWORK', cause: error });
      }
      const isPassing = failed instanceof ClientError || PASSING.has(failed.status);
      if (!isPassing || nth >= retries || isOver())
        throw failed instanceof ClientError ? failed : await errorOf(failed);
      const response = failed instanceof ClientError ? undefined : failed;
      await response?.body?.cancel().catch(() => {});
      await pause(waitBefore(nth + 1, response), signal);
    }
  }

  /** One request, whatever comes of it. */
  send({ method, path, query, headers }: Request, init: RequestInit): Promise<Response> {
    const url = new URL(this.#base + path);
    for (const [key, value] of Object.entries(query ?? {})) {
      if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
      url.searchParams.set(key, Array.isArray(value) ? value.join(',') : String(value));
    }
    const all = {
      authorization: `Bearer ${this.#token}`,
      ...(init.headers as Record<string, string> | undefined),
      ...headers,
    };
    // A token goes to this server alone.
    return this.#fetch(url, { ...init, method, headers: all, redirect: 'manual' });
  }
}

function parsed(text: string, status: number): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ClientError('The answer is no JSON; is this the address of a Sluice server?', {
      code: 'BAD_ANSWER',
      status,
      cause,
    });
  }
}
