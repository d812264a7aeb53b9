import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { allows, type Tokens } from '../app/tokens.js';
import { sha256 } from '../core/digest.js';
import type { Caller, Operation } from './operation.js';
import { HttpProblem } from './problems.js';

const MINUTE_MS = 60_000;
/** Tokens that were valid lately. */
const KNOWN = 10_000;

const challenge = (error?: string) => ({
  'www-authenticate': `Bearer realm="sluice"${error === undefined ? '' : `, error="${error}"`}`,
});

function tooMany(ttlMs: number): HttpProblem {
  const seconds = Math.max(1, Math.ceil(ttlMs / 1000));
  return new HttpProblem('RATE_LIMITED', `Too many requests; the next is taken in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  });
}

/** The token that a request brings; undefined: none. Throws UNAUTHORIZED for another scheme. */
function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const value = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(header)?.[1];
  if (value !== undefined) return value;
  throw new HttpProblem('UNAUTHORIZED', 'The Authorization header must be `Bearer TOKEN`.', {
    headers: challenge('invalid_request'),
  });
}

export interface Gate {
  /** Who asks. Throws UNAUTHORIZED, FORBIDDEN or RATE_LIMITED. */
  admit(operation: Operation, request: FastifyRequest): Promise<Caller>;
}

/**
 * Lets requests in: by token, so many a minute. An address that brings no valid token has a limit of its own,
 * which is asked before a token is looked up: guessing is slow, and costs Redis nothing. A token that was
 * valid lately is looked up all the same, so that its owner does not suffer from a neighbour who guesses.
 */
export function createGate(app: FastifyInstance, tokens: Tokens, rate: number): Gate {
  const known = new LRUCache<string, true>({ max: KNOWN });
  const limits = { max: rate, timeWindow: MINUTE_MS };
  const ofAddress = app.createRateLimit(limits);
  const names = new WeakMap<FastifyRequest, string>();
  const ofToken = app.createRateLimit({
    ...limits,
    keyGenerator: (request: FastifyRequest) => `token:${names.get(request)}`,
  });
  const count = async (limit: typeof ofAddress, request: FastifyRequest, increment = true) => {
    const state = await limit(request, { increment });
    if (!state.isAllowed && (state.isExceeded || (!increment && state.remaining <= 0)))
      throw tooMany(state.ttl);
  };
  return {
    async admit({ role }, request) {
      const value = bearerOf(role === null ? undefined : request.headers.authorization);
      if (role === null || value === undefined) {
        await count(ofAddress, request);
        if (role === null) return { name: '', role: 'read' };
        const headers = challenge();
        throw new HttpProblem('UNAUTHORIZED', 'This needs a token: `Authorization: Bearer TOKEN`.', {
          headers,
        });
      }
      const digest = sha256(value);
      if (!known.has(digest)) await count(ofAddress, request, false);
      const token = await tokens.find(value);
      if (token === undefined) {
        known.delete(digest);
        await count(ofAddress, request);
        const headers = challenge('invalid_token');
        throw new HttpProblem('UNAUTHORIZED', 'The token is not known, or it has ended.', { headers });
      }
      known.set(digest, true);
      names.set(request, token.name);
      await count(ofToken, request);
      if (allows(token.role, role)) return { name: token.name, role: token.role };
      const message = `This needs a token with the role ${role}; ${token.name} has ${token.role}.`;
      throw new HttpProblem('FORBIDDEN', message, { headers: challenge('insufficient_scope') });
    },
  };
}
