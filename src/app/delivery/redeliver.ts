import type { DeadLetter } from '../../ports/dead-letters.js';
import type { Pace } from '../../ports/delivery.js';
import { attempt, type Failure } from './attempt.js';
import type { SinkGate } from './gate.js';
import type { DeliverDeps, SinkReader } from './reader.js';

/**
 * Delivers dead letters once: those that arrive are letters no more, the others are put back with the
 * new reason. A sink that is away is not waited for. False: delivery ends, nothing was tried.
 */
export async function redeliver(
  deps: DeliverDeps,
  reader: SinkReader,
  gate: SinkGate,
  ids: readonly string[],
  signal: AbortSignal,
  pace: Pace,
): Promise<boolean> {
  const { letters, clock, meter } = deps;
  const found = await letters.get('out', reader.name, ids);
  if (found.length === 0) return true;
  const putBack = (
    letter: DeadLetter,
    { code, reason, response }: Pick<Failure, 'code' | 'reason' | 'response'>,
    tried: number,
  ) => letters.put({ ...letter, code, reason, response, at: clock.now(), tries: letter.tries + tried });
  const turn = await gate.enterNow();
  if (turn === undefined) {
    const { state, reason } = gate.circuit;
    const code = state === 'disabled' ? 'gone' : 'away';
    const failure = { code, reason: reason ?? 'the sink is away', response: gate.lastResponse } as const;
    await Promise.all(found.map((letter) => putBack(letter, failure, 0)));
    return true;
  }
  try {
    const events = found.map(({ id, type, content }) => ({ id, type: type ?? '', json: content }));
    const { failures, sign, stopped } = await attempt(reader, events, signal, pace);
    if (stopped) return false;
    if (sign !== undefined) turn.sign(sign);
    const arrived = found.filter(({ id }) => !failures.has(id)).map(({ id }) => id);
    await letters.remove('out', reader.name, arrived);
    const { name, describe } = reader;
    const dead = found.length - arrived.length;
    meter?.deliveries({ name, kind: describe.kind }, { delivered: arrived.length, retried: 0, dead });
    await Promise.all(
      found.map((letter) => {
        const failure = failures.get(letter.id);
        return failure === undefined ? undefined : putBack(letter, failure, 1);
      }),
    );
    return true;
  } finally {
    turn.end();
  }
}
