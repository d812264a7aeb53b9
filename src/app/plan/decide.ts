import { ulid } from 'ulid';
import { sha256 } from '../../core/digest.js';
import type { EventOptions } from '../../core/evaluation-events.js';
import { eventId } from '../../core/events.js';
import type { Chunk } from '../../core/manifest.js';
import { planDecisionEvents } from '../../core/plan/events.js';
import { judgePlan, settlePlanResults } from '../../core/plan/gate.js';
import type { PlanCheck, PlanDecision, PlanManifest } from '../../core/plan/model.js';
import type { CheckResult } from '../../core/result.js';
import { type ChunkResults, type PackResults, packRows, TextTable } from '../../core/results-codec.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import { firstResults } from '../recorded.js';
import type { PlanKeeper } from './keeper.js';
import { decidedPlan } from './status.js';

export interface PlanAggregatorDeps {
  store: Store;
  clock: Clock;
  keeper: Pick<PlanKeeper, 'move'>;
  fleet: string;
  events: EventOptions;
}

/** Who moves plans when nobody gave a command. */
export const AGGREGATOR = 'sluice/aggregator';

/**
 * Decides evaluations of plans: the decision, the plan's transition and the events of both are written
 * in one step (DESIGN 5.4). What has no result is an error, never a pass.
 */
export class PlanAggregator {
  readonly #deps: PlanAggregatorDeps;

  constructor(deps: PlanAggregatorDeps) {
    this.#deps = deps;
  }

  async decide(chunk: Chunk, manifest: PlanManifest, recorded: readonly PackResults[]): Promise<void> {
    const { store, clock, keeper, fleet, events } = this.#deps;
    if ((await decidedPlan(store.evaluations, chunk.id)) !== undefined) return;
    const results = this.#settle(manifest, firstResults(recorded).get(0) ?? []);
    const earlier = manifest.earlier === null ? null : await this.#earlier(manifest.earlier);
    const { verdict, gate, counts, status, vacuous } = judgePlan(chunk, results, earlier);
    const table = new TextTable();
    const packed: ChunkResults = { rows: { 0: packRows(table, results) }, texts: table.texts };
    const json = JSON.stringify(packed);
    const now = clock.now();
    const decision: PlanDecision = {
      plan: manifest.plan,
      stage: manifest.stage,
      passed: verdict.passed,
      status,
      actor: chunk.actor ?? null,
      gate,
      counts,
      vacuous,
      unvalidated: manifest.unvalidated,
      resultsDigest: sha256(json),
      decidedAt: now,
    };
    const name = verdict.passed ? 'evaluation.passed' : 'evaluation.failed';
    await keeper.move({
      plan: manifest.plan,
      mark: null,
      resources: [],
      project: manifest.project,
      evidence: { blobs: [], snapshots: null },
      decision: {
        toCommit: {
          chunk: chunk.id,
          json: JSON.stringify(decision),
          results: { stage: ulid(now), json },
        },
        events: planDecisionEvents(fleet, chunk, decision, results, events),
        causation: eventId(chunk.id, String(chunk.attempt), name),
        actor: chunk.actor,
      },
      command: (_state, applicable, at) => ({
        type: 'decided',
        now: at,
        actor: AGGREGATOR,
        applicable,
        verdict,
      }),
    });
  }

  /** What the first stage brought; without it the second cannot pass. */
  async #earlier(
    evaluation: string,
  ): Promise<{ passed: boolean; checks: PlanCheck[]; results: CheckResult[] }> {
    const { evaluations } = this.#deps.store;
    const [record, decided] = await Promise.all([
      evaluations.chunk(evaluation),
      decidedPlan(evaluations, evaluation),
    ]);
    const passed = decided?.decision.passed === true;
    return { passed, checks: record?.chunk.plan?.checks ?? [], results: decided?.results ?? [] };
  }

  /** In its own guard: an evaluation that cannot be settled is all errors (DESIGN 5.4). */
  #settle(manifest: PlanManifest, raw: readonly unknown[]): CheckResult[] {
    try {
      return settlePlanResults(manifest, raw);
    } catch {
      return settlePlanResults(manifest, []);
    }
  }
}
