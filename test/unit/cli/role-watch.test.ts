import { describe, expect, it } from 'vitest';
import { GIVE_UP_AFTER_MS, RoleWatch, WARN_AFTER_MS } from '../../../src/cli/role-watch.js';
import type { RoleName } from '../../../src/ports/store.js';

const roles = (...names: RoleName[]) => new Set(names);

describe('RoleWatch', () => {
  it('is content while worker and aggregator are alive, however long nothing is decided', () => {
    const watch = new RoleWatch();
    for (const now of [0, 100_000, 1_000_000])
      expect(watch.see(now, roles('worker', 'aggregator'), 0)).toEqual({ kind: 'fine' });
  });

  it('warns once, then gives up, naming what is missing', () => {
    const watch = new RoleWatch();
    const see = (now: number) => watch.see(now, roles('worker', 'sweeper'), 0);
    expect(see(0)).toEqual({ kind: 'fine' });
    expect(see(WARN_AFTER_MS - 1)).toEqual({ kind: 'fine' });
    expect(see(WARN_AFTER_MS)).toEqual({ kind: 'warn', missing: ['aggregator'] });
    expect(see(WARN_AFTER_MS + 1)).toEqual({ kind: 'fine' });
    expect(see(GIVE_UP_AFTER_MS)).toEqual({ kind: 'give-up', missing: ['aggregator'] });
  });

  it('starts anew when something was decided', () => {
    const watch = new RoleWatch();
    watch.see(0, roles(), 0);
    watch.see(GIVE_UP_AFTER_MS - 1, roles(), 5);
    expect(watch.see(GIVE_UP_AFTER_MS, roles(), 5)).toEqual({ kind: 'fine' });
    expect(watch.see(2 * GIVE_UP_AFTER_MS - 1, roles(), 5)).toEqual({
      kind: 'give-up',
      missing: ['worker', 'aggregator'],
    });
  });

  it('starts anew when the role comes back', () => {
    const watch = new RoleWatch();
    watch.see(0, roles('worker'), 0);
    watch.see(GIVE_UP_AFTER_MS - 1, roles('worker', 'aggregator'), 0);
    expect(watch.see(GIVE_UP_AFTER_MS, roles('worker'), 0)).toEqual({ kind: 'fine' });
  });
});
