import { nearestName, SluiceError, show } from '../core/problem.js';
import type { Clock } from '../ports/clock.js';
import type { SinkState } from '../ports/dead-letters.js';
import type { Store } from '../ports/store.js';

/** A sink with what waits for it and what it never took. */
export interface SinkReport extends SinkState {
  /** Events that it has not taken yet. */
  waiting: number;
  deadLetters: number;
}

type SinkStores = Pick<Store, 'sinks' | 'outbox' | 'letters'>;

async function reportOf(store: SinkStores, states: readonly SinkState[]): Promise<SinkReport[]> {
  const counts = await store.letters.counts();
  const found: SinkReport[] = [];
  for (const state of states) {
    const own = counts.find(({ direction, endpoint }) => direction === 'out' && endpoint === state.name);
    const waiting = await store.outbox.outstanding(state.name);
    found.push({ ...state, waiting, deadLetters: own?.count ?? 0 });
  }
  return found;
}

/** Sinks that a dispatcher has opened, by name. */
export async function listSinks(store: SinkStores): Promise<SinkReport[]> {
  const states = await store.sinks.list();
  return reportOf(
    store,
    states.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  );
}

/** Lets a disabled sink deliver again; one that is not disabled stays as it is. Throws NOT_FOUND. */
export async function enableSink(store: SinkStores, clock: Clock, name: string): Promise<SinkReport> {
  const state = await store.sinks.get(name);
  if (state === undefined) {
    const nearest = nearestName(
      name,
      (await store.sinks.list()).map((each) => each.name),
    );
    const problem = { path: 'sink', message: 'is no sink that a dispatcher has opened', found: show(name) };
    throw new SluiceError('NOT_FOUND', `There is no sink ${show(name)}.`, [
      nearest === undefined ? problem : { ...problem, nearest },
    ]);
  }
  const enabled: SinkState = {
    ...state,
    state: 'delivering',
    reason: null,
    since: clock.now(),
    nextTry: null,
  };
  if (state.state === 'disabled') await store.sinks.note(enabled);
  const [report] = await reportOf(store, [state.state === 'disabled' ? enabled : state]);
  return report as SinkReport;
}
