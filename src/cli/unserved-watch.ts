import type { Config } from '../../config/schema.js';
import type { Need } from '../core/registry/needs.js';
import { TAKES_NO_RUNNERS } from '../core/routing.js';
import type { Store } from '../ports/store.js';
import { GIVE_UP_AFTER_MS } from './role-watch.js';

/** Marks that one look goes through, of all batches. */
const LOOKED_AT = 200;
/** Milliseconds between two sentences about the same wait. */
export const SAY_EVERY_MS = 60_000;

/** Evaluations of a batch that wait for a runner which no living worker has. */
export interface Waiting {
  needs: Need[];
  count: number;
  /** There may be more than these. */
  isCut: boolean;
}

/** What of a batch waits in vain, as the sweeper found it. */
export async function waitingOf(
  { unserved, evaluations }: Pick<Store, 'unserved' | 'evaluations'>,
  batch: string,
): Promise<Waiting> {
  const marks = await unserved.list(LOOKED_AT);
  const records = await evaluations.chunks(marks.map(({ chunk }) => chunk));
  const own = marks.filter((_, i) => records[i]?.chunk.batch === batch);
  const needs = [...new Set(own.flatMap((mark) => mark.needs))].sort();
  return { needs, count: own.length, isCut: marks.length === LOOKED_AT };
}

/** `5 evaluations wait for ansible, which no living worker serves`. */
export function waitingWords({ needs, count, isCut }: Waiting): string {
  const one = count === 1 && !isCut;
  const many = one ? 'an evaluation waits' : `${count}${isCut ? ' or more' : ''} evaluations wait`;
  return `${many} for ${needs.join(' and ')}, which no living worker serves`;
}

/** What to do about checks that wait for a runner: where these settings keep workers from them, that. */
export function waitingAdvice({ worker }: Pick<Config, 'worker'>, start: string): string {
  const elsewhere = `start a worker on a machine that has it (sluice doctor tells): ${start}`;
  if (worker.runner_concurrency > 0) return elsewhere;
  return `here ${TAKES_NO_RUNNERS}, so that workers with these take no such check: set it to 1 or more, or ${elsewhere}`;
}

/**
 * Whether a batch still has a chance where checks wait for a runner that is not there: warns at once and
 * every minute, and gives up when nothing else is left, nothing was decided for a minute, and nobody
 * else is expected. Time is an argument.
 */
export class UnservedWatch {
  readonly #othersCome: boolean;
  #saidAt = Number.NEGATIVE_INFINITY;
  #decided = -1;
  #since = 0;

  constructor(othersCome: boolean) {
    this.#othersCome = othersCome;
  }

  /** `decided` and `left`: evaluations of the batch so far, and those that are not decided. */
  see(now: number, waiting: Waiting, decided: number, left: number): 'fine' | 'warn' | 'give-up' {
    const isAll = waiting.count > 0 && (waiting.count >= left || waiting.isCut);
    if (decided !== this.#decided || !isAll) this.#since = now;
    this.#decided = decided;
    if (waiting.count === 0) return 'fine';
    if (!this.#othersCome && now - this.#since >= GIVE_UP_AFTER_MS) return 'give-up';
    if (now - this.#saidAt < SAY_EVERY_MS) return 'fine';
    this.#saidAt = now;
    return 'warn';
  }
}
