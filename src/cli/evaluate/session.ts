import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { startAggregator } from '../../../workers/aggregator.js';
import { DEAD_AFTER_MS, type Role } from '../../../workers/lifecycle.js';
import { startSweeper } from '../../../workers/sweeper.js';
import type { FleetEngine } from '../../compose.js';
import { SluiceError } from '../../core/problem.js';
import type { RoleName } from '../../ports/store.js';
import type { Executors } from '../executors.js';
import { say } from '../output.js';
import { GIVE_UP_AFTER_MS, RoleWatch, WARN_AFTER_MS } from '../role-watch.js';
import { UnservedWatch, waitingAdvice, waitingOf, waitingWords } from '../unserved-watch.js';

const LOOK_EVERY_MS = 1000;
/** Milliseconds between looks at what waits for a runner. */
const WAITING_EVERY_MS = 5000;

/** Worker processes when nobody says how many: one core is left for the rest. */
export function defaultWorkers(): number {
  return Math.max(1, availableParallelism() - 1);
}

/** What to type to start a role by hand. */
function startCommand(role: RoleName, { shown, isPrivate, engine }: SessionSettings): string {
  const { fleet } = engine.config;
  const command = `sluice ${role}${isPrivate ? '' : ` --redis ${shown}`} --fleet ${fleet}`;
  return isPrivate ? `${command} (in this folder)` : command;
}

async function living({ store, clock }: FleetEngine): Promise<RoleName[]> {
  const alive = await store.roster.alive(clock.now() - DEAD_AFTER_MS);
  const roles = alive.map(({ role }) => role);
  // It starts workers as soon as there is work.
  return roles.includes('autoscaler') && !roles.includes('worker') ? [...roles, 'worker'] : roles;
}

export interface SessionSettings {
  engine: FleetEngine;
  executors: Executors;
  /** `--workers`. */
  workers: number | undefined;
  /** The Redis as it may be shown. */
  shown: string;
  isPrivate: boolean;
  /** How to call the batch again. */
  resume: string;
  batch: string;
  /** Evaluations decided so far. */
  decided(): number;
  /** Evaluations that are not. */
  left(): number;
}

/**
 * The roles of a fleet for as long as one batch needs them: those without a live heartbeat are
 * started here, also when another process takes its own away (DESIGN 8). `lost` rejects with
 * NO_WORKERS or REDIS_UNREACHABLE when the batch has no chance any more.
 */
export class FleetSession {
  readonly lost: Promise<never>;
  readonly #settings: SessionSettings;
  readonly #roles = new Map<RoleName, Role>();
  readonly #watch = new RoleWatch();
  readonly #unserved: UnservedWatch;
  #lookedAtWaiting = 0;
  #fail: (error: unknown) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #answeredAt = Date.now();

  /** `others`: whether somebody else runs workers too. */
  private constructor(settings: SessionSettings, others: boolean) {
    this.#settings = settings;
    this.#unserved = new UnservedWatch(others);
    this.lost = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.lost.catch(() => {});
  }

  /** Starts what is missing; answers once it runs, with the number of workers that share the batch. */
  static async start(settings: SessionSettings): Promise<{ session: FleetSession; workers: number }> {
    const alive = await living(settings.engine);
    const { executors, workers } = settings;
    const others = alive.filter((role) => role === 'worker').length;
    const session = new FleetSession(settings, others > 0 || workers === 0);
    if (workers !== undefined && workers > 0) executors.start(workers);
    try {
      await session.#startMissing(new Set(alive));
    } catch (error) {
      await session.stop();
      throw error;
    }
    session.#timer = setInterval(() => session.#look(), LOOK_EVERY_MS);
    return { session, workers: Math.max(1, others + executors.count) };
  }

  async #startMissing(alive: ReadonlySet<RoleName>): Promise<void> {
    const { engine, executors, workers } = this.#settings;
    if (workers === 0) return;
    if (!alive.has('worker') && executors.count === 0) executors.start(workers ?? defaultWorkers());
    for (const [name, start] of [
      ['aggregator', startAggregator],
      ['sweeper', startSweeper],
    ] as const) {
      if (!alive.has(name) && !this.#roles.has(name)) this.#roles.set(name, await start(engine));
    }
  }

  #look(): void {
    const silentMs = Date.now() - this.#answeredAt;
    if (silentMs > GIVE_UP_AFTER_MS) this.#fail(this.#silent());
    else if (silentMs > WARN_AFTER_MS)
      this.#settings.engine.trouble.silent(`it has not answered for ${WARN_AFTER_MS / 1000} s`);
    if (this.#looking !== undefined) return;
    this.#looking = this.#lookOnce()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#looking = undefined;
      });
  }

  async #lookOnce(): Promise<void> {
    const askedAt = Date.now();
    const alive = new Set(await living(this.#settings.engine));
    this.#answeredAt = Date.now();
    this.#settings.engine.trouble.back(askedAt);
    if (this.#timer === undefined) return;
    await this.#startMissing(alive);
    await this.#lookAtWaiting();
    const answer = this.#watch.see(Date.now(), alive, this.#settings.decided());
    if (answer.kind === 'fine') return;
    const { resume } = this.#settings;
    const what = answer.missing.join(' and ');
    const commands = answer.missing.map((role) => startCommand(role, this.#settings)).join(' ; ');
    if (answer.kind === 'warn') {
      say(`sluice: waiting for a live ${what}. Start with: ${commands}`);
      return;
    }
    const message = `For ${GIVE_UP_AFTER_MS / 1000} s there was no live ${what} and nothing was decided. Start with: ${commands}. Then finish the batch with: ${resume}`;
    this.#fail(new SluiceError('NO_WORKERS', message));
  }

  async #lookAtWaiting(): Promise<void> {
    const now = Date.now();
    if (now - this.#lookedAtWaiting < WAITING_EVERY_MS) return;
    this.#lookedAtWaiting = now;
    const { engine, batch, decided, left, resume } = this.#settings;
    const waiting = await waitingOf(engine.store, batch);
    const answer = this.#unserved.see(now, waiting, decided(), left());
    if (answer === 'fine') return;
    const advice = waitingAdvice(engine.config, startCommand('worker', this.#settings));
    const where = advice.charAt(0).toUpperCase() + advice.slice(1);
    if (answer === 'warn') {
      say(`sluice: ${waitingWords(waiting)}. ${where}`);
      return;
    }
    const seconds = GIVE_UP_AFTER_MS / 1000;
    const message = `For ${seconds} s nothing was decided, and ${waitingWords(waiting)}. ${where}. Then finish the batch with: ${resume}`;
    this.#fail(new SluiceError('NO_WORKERS', message));
  }

  #silent(): SluiceError {
    const { shown, resume } = this.#settings;
    const seconds = GIVE_UP_AFTER_MS / 1000;
    return new SluiceError(
      'REDIS_UNREACHABLE',
      `${shown} has not answered for ${seconds} s. Once it is back, finish the batch with: ${resume}`,
    );
  }

  /** Drains the roles that run here and the worker processes started here; the second call waits for the first. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await Promise.race([this.#looking, delay(LOOK_EVERY_MS, undefined, { ref: false })]);
    const roles = [...this.#roles.values()];
    await Promise.all([this.#settings.executors.stop(), ...roles.map((role) => role.stop())]);
  }
}
