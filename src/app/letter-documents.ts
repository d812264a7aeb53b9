import { isoTime } from '../core/iso-time.js';
import type { DeadLetter } from '../ports/dead-letters.js';
import type { SinkReport } from './sinks.js';

/** A dead letter as `--json` and the API have it. */
export function letterDocument({ at, ...letter }: DeadLetter) {
  return { ...letter, set_aside_at: isoTime(at) };
}

/** A sink as `--json` and the API have it. */
export function sinkDocument({ since, nextTry, deadLetters, ...sink }: SinkReport) {
  return {
    ...sink,
    since: isoTime(since),
    next_try: nextTry === null ? null : isoTime(nextTry),
    dead_letters: deadLetters,
  };
}
