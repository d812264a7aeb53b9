import { nearestName, SluiceError, show } from '../core/problem.js';
import type { Store } from '../ports/store.js';

/**
 * Forgets a sink that is configured no more: its state and its place in the outbox, so that nothing is
 * kept for it any longer. Its dead letters stay. Throws NOT_FOUND, or IN_USE while events wait for it,
 * without `discard`.
 */
export async function forgetSink(
  { sinks, outbox }: Pick<Store, 'sinks' | 'outbox'>,
  name: string,
  options: { discard: boolean },
): Promise<{ waiting: number }> {
  const waiting = await outbox.outstanding(name);
  // One that was forgotten while its dispatcher ran may have a place in the outbox and no state.
  if (waiting === 0 && (await sinks.get(name)) === undefined) {
    const names = (await sinks.list()).map((each) => each.name);
    const nearest = nearestName(name, names);
    const problem = { path: '', message: 'is no sink that a dispatcher has opened', found: show(name) };
    throw new SluiceError('NOT_FOUND', `There is no sink ${show(name)}.`, [
      nearest === undefined ? problem : { ...problem, nearest },
    ]);
  }
  if (waiting > 0 && !options.discard)
    throw new SluiceError(
      'IN_USE',
      `Events wait for the sink ${show(name)}; nothing was forgotten. With --discard they are forgotten too.`,
    );
  await outbox.closeReader(name);
  await sinks.remove(name);
  return { waiting };
}
