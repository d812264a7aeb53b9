import { unwrap } from '../../core/pipeline.js';
import type { ApiToken, TokenStore } from '../../ports/tokens.js';
import type { RedisContext } from './context.js';

/** Tokens in Redis: a hash by digest, which is what requests ask for, and one from names to digests. */
export class RedisTokens implements TokenStore {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  get #key(): string {
    return `${this.#context.prefix}tokens`;
  }

  async add(token: ApiToken): Promise<boolean> {
    const { scripts, prefix } = this.#context;
    return (await scripts['add-token'](prefix, token.name, token.sha256, JSON.stringify(token))) === 1;
  }

  async find(sha256: string): Promise<ApiToken | undefined> {
    const json = await this.#context.client.hget(this.#key, sha256);
    return json === null ? undefined : (JSON.parse(json) as ApiToken);
  }

  async list(): Promise<ApiToken[]> {
    const found = await this.#context.client.hvals(this.#key);
    const tokens = found.map((json) => JSON.parse(json) as ApiToken);
    return tokens.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async remove(name: string): Promise<boolean> {
    const { client } = this.#context;
    const digest = await client.hget(`${this.#key}:names`, name);
    if (digest === null) return false;
    const removing = client.multi().hdel(`${this.#key}:names`, name).hdel(this.#key, digest);
    const [named] = unwrap(await removing.exec());
    return named === 1;
  }
}
