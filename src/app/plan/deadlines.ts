import { diagnose } from '../../core/plan/diagnosis.js';
import type { Diagnosis, PlanState } from '../../core/plan/model.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import type { PlanKeeper } from './keeper.js';
import { decidedPlan } from './status.js';

/** Who moves plans whose time is up. */
const SWEEPER = 'sluice/sweeper';

export interface DeadlineDeps {
  store: Store;
  clock: Clock;
  keeper: Pick<PlanKeeper, 'move'>;
  /** Told of a plan that could not be looked at; the others are looked at all the same. */
  onError?: ((error: Error) => void) | undefined;
}

/** What the last evaluation of a plan found; null when there was none, or it is gone. */
async function lastDiagnosis({ evaluations }: Store, state: PlanState): Promise<Diagnosis | null> {
  if (state.lastEvaluation === null) return null;
  const [record, decided] = await Promise.all([
    evaluations.chunk(state.lastEvaluation),
    decidedPlan(evaluations, state.lastEvaluation),
  ]);
  if (record === undefined || decided === undefined) return null;
  return diagnose(record.chunk, decided.results);
}

/** Moves the plans whose waiting phase has lasted too long (DESIGN 4.7); returns how many. */
export async function sweepPlans(deps: DeadlineDeps, limit: number): Promise<number> {
  const { store, clock, keeper } = deps;
  let moved = 0;
  for (const plan of await store.plans.due(clock.now(), limit)) {
    try {
      const state = await store.plans.plan(plan);
      if (state === undefined) continue;
      const diagnosis = await lastDiagnosis(store, state);
      const answer = await keeper.move({
        plan,
        mark: null,
        resources: state.resources,
        project: state.project,
        evidence: { blobs: [], snapshots: null },
        decision: null,
        command: (_state, applicable, now) => ({
          type: 'deadline',
          now,
          actor: SWEEPER,
          applicable,
          diagnosis,
        }),
      });
      if (answer.kind === 'moved') moved += 1;
    } catch (error) {
      deps.onError?.(error as Error);
    }
  }
  return moved;
}
