import { unwrap } from '../../core/pipeline.js';
import type { Need } from '../../core/registry/needs.js';
import type { LivingRole, RoleName, Roster } from '../../ports/store.js';
import type { RedisContext } from './context.js';

const FORGOTTEN_MS = 3_600_000;

/** Heartbeats in a sorted set by time, and beside it what each serves. */
export class RedisRoster implements Roster {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  get #key(): string {
    return `${this.#context.prefix}roles`;
  }

  async beat(role: RoleName, id: string, now: number, serves: readonly Need[] = []): Promise<void> {
    const { scripts, prefix } = this.#context;
    await scripts.beat(prefix, `${role}/${id}`, now, JSON.stringify(serves), now - FORGOTTEN_MS);
  }

  async leave(role: RoleName, id: string): Promise<void> {
    const member = `${role}/${id}`;
    const leaving = this.#context.client.multi().zrem(this.#key, member).hdel(`${this.#key}:serves`, member);
    unwrap(await leaving.exec());
  }

  async alive(since: number): Promise<LivingRole[]> {
    const { client } = this.#context;
    const members = await client.zrangebyscore(this.#key, since, '+inf');
    if (members.length === 0) return [];
    const serves = await client.hmget(`${this.#key}:serves`, ...members);
    return members.map((member, i) => {
      const at = member.indexOf('/');
      const role = member.slice(0, at) as RoleName;
      return { role, id: member.slice(at + 1), serves: needsIn(serves[i]) };
    });
  }
}

/** Another version may have written it: what cannot be read serves nothing. */
function needsIn(json: string | null | undefined): Need[] {
  if (!json) return [];
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value.filter((need) => typeof need === 'string') : [];
  } catch {
    return [];
  }
}
