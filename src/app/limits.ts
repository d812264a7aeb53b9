import { hasLimits, type Limit, type LimitSettings, limitsOn } from '../core/limits.js';
import type { Chunk } from '../core/manifest.js';
import type { Pack } from '../core/packing.js';
import type { Clock } from '../ports/clock.js';
import type { LimitStore } from '../ports/limits.js';
import type { PackAnswer, PackJob } from '../ports/queue.js';

/** Milliseconds after which the places of a dead worker are free again. */
const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;

export interface LimiterDeps {
  store: LimitStore;
  clock: Clock;
  settings: LimitSettings;
}

/** A pack as its limits see it. */
export interface LimitedPack {
  job: PackJob;
  chunk: Chunk;
  /** Key of the scenario; only of a pack of playbooks. */
  scenario: string | undefined;
  /** The same work as smaller packs; empty when it is one check. */
  split(): Pack[];
}

/** Lets checks begin within the limits that hold for them, over all workers of a fleet. */
export class Limiter {
  readonly #deps: LimiterDeps;

  private constructor(deps: LimiterDeps) {
    this.#deps = deps;
  }

  /** undefined: nothing is limited. */
  static of(deps: LimiterDeps): Limiter | undefined {
    return hasLimits(deps.settings) ? new Limiter(deps) : undefined;
  }

  /**
   * Runs the work of a pack, or answers `limited` when it is to come again. A pack of several checks of which
   * some are limited is split: each goes its own way then. Throws what the work throws.
   */
  async run(pack: LimitedPack, work: () => Promise<PackAnswer>): Promise<PackAnswer> {
    const { store, clock } = this.#deps;
    const limits = this.#limitsOn(pack);
    if (limits.length === 0) return work();
    const packs = pack.split();
    if (packs.length > 0) return { kind: 'split', packs };
    const holder = holderOf(pack.job);
    const since = pack.job.limitedSince ?? clock.now();
    const answer = await store.take(holder, since, limits, clock.now(), LEASE_MS);
    if (!answer.granted) return { kind: 'limited', since, pauseMs: answer.pauseMs };
    const renew = () => store.renew(holder, limits, clock.now() + LEASE_MS).catch(() => {});
    const timer = setInterval(() => void renew(), RENEW_EVERY_MS);
    let isUnused = true;
    try {
      const done = await work();
      isUnused = done.kind !== 'done';
      return done;
    } finally {
      clearInterval(timer);
      // Where this fails, the places run out by themselves.
      await store.release(holder, limits, isUnused).catch(() => {});
    }
  }

  #limitsOn({ job, chunk, scenario }: LimitedPack): Limit[] {
    const { settings } = this.#deps;
    const { plan } = chunk;
    if (plan === undefined) return scenario === undefined ? [] : limitsOn(settings, { scenario });
    const range = job.pack.checks ?? { from: 0, to: plan.checks.length };
    const mine = plan.checks.slice(range.from, range.to).filter(({ runner }) => runner === job.pack.queue);
    const found = mine.flatMap(({ validation }) => limitsOn(settings, { project: plan.project, validation }));
    return [...new Map(found.map((limit) => [limit.name, limit])).values()];
  }
}

/** The same for every run of the same work: its places are had once. */
function holderOf({ chunk, attempt, generation, pack }: PackJob): string {
  return `${chunk}-${attempt}-${generation}-${pack.queue}-${pack.from}.${pack.checks?.from ?? ''}`;
}
