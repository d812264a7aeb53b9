import { type Load, measure, type Sample } from '../../core/autoscale/load.js';
import type { Backlog, QueueBacklog } from '../../ports/backlog.js';
import type { Clock } from '../../ports/clock.js';
import type { LivingRole, Roster } from '../../ports/store.js';
import { DEAD_AFTER_MS } from '../living.js';

/** Milliseconds without any movement after which jobs that were put off are taken for stuck, at the least. */
const LEAST_STUCK_MS = 60_000;
/** Milliseconds between two tries to have stuck jobs done from zero workers. */
const TRY_STUCK_EVERY_MS = 300_000;

const none = undefined as number | undefined;

const lesser = (a: number | undefined, b: number | undefined) =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b);
const greater = (a: number | undefined, b: number | undefined) =>
  a === undefined ? b : b === undefined ? a : Math.max(a, b);

/** Jobs that have ever left these queues. */
const leftOf = (queues: readonly QueueBacklog[]): number =>
  queues.reduce((sum, { added, waiting, active, delayed }) => sum + added - waiting - active - delayed, 0);

export interface ScaleLook {
  load: Load;
  /** Every living process of the fleet. */
  alive: LivingRole[];
}

/**
 * Looks at the load of a fleet from time to time. Checks of a runner that no worker here has are put off
 * again and again; where such jobs alone are left and none of them moves, they are no reason for workers,
 * but for one from time to time.
 */
export class ScaleWatch {
  readonly #deps: { backlog: Pick<Backlog, 'read'>; roster: Pick<Roster, 'alive'>; clock: Clock };
  readonly #idleMs: number;
  #load: Load | undefined;
  /** Of the runner queues: what was added and has left, when that changed, and when stuck jobs were last tried. */
  #runner = { added: -1, left: -1, movedAt: 0, triedAt: 0 };

  constructor(
    deps: { backlog: Pick<Backlog, 'read'>; roster: Pick<Roster, 'alive'>; clock: Clock },
    idleMs: number,
  ) {
    this.#deps = deps;
    this.#idleMs = idleMs;
  }

  /** `isOwn`: whether a worker of the roster is counted elsewhere; `own`: how many of these take jobs. */
  async look(isOwn: (id: string) => boolean = () => false, own = 0): Promise<ScaleLook> {
    const { backlog, roster, clock } = this.#deps;
    const [queues, alive] = await Promise.all([backlog.read(), roster.alive(clock.now() - DEAD_AFTER_MS)]);
    const workers = own + alive.filter(({ role, id }) => role === 'worker' && !isOwn(id)).length;
    this.#load = measure(this.#load, this.#sample(queues, workers, clock.now()));
    return { load: this.#load, alive };
  }

  #sample(queues: readonly QueueBacklog[], workers: number, at: number): Sample {
    const checks = queues.filter(({ queue }) => queue !== 'decide');
    const runner = checks.filter(({ queue }) => queue === 'runner');
    const counted = this.#areStuck(runner, workers, at)
      ? checks.filter((one) => !runner.includes(one))
      : checks;
    return {
      at,
      waiting: counted.reduce((sum, { waiting }) => sum + waiting, 0),
      active: counted.reduce((sum, { active }) => sum + active, 0),
      dueMs: counted.reduce((least, { dueMs }) => lesser(least, dueMs), none),
      oldestMs: counted.reduce((most, { oldestMs }) => greater(most, oldestMs), none),
      added: checks.reduce((sum, { added }) => sum + added, 0),
      left: leftOf(checks),
      workers,
    };
  }

  #areStuck(runner: readonly QueueBacklog[], workers: number, at: number): boolean {
    const added = runner.reduce((sum, one) => sum + one.added, 0);
    const left = leftOf(runner);
    const seen = this.#runner;
    if (added !== seen.added || left !== seen.left) this.#runner = { ...seen, added, left, movedAt: at };
    if (runner.every(({ delayed }) => delayed === 0)) return false;
    if (at - this.#runner.movedAt < Math.max(LEAST_STUCK_MS, 2 * this.#idleMs)) return false;
    if (workers > 0 || at - this.#runner.triedAt < TRY_STUCK_EVERY_MS) return true;
    if (runner.some(({ dueMs }) => dueMs === 0)) this.#runner.triedAt = at;
    return false;
  }
}
