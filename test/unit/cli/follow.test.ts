import { afterEach, describe, expect, it, vi } from 'vitest';
import { configSchema } from '../../../config/schema.js';
import { type Following, followPlan } from '../../../src/cli/commands/plan/follow.js';
import type { Phase } from '../../../src/core/plan/model.js';
import type { RoleName, UnservedChunk } from '../../../src/ports/store.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const ALL: RoleName[] = ['worker', 'aggregator'];

/** A fleet of which the plan is in these phases, one for each look; the last one stays. */
function fleet(phases: Phase[], roles: RoleName[] = ALL, answers = true, marks: UnservedChunk[] = []) {
  let now = 0;
  let looks = 0;
  const reads: [cursor: string, waitMs: number][] = [];
  const engine = {
    config: configSchema.parse({}),
    clock: { now: () => (now += 2000) },
    store: {
      roster: { alive: async () => roles.map((role) => ({ role, id: role })) },
      plans: {
        plan: async () => {
          const phase = phases[Math.min(looks++, phases.length - 1)];
          return { phase, revision: looks, awaits: { evaluation: 'e' } };
        },
      },
      unserved: { list: async () => marks },
      outbox: {
        events: (cursor: string, _count: number, waitMs: number) => {
          reads.push([cursor, waitMs]);
          if (!answers) return new Promise(() => {});
          // Time passes as it would in a read that waits.
          return new Promise((resolve) => setImmediate(() => resolve([{ position: `${reads.length}` }])));
        },
      },
    },
  } as unknown as Following['engine'];
  return { engine, reads };
}

const following = (engine: Following['engine'], more: Partial<Following> = {}): Following => ({
  engine,
  plan: 'P',
  since: '0',
  waitMs: undefined,
  signal: new AbortController().signal,
  lost: undefined,
  ...more,
});

describe('following a plan', () => {
  it('ends when it is no longer being judged, with reads that wait where the last one ended', async () => {
    const { engine, reads } = fleet(['validate', 'validate', 'fix']);
    expect(await followPlan(following(engine))).toMatchObject({ phase: 'fix' });
    expect(reads).toEqual([
      ['0', 1000],
      ['1', 1000],
    ]);
  });

  it('ends when its time is over', async () => {
    const { engine } = fleet(['validate']);
    expect(await followPlan(following(engine, { waitMs: 5 }))).toBeUndefined();
  });

  it('ends at once when it is interrupted, even while Redis says nothing', async () => {
    const { engine } = fleet(['validate'], ALL, false);
    const controller = new AbortController();
    const followed = followPlan(following(engine, { signal: controller.signal }));
    controller.abort();
    await expect(followed).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('ends when the private Redis has ended', async () => {
    const { engine } = fleet(['validate'], ALL, false);
    const followed = followPlan(following(engine, { lost: Promise.resolve() }));
    await expect(followed).rejects.toMatchObject({ code: 'REDIS_UNREACHABLE', exitCode: 3 });
  });

  it('ends when Redis has not answered for a minute', async () => {
    vi.useFakeTimers();
    const { engine } = fleet(['validate'], ALL, false);
    const followed = expect(followPlan(following(engine))).rejects.toMatchObject({
      code: 'REDIS_UNREACHABLE',
    });
    await vi.advanceTimersByTimeAsync(62_000);
    await followed;
  });

  it('ends when nobody has been there to judge it for a minute', async () => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const { engine } = fleet(['validate'], ['worker']);
    // Its revision must not move meanwhile: that would be progress.
    engine.store.plans.plan = async () => ({ phase: 'validate', revision: 1, awaits: null }) as never;
    const message = expect.stringContaining('no live aggregator');
    await expect(followPlan(following(engine))).rejects.toMatchObject({ code: 'NO_WORKERS', message });
  });

  it('says every minute for which runner it waits in vain', async () => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    // The clock is asked three times a look: 14 of them are a minute and a half.
    const phases: Phase[] = [...Array<Phase>(14).fill('validate'), 'fix'];
    const { engine } = fleet(phases, ALL, true, [{ chunk: 'e', needs: ['ansible'], since: 0 }]);
    await followPlan(following(engine));
    const told = said.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('waits for'));
    expect(told).toHaveLength(2);
    expect(told[0]).toContain('waits for ansible, which no living worker serves');
    expect(told[0]).toContain('sluice worker');
  });

  it('says when the plan is gone', async () => {
    const { engine } = fleet(['validate']);
    engine.store.plans.plan = async () => undefined;
    await expect(followPlan(following(engine))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
