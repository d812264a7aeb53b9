import { inTime } from '../src/app/in-time.js';
import { ScaleWatch } from '../src/app/scale/watch.js';
import { openBacklog, timesOf } from '../src/compose/scale.js';
import type { FleetEngine } from '../src/compose.js';
import {
  ownShare,
  type ScalePolicy,
  type ScaleReason,
  type ScaleState,
  targetWorkers,
} from '../src/core/autoscale/target.js';
import type { Backlog } from '../src/ports/backlog.js';
import type { LivingRole } from '../src/ports/store.js';
import { type Role, startRole } from './lifecycle.js';

/** Milliseconds between two looks while there are workers. */
const LOOK_EVERY_MS = 1000;
/** Milliseconds after which it is looked at a fleet without workers even though nothing has arrived. */
const REST_MS = 10_000;
/** Milliseconds in which Redis must answer; nothing changes until it does. */
const PATIENCE_MS = 3000;

/** Queues whose jobs workers take. */
const QUEUES = ['pure', 'runner'] as const;

/** The workers that an autoscaler looks after. */
export interface Workers {
  /** Those that take work, and those that are about to. */
  readonly up: number;
  readonly starting: number;
  /** Whether a worker of the roster is, or was, one of these. */
  isOwn(id: string): boolean;
  resize(count: number): void;
  /** Drains all of them. */
  stop(): Promise<void>;
}

export interface Autoscaler extends Role {
  /** Workers have come or gone: looks again now. */
  wake(): void;
}

/** Lets one wait, and ends the wait when something happens. */
class Bell {
  #ring: () => void = () => {};

  ring(): void {
    this.#ring();
  }

  /** Waits for the bell, `ms` at most. */
  async wait(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#ring = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.#ring = () => {};
  }
}

class Scaling {
  readonly #engine: FleetEngine;
  readonly #workers: Workers;
  readonly #policy: ScalePolicy;
  readonly #id: string;
  readonly #backlog: Backlog;
  readonly #watch: ScaleWatch;
  readonly #bell = new Bell();
  readonly #ending = new AbortController();
  #state: ScaleState | undefined;
  /** Workers of the fleet, and milliseconds until some job is due, as they were last seen. */
  #seen: { others: number; dueMs: number | undefined } = { others: 0, dueMs: undefined };
  #told = '';
  #going: Promise<void> | undefined;

  constructor(engine: FleetEngine, workers: Workers, policy: ScalePolicy, id: string) {
    this.#engine = engine;
    this.#workers = workers;
    this.#policy = policy;
    this.#id = id;
    this.#backlog = openBacklog(engine);
    const { store, clock } = engine;
    this.#watch = new ScaleWatch({ backlog: this.#backlog, roster: store.roster, clock }, policy.idleMs);
  }

  begin(): void {
    this.#going = this.#go();
  }

  wake(): void {
    this.#bell.ring();
  }

  async end(): Promise<void> {
    this.#ending.abort();
    this.#bell.ring();
    await this.#going;
    await this.#workers.stop();
    await this.#backlog.close();
  }

  async #go(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await this.#look().catch(this.#engine.trouble);
      if (!signal.aborted) await this.#pause(signal);
    }
  }

  /** A second while there are workers; without any, until work arrives. */
  async #pause(signal: AbortSignal): Promise<void> {
    const { up, starting } = this.#workers;
    const { others, dueMs } = this.#seen;
    if (up + starting + others > 0) return this.#bell.wait(LOOK_EVERY_MS);
    const over = new AbortController();
    const ms = Math.max(LOOK_EVERY_MS / 4, Math.min(REST_MS, dueMs ?? REST_MS));
    const until = AbortSignal.any([signal, over.signal]);
    await Promise.race([this.#backlog.arrival(QUEUES, ms, until), this.#bell.wait(ms)]);
    over.abort();
  }

  async #look(): Promise<void> {
    const workers = this.#workers;
    const looking = this.#watch.look((id) => workers.isOwn(id), workers.up);
    const { load, alive } = await inTime(looking, PATIENCE_MS, silent);
    const now = this.#engine.clock.now();
    const others = load.sample.workers - workers.up;
    this.#seen = { others, dueMs: load.sample.dueMs };
    const running = others + workers.up + workers.starting;
    const target = targetWorkers(this.#state, load, running, workers.starting, now, this.#policy);
    this.#state = target.state;
    const { place, supervisors } = this.#standing(alive);
    const { min, max } = this.#policy;
    const own = Math.min(Math.max(ownShare(target.workers, others, place, supervisors), min), max);
    this.#engine.metrics?.recorder.target(own);
    workers.resize(own);
    this.#tell(own, target.why, { waiting: load.sample.waiting, oldest_ms: load.sample.oldestMs, others });
  }

  #standing(alive: readonly LivingRole[]): { place: number; supervisors: number } {
    const ids = alive.filter(({ role }) => role === 'autoscaler').map(({ id }) => id);
    const all = [...new Set([...ids, this.#id])].sort();
    return { place: all.indexOf(this.#id), supervisors: all.length };
  }

  #tell(workers: number, why: ScaleReason, about: Record<string, unknown>): void {
    if (this.#told === String(workers)) return;
    this.#told = String(workers);
    this.#engine.log.info({ workers, why, ...about }, 'so many workers are wanted now');
  }
}

function silent(): never {
  throw new Error(`Redis has not answered for ${PATIENCE_MS / 1000} s`);
}

/**
 * Starts an autoscaler: keeps as many of these workers as the work of the fleet needs, between `min` and
 * `max`. Its end drains them.
 */
export async function startAutoscaler(
  engine: FleetEngine,
  workers: Workers,
  limits: Pick<ScalePolicy, 'min' | 'max'>,
): Promise<Autoscaler> {
  let scaling: Scaling | undefined;
  const role = await startRole(engine, 'autoscaler', (id) => {
    const policy = { ...timesOf(engine.config), ...limits };
    scaling = new Scaling(engine, workers, policy, id);
    return { drain: async () => scaling?.end() };
  });
  scaling?.begin();
  return { ...role, wake: () => scaling?.wake() };
}
