import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Submission } from '../../app/submit.js';

const TURN_EVERY = 16;

/** Lets timers and signals have their turn: in the inline engine nothing else would. */
export async function* inTurns(
  runs: AsyncIterable<Submission> | Iterable<Submission>,
): AsyncGenerator<Submission> {
  let n = 0;
  for await (const submission of runs) {
    yield submission;
    n += 1;
    if (n % TURN_EVERY === 0) await nextTurn();
  }
}
