import type { ApiToken, TokenStore } from '../../ports/tokens.js';

/** Tokens in memory. */
export class MemoryTokens implements TokenStore {
  readonly #tokens = new Map<string, ApiToken>();

  async add(token: ApiToken): Promise<boolean> {
    if (this.#tokens.has(token.name)) return false;
    this.#tokens.set(token.name, { ...token });
    return true;
  }

  async find(sha256: string): Promise<ApiToken | undefined> {
    const found = [...this.#tokens.values()].find((token) => token.sha256 === sha256);
    return found && { ...found };
  }

  async list(): Promise<ApiToken[]> {
    const tokens = [...this.#tokens.values()].map((token) => ({ ...token }));
    return tokens.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async remove(name: string): Promise<boolean> {
    return this.#tokens.delete(name);
  }
}
