/** The work of a fleet at one moment, all queues of checks together. */
export interface Sample {
  /** Milliseconds since the epoch. */
  at: number;
  /** Jobs that nobody has taken. */
  waiting: number;
  /** Jobs in hand. */
  active: number;
  /** Milliseconds until the first job may be taken that was put off; undefined: there is none. */
  dueMs: number | undefined;
  /** Jobs that were ever added. */
  added: number;
  /** Jobs that have ever left the queues. */
  left: number;
  /** Age of the oldest waiting job in milliseconds; undefined: none waits. */
  oldestMs: number | undefined;
  /** Workers that take jobs. */
  workers: number;
}

/** What follows from several samples in a row. */
export interface Load {
  sample: Sample;
  /** When nothing waited for the last time, as far as it was seen. */
  emptyAt: number | undefined;
  /** Jobs that come in a second, lately. */
  arrivals: number;
  /** Jobs that one worker does in a second when there is enough to do; undefined: not seen yet. */
  rate: number | undefined;
  /** Whether anything came since the sample before. */
  moved: boolean;
}

/** Milliseconds after which an older figure counts for about a third. */
const MEMORY_MS = 5000;
/** A shorter time between two samples says nothing about speed, in milliseconds. */
const LEAST_MS = 250;

/** `now` mixed into what was known, the more the longer it took to see. */
function mixed(known: number | undefined, now: number, tookMs: number): number {
  if (known === undefined) return now;
  return known + (now - known) * (1 - Math.exp(-tookMs / MEMORY_MS));
}

/**
 * The load after one more sample. How fast a worker is shows only while work waits all the time and none comes
 * or goes; what was seen then is kept.
 */
export function measure(before: Load | undefined, sample: Sample): Load {
  if (before === undefined)
    return {
      sample,
      emptyAt: sample.waiting === 0 ? sample.at : undefined,
      arrivals: 0,
      rate: undefined,
      moved: false,
    };
  const last = before.sample;
  const tookMs = sample.at - last.at;
  const came = Math.max(0, sample.added - last.added);
  const moved = came > 0;
  const emptyAt = sample.waiting === 0 ? sample.at : before.emptyAt;
  if (tookMs < LEAST_MS) {
    // What was seen in so short a time is seen again, together with what follows.
    const counted = { ...sample, at: last.at, added: last.added, left: last.left };
    return { ...before, sample: counted, emptyAt, moved: moved || before.moved };
  }
  const seconds = tookMs / 1000;
  const isBusy =
    last.waiting > 0 && sample.waiting > 0 && sample.workers > 0 && last.workers === sample.workers;
  const done = Math.max(0, sample.left - last.left) / seconds / Math.max(1, last.workers);
  return {
    sample,
    emptyAt,
    arrivals: mixed(before.arrivals, came / seconds, tookMs),
    rate: isBusy ? mixed(before.rate, done, tookMs) : before.rate,
    moved,
  };
}

/**
 * How long the oldest job has waited to be taken, in milliseconds: no longer than since nothing waited,
 * for a job that was put off is older than its wait.
 */
export function waitedMs({ sample, emptyAt }: Load, now: number): number {
  if (sample.waiting === 0) return 0;
  const since = emptyAt === undefined ? Number.POSITIVE_INFINITY : now - emptyAt;
  return Math.max(0, Math.min(sample.oldestMs ?? 0, since));
}
