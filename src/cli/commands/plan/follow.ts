import { livingRoles } from '../../../app/living.js';
import { unservedFor } from '../../../app/plan/status.js';
import type { Engine } from '../../../compose.js';
import type { PlanState } from '../../../core/plan/model.js';
import { SluiceError } from '../../../core/problem.js';
import type { RoleName } from '../../../ports/store.js';
import { say } from '../../output.js';
import { GIVE_UP_AFTER_MS, RoleWatch } from '../../role-watch.js';
import { SAY_EVERY_MS } from '../../unserved-watch.js';
import { unservedLines } from './words.js';

const PAGE = 200;
/** Longest read that waits for an event; between reads it is seen who is alive. */
const READ_MS = 1000;
/** Milliseconds between looks at who is alive. */
const LOOK_EVERY_MS = 1000;

type Watched = Pick<Engine, 'store' | 'clock' | 'config'>;

const alive = ({ store, clock }: Watched): Promise<Set<RoleName>> => livingRoles(store, clock);

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

/** A teller of runners that the plan waits for and nobody has: at once, and every minute. */
function unservedTeller({ store, clock, config }: Watched): (plan: PlanState) => Promise<void> {
  let lookedAt = 0;
  let saidAt = Number.NEGATIVE_INFINITY;
  return async (plan) => {
    const now = clock.now();
    if (now - lookedAt < LOOK_EVERY_MS || now - saidAt < SAY_EVERY_MS) return;
    lookedAt = now;
    const [waits, then] = unservedLines({ unserved: await unservedFor(store, plan) }, config);
    if (waits === undefined) return;
    saidAt = now;
    say(`sluice: plan ${plan.id} ${waits}; ${then}`);
  };
}

/** What is followed, and what ends it. */
export interface Following {
  engine: Watched;
  plan: string;
  /** Outbox position from which to hear of it. */
  since: string;
  /** Undefined: for as long as it takes. */
  waitMs: number | undefined;
  signal: AbortSignal;
  /** Resolves when the private Redis has ended for good. */
  lost: Promise<void> | undefined;
}

const goesOn = (plan: string) => `plan ${plan} goes on without this command: sluice plan status ${plan}`;

async function untilLeft(
  { engine, plan, since }: Following,
  isOver: () => boolean,
  onAnswer: () => void,
): Promise<PlanState | undefined> {
  const { plans, outbox } = engine.store;
  const look = roleTeller(engine, plan);
  const lookAtWaiting = unservedTeller(engine);
  let cursor = since;
  for (;;) {
    const state = await plans.plan(plan);
    if (state === undefined) throw new SluiceError('NOT_FOUND', `Plan ${plan} is gone.`);
    if (state.phase !== 'validate') return state;
    if (isOver()) return undefined;
    await look(state.revision);
    await lookAtWaiting(state);
    const entries = await outbox.events(cursor, PAGE, READ_MS);
    cursor = entries.at(-1)?.position ?? cursor;
    onAnswer();
  }
}

/** Rejects once Redis has been silent for too long: a read that waits does not end by itself. */
function silence(plan: string, over: AbortSignal): { heard(): void; ended: Promise<never> } {
  let heardAt = Date.now();
  const ended = new Promise<never>((_, reject) => {
    const timer = setInterval(() => {
      if (Date.now() - heardAt < GIVE_UP_AFTER_MS) return;
      const seconds = GIVE_UP_AFTER_MS / 1000;
      reject(
        new SluiceError('REDIS_UNREACHABLE', `Redis has not answered for ${seconds} s; ${goesOn(plan)}`),
      );
    }, LOOK_EVERY_MS);
    over.addEventListener('abort', () => clearInterval(timer), { once: true });
  });
  return {
    heard() {
      heardAt = Date.now();
    },
    ended,
  };
}

/**
 * Follows a plan until it is no longer being judged; undefined when the time is over before.
 * Throws NO_WORKERS, REDIS_UNREACHABLE or INTERRUPTED.
 */
export async function followPlan(following: Following): Promise<PlanState | undefined> {
  const { plan, waitMs, signal, lost } = following;
  const over = new AbortController();
  const timer = waitMs === undefined ? undefined : setTimeout(() => over.abort(), waitMs);
  const either = AbortSignal.any([signal, over.signal]);
  const { heard, ended } = silence(plan, over.signal);
  const left = untilLeft(following, () => either.aborted, heard);
  // Whichever of these comes second, or never, is nobody's concern.
  for (const each of [left, ended]) each.catch(() => {});
  const gone = lost?.then(() => {
    throw new SluiceError('REDIS_UNREACHABLE', `The private Redis of this folder has ended; ${goesOn(plan)}`);
  });
  gone?.catch(() => {});
  const stopped = new Promise<undefined>((resolve) => {
    if (either.aborted) resolve(undefined);
    either.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  try {
    const state = await Promise.race([left, stopped, ended, ...(gone === undefined ? [] : [gone])]);
    if (state === undefined && signal.aborted)
      throw new SluiceError('INTERRUPTED', `Interrupted; ${goesOn(plan)}`);
    return state;
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
