import type { Need } from '../../core/registry/needs.js';
import type { LivingRole, RoleName, Roster } from '../../ports/store.js';

/** Heartbeats in memory. */
export class MemoryRoster implements Roster {
  readonly #beats = new Map<string, LivingRole & { at: number }>();

  async beat(role: RoleName, id: string, now: number, serves: readonly Need[] = []): Promise<void> {
    this.#beats.set(`${role}/${id}`, { role, id, at: now, serves: [...serves] });
  }

  async leave(role: RoleName, id: string): Promise<void> {
    this.#beats.delete(`${role}/${id}`);
  }

  async alive(since: number): Promise<LivingRole[]> {
    return [...this.#beats.values()]
      .filter(({ at }) => at >= since)
      .map(({ role, id, serves }) => ({ role, id, serves: [...serves] }));
  }
}
