import { waitedMs } from '../../core/autoscale/load.js';
import { type ScalePolicy, type ScaleState, targetWorkers } from '../../core/autoscale/target.js';
import type { Clock } from '../../ports/clock.js';
import { inTime } from '../in-time.js';
import type { ScaleLook } from './watch.js';

/** Milliseconds for which a look at Redis is good enough. */
const FRESH_MS = 1000;
/** Milliseconds in which Redis must answer. */
const PATIENCE_MS = 1500;

/** What an autoscaler wants to know. */
export interface ScaleAnswer {
  /** Workers that are wanted. */
  value: number;
  /** Checks' jobs that nobody has taken. */
  backlog: number;
  /** How long the oldest of them has waited, in milliseconds. */
  oldest_ms: number;
  /** Workers that are alive. */
  workers: number;
}

export type ScaleLimits = Pick<ScalePolicy, 'min' | 'max'>;

/** Before anything is known one worker is wanted: it finds out. */
const UNKNOWN: ScaleAnswer = { value: 1, backlog: 0, oldest_ms: 0, workers: 0 };

const within = (value: number, { min, max }: ScaleLimits) =>
  Math.min(Math.max(value, min), Math.max(min, max));

/**
 * Tells how many workers a fleet wants, always: while Redis is away, what it told last, or one. Redis is
 * asked once a second at most, however many ask here.
 */
export class ScaleAnswers {
  readonly #look: () => Promise<ScaleLook>;
  readonly #clock: Clock;
  readonly #policy: Pick<ScalePolicy, 'idleMs' | 'targetAgeMs'>;
  #state: ScaleState | undefined;
  #looking: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #answer: ((limits: ScaleLimits) => ScaleAnswer) | undefined;

  constructor(
    look: () => Promise<ScaleLook>,
    clock: Clock,
    policy: Pick<ScalePolicy, 'idleMs' | 'targetAgeMs'>,
  ) {
    this.#look = look;
    this.#clock = clock;
    this.#policy = policy;
  }

  /** Never throws, and takes a second and a half at most. */
  async answer(limits: ScaleLimits): Promise<ScaleAnswer> {
    await this.#refresh();
    return this.#answer?.(limits) ?? { ...UNKNOWN, value: within(UNKNOWN.value, limits) };
  }

  async #refresh(): Promise<void> {
    if (this.#clock.now() - this.#lookedAt < FRESH_MS) return;
    this.#looking ??= this.#lookOnce()
      .catch(() => {})
      .finally(() => {
        this.#looking = undefined;
      });
    await inTime(this.#looking, PATIENCE_MS, () => {});
  }

  async #lookOnce(): Promise<void> {
    const { load } = await this.#look();
    const now = this.#clock.now();
    const { workers, waiting } = load.sample;
    const before = this.#state;
    const target = (limits: ScaleLimits) =>
      targetWorkers(before, load, workers, 0, now, { ...this.#policy, ...limits });
    this.#state = target({ min: 0, max: Number.POSITIVE_INFINITY }).state;
    this.#lookedAt = now;
    this.#answer = (limits) => ({
      value: target(limits).workers,
      backlog: waiting,
      oldest_ms: Math.round(waitedMs(load, now)),
      workers,
    });
  }
}
