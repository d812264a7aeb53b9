import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { ErrorCode } from '../core/problem.js';
import type { TokenRole } from '../ports/tokens.js';

/** One answer that an operation may give. */
export interface ResponseSpec {
  description: string;
  /** Of the body; absent: no body, or text of `contentType`. */
  schema?: z.ZodType;
  /** Default application/json. */
  contentType?: string;
  /** Other content types that it may have, as text. */
  also?: readonly string[];
  /** Headers that it carries, with what they say. */
  headers?: Record<string, string>;
}

/** Who asks. */
export interface Caller {
  /** Name of the token: the actor of what is asked for. */
  name: string;
  role: TokenRole;
}

/** A request that is valid by the operation's schemas. */
export interface Call<P = unknown, Q = unknown, B = unknown> {
  params: P;
  query: Q;
  body: B;
  caller: Caller;
  /** Idempotency-Key of the request: 1 to 255 visible characters. */
  idempotencyKey: string | undefined;
  /** Aborted when the client hangs up or the server drains. */
  signal: AbortSignal;
  /** For streams and uploads alone. */
  request: FastifyRequest;
  reply: FastifyReply;
}

/** What an operation answers; `body` undefined: no body. A stream takes `reply` over and answers `'sent'`. */
export type Answer = { status: number; body?: unknown; headers?: Record<string, string> } | 'sent';

/**
 * One operation of the API: routes, validation, authorisation, OpenAPI and the generated requests of the
 * tests all come from it. Failures are thrown as SluiceError and become problem+json.
 */
export interface Operation<P = unknown, Q = unknown, B = unknown> {
  /** operationId, in camelCase: also the name of the client's method. */
  id: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** As OpenAPI writes it: `/v1/plans/{plan}`. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** Least role; null: everybody, without a token. */
  role: TokenRole | null;
  params?: z.ZodType<P>;
  query?: z.ZodType<Q>;
  /** `raw`: not read before `run`, which takes it from `request.raw`; the schema is of one line or event. */
  body?: {
    schema: z.ZodType<B>;
    contentTypes?: readonly string[];
    raw?: true;
    /** Takes what time it needs, and has limits of its own. */
    long?: true;
    description?: string;
  };
  /** Takes Idempotency-Key. */
  idempotent?: true;
  responses: Record<number, ResponseSpec>;
  /** Codes of the problems that it may answer with, besides those that every operation may. */
  problems?: readonly ErrorCode[];
  /** A request that is answered as documented, for OpenAPI and the tests. */
  example?: { params?: Record<string, string>; query?: Record<string, string>; body?: unknown };
  run(call: Call<P, Q, B>): Promise<Answer>;
}

/** Whether it may answer with a stream that does not end by itself. */
export const isStream = ({ responses }: Pick<Operation, 'responses'>): boolean =>
  Object.values(responses).some(({ contentType, also = [] }) =>
    [contentType, ...also].includes('text/event-stream'),
  );

/** Keeps the types within one definition and out of the list of operations. */
export const operation = <P, Q, B>(one: Operation<P, Q, B>): Operation => one as unknown as Operation;
