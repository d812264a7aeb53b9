import type { LivingRole, RoleName, Roster } from '../../ports/store.js';
import type { RedisContext } from './context.js';

const FORGOTTEN_MS = 3_600_000;

/** Heartbeats in a sorted set by time. */
export class RedisRoster implements Roster {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  get #key(): string {
    return `${this.#context.prefix}roles`;
  }

  async beat(role: RoleName, id: string, now: number): Promise<void> {
    const { client } = this.#context;
    await client.zadd(this.#key, now, `${role}/${id}`);
    await client.zremrangebyscore(this.#key, '-inf', now - FORGOTTEN_MS);
  }

  async leave(role: RoleName, id: string): Promise<void> {
    await this.#context.client.zrem(this.#key, `${role}/${id}`);
  }

  async alive(since: number): Promise<LivingRole[]> {
    const members = await this.#context.client.zrangebyscore(this.#key, since, '+inf');
    return members.map((member) => {
      const at = member.indexOf('/');
      return { role: member.slice(0, at) as RoleName, id: member.slice(at + 1), serves: [] };
    });
  }
}
