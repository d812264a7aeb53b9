import { randomBytes } from 'node:crypto';
import { sha256 } from '../core/digest.js';
import { nearestName, SluiceError, show } from '../core/problem.js';
import type { Clock } from '../ports/clock.js';
import { type ApiToken, ROLES, type TokenRole, type TokenStore } from '../ports/tokens.js';

export interface TokensDeps {
  tokens: TokenStore;
  clock: Clock;
}

/** A token as requests carry it: `slu_` and 32 random bytes in base64url. */
const TOKEN = /^slu_[A-Za-z0-9_-]{43}$/;
/** It stands in decisions and events as the actor, and in URNs of requests. */
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._@-]{0,127}$/;
const GRAMMAR = 'a letter or digit, then letters, digits, ., _, @ or -; 128 at most';

/**
 * What is kept of a token. 256 random bits cannot be guessed from their digest, so that a slow hash, which
 * makes up for weak passwords, would only make every request slow.
 */
const digestOf = (value: string): string => sha256(value);

/** Whether a role includes another: each includes those before it. */
export function allows(has: TokenRole, needed: TokenRole): boolean {
  return ROLES.indexOf(has) >= ROLES.indexOf(needed);
}

/** Tokens of the HTTP API: made, listed, removed, and looked up when a request brings one. */
export class Tokens {
  readonly #deps: TokensDeps;

  constructor(deps: TokensDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a token; `value` is told this once and kept nowhere. `lifetimeMs` undefined: it does not end.
   * Throws USAGE when the name is none, or taken.
   */
  async add(name: string, role: TokenRole, lifetimeMs?: number): Promise<{ token: ApiToken; value: string }> {
    if (!NAME.test(name)) {
      const problem = { path: 'NAME', message: `expected ${GRAMMAR}`, found: show(name) };
      throw new SluiceError('USAGE', 'A token cannot have this name.', [problem]);
    }
    const value = `slu_${randomBytes(32).toString('base64url')}`;
    const createdAt = this.#deps.clock.now();
    const expiresAt = lifetimeMs === undefined ? null : createdAt + lifetimeMs;
    const token = { name, role, sha256: digestOf(value), createdAt, expiresAt };
    if (!(await this.#deps.tokens.add(token)))
      throw new SluiceError(
        'USAGE',
        `There is a token ${name} already; remove it first, or take another name.`,
      );
    return { token, value };
  }

  list(): Promise<ApiToken[]> {
    return this.#deps.tokens.list();
  }

  /** Ends a token at once. Throws NOT_FOUND when there is none of this name. */
  async remove(name: string): Promise<void> {
    if (await this.#deps.tokens.remove(name)) return;
    const nearest = nearestName(
      name,
      (await this.list()).map((token) => token.name),
    );
    const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    throw new SluiceError('NOT_FOUND', `There is no token ${show(name)}${meant}`);
  }

  /** The token of this value, while it lasts. */
  async find(value: string): Promise<ApiToken | undefined> {
    if (!TOKEN.test(value)) return undefined;
    const token = await this.#deps.tokens.find(digestOf(value));
    if (token === undefined) return undefined;
    return token.expiresAt !== null && token.expiresAt <= this.#deps.clock.now() ? undefined : token;
  }
}
