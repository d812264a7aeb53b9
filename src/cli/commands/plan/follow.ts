import { DEAD_AFTER_MS } from '../../../../workers/lifecycle.js';
import type { Engine } from '../../../compose.js';
import type { PlanState } from '../../../core/plan/model.js';
import { SluiceError } from '../../../core/problem.js';
import type { RoleName } from '../../../ports/store.js';
import { say } from '../../output.js';
import { GIVE_UP_AFTER_MS, RoleWatch } from '../../role-watch.js';

const PAGE = 200;
/** Longest read that waits for an event; between reads it is seen who is alive. */
const READ_MS = 1000;
/** Milliseconds between looks at who is alive. */
const LOOK_EVERY_MS = 1000;

type Watched = Pick<Engine, 'store' | 'clock'>;

async function alive({ store, clock }: Watched): Promise<Set<RoleName>> {
  const roles = await store.roster.alive(clock.now() - DEAD_AFTER_MS);
  return new Set(roles.map(({ role }) => role));
}

/** Roles without which nothing is judged and that nobody plays now. */
export async function missingRoles(engine: Watched): Promise<RoleName[]> {
  const roles = await alive(engine);
  return (['worker', 'aggregator'] as const).filter((role) => !roles.has(role));
}

/** A teller of roles that stay away; throws NO_WORKERS when they do for a minute. */
function roleTeller(engine: Watched, plan: string): (progress: number) => Promise<void> {
  const watch = new RoleWatch();
  let lookedAt = 0;
  return async (progress) => {
    const now = engine.clock.now();
    if (now - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = now;
    const answer = watch.see(now, await alive(engine), progress);
    if (answer.kind === 'fine') return;
    const missing = answer.missing.join(' and ');
    if (answer.kind === 'warn') {
      say(`sluice: waiting for a live ${missing}; sluice up starts them`);
      return;
    }
    const seconds = GIVE_UP_AFTER_MS / 1000;
    const message = `For ${seconds} s there was no live ${missing}. Plan ${plan} waits for them: sluice up starts them.`;
    throw new SluiceError('NO_WORKERS', message);
  };
}

async function untilLeft(
  engine: Watched,
  plan: string,
  since: string,
  stopped: () => boolean,
): Promise<PlanState | undefined> {
  const { plans, outbox } = engine.store;
  const look = roleTeller(engine, plan);
  let cursor = since;
  for (;;) {
    const state = await plans.plan(plan);
    if (state === undefined) throw new SluiceError('NOT_FOUND', `Plan ${plan} is gone.`);
    if (state.phase !== 'validate') return state;
    if (stopped()) return undefined;
    await look(state.revision);
    const entries = await outbox.events(cursor, PAGE, READ_MS);
    cursor = entries.at(-1)?.position ?? cursor;
  }
}

/**
 * Follows a plan until it is no longer being judged; undefined when `waitMs` is over before.
 * `since`: the outbox position from which to hear of it. Throws NO_WORKERS, INTERRUPTED.
 */
export async function followPlan(
  engine: Watched,
  plan: string,
  since: string,
  waitMs: number | undefined,
  signal: AbortSignal,
): Promise<PlanState | undefined> {
  const over = new AbortController();
  const timer = waitMs === undefined ? undefined : setTimeout(() => over.abort(), waitMs);
  const either = AbortSignal.any([signal, over.signal]);
  const left = untilLeft(engine, plan, since, () => either.aborted);
  // The read that waits may never come back, when Redis is away: what ends first, counts.
  left.catch(() => {});
  const ended = new Promise<undefined>((resolve) => {
    either.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  try {
    const state = await Promise.race([left, ended]);
    if (state === undefined && signal.aborted)
      throw new SluiceError(
        'INTERRUPTED',
        `Plan ${plan} goes on without this command: sluice plan status ${plan}`,
      );
    return state;
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
