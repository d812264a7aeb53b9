import { ulid } from 'ulid';
import { decisionOf } from '../core/decision.js';
import { sha256 } from '../core/digest.js';
import { decisionEvents, type EventOptions } from '../core/evaluation-events.js';
import { isPlainObject } from '../core/json.js';
import type { Chunk, ManifestEntry } from '../core/manifest.js';
import type { CheckResult } from '../core/result.js';
import { type ChunkResults, packRows, type RecordedResults, TextTable } from '../core/results-codec.js';
import { materialize } from '../core/scenario/materialize.js';
import type { Scenario } from '../core/scenario/model.js';
import { judge } from '../core/scoring.js';
import { settleResults } from '../core/settle.js';
import type { Clock } from '../ports/clock.js';
import type { DecisionToCommit, Store } from '../ports/store.js';
import { settleBatch } from './batches.js';
import { decidedAs } from './decided-as.js';
import { decideLarge } from './large/decide.js';
import type { PlanAggregator } from './plan/decide.js';
import { allOf, firstResults } from './recorded.js';
import { ScenarioCache } from './scenarios.js';

export interface AggregatorDeps {
  store: Store;
  clock: Clock;
  fleet: string;
  events: EventOptions;
  plans: Pick<PlanAggregator, 'decide'>;
}

/** A scenario that is no longer stored: an evaluation of it can only be an error. */
const lost = (entry: ManifestEntry): Scenario => ({
  key: 'lost',
  digest: entry.scenario,
  rules: [
    {
      scope: 'job',
      index: 0,
      label: 'The scenario is stored',
      validator: 'task_count',
      required: true,
      negate: false,
      params: {},
    },
  ],
});

/** An evaluation with its settled results. */
interface Judged {
  entry: ManifestEntry;
  scenario: Scenario;
  results: CheckResult[];
}

function packed(judged: readonly Judged[]): string {
  const table = new TextTable();
  const rows = Object.fromEntries(
    judged.map(({ results }, position) => [position, packRows(table, results)]),
  );
  return JSON.stringify({ texts: table.texts, rows } satisfies ChunkResults);
}

/**
 * What one pack recorded, when that is all there is and settling changed nothing: most chunks are like that, and
 * need not be written, nor sent, once more.
 */
function asRecorded(
  recorded: readonly RecordedResults[],
  found: ReadonlyMap<number, readonly unknown[]>,
  judged: readonly Judged[],
): RecordedResults['stored'] {
  const [only] = recorded;
  if (recorded.length !== 1 || !isPlainObject(only) || only.stored === undefined) return undefined;
  const { evaluations } = only;
  if (!Array.isArray(evaluations) || evaluations.length !== judged.length) return undefined;
  const isWhole = judged.every(({ results }, i) => {
    const share = evaluations[i];
    const raw = found.get(i);
    return (
      share?.position === i &&
      share.firstCheck === 0 &&
      raw?.length === results.length &&
      results.every((result, check) => result === raw[check])
    );
  });
  return isWhole ? only.stored : undefined;
}

/** Decides chunks: reads what was recorded, computes the gates, writes decision and events in one step. */
export class Aggregator {
  readonly #deps: AggregatorDeps;
  readonly #scenarios: ScenarioCache;

  constructor(deps: AggregatorDeps) {
    this.#deps = deps;
    this.#scenarios = new ScenarioCache(deps.store.evaluations);
  }

  /** Decides whatever of the chunk is undecided. What has no result is an error, never a pass. */
  async decide(chunkId: string): Promise<void> {
    const { store, clock, fleet } = this.#deps;
    const [record, first] = await Promise.all([
      store.evaluations.chunk(chunkId),
      store.evaluations.recordedPage(chunkId),
    ]);
    if (record === undefined) return;
    const { chunk } = record;
    if (chunk.isLarge === true) {
      const decided = await decideLarge(this.#deps, chunk, first, await this.#retention(chunk));
      if (decided !== undefined) return settleBatch(store, clock, fleet, decided.batch);
    }
    const recorded = await allOf(store.evaluations, chunkId, first);
    if (chunk.plan !== undefined) return this.#deps.plans.decide(chunk, chunk.plan, recorded);
    const scenarios = await this.#scenarios.get(chunk.evaluations.map((entry) => entry.scenario));
    const found = firstResults(recorded);
    const now = clock.now();
    const judged = chunk.evaluations.map((entry, position) => {
      const scenario = scenarios.get(entry.scenario) ?? lost(entry);
      return { entry, scenario, results: this.#settle(chunk, scenario, found.get(position) ?? []) };
    });
    const whole = asRecorded(recorded, found, judged);
    const staged = whole?.json ?? packed(judged);
    const digest = sha256(staged);
    const decisions = judged.map((one, position) => this.#decideOne(chunk, position, one, digest, now));
    const retention = await this.#retention(chunk);
    const [stage, results] = whole === undefined ? [ulid(now), staged] : [whole.stage, null];
    const answer = await store.evaluations.commit(chunk, stage, results, decisions, now, retention);
    await settleBatch(store, clock, fleet, answer.batch);
  }

  readonly #retentions = new Map<string, number>();

  async #retention({ single, batch }: Chunk): Promise<number> {
    const kept = single?.retentionMs ?? this.#retentions.get(batch);
    if (kept !== undefined) return kept;
    const retention = (await this.#deps.store.batches.batch(batch))?.retentionMs;
    if (this.#retentions.size > 1000) this.#retentions.clear();
    if (retention !== undefined) this.#retentions.set(batch, retention);
    return retention ?? 0;
  }

  #decideOne(
    chunk: Chunk,
    position: number,
    { entry, scenario, results }: Judged,
    resultsDigest: string,
    decidedAt: number,
  ): DecisionToCommit {
    const judgement = judge(scenario, chunk.options, results);
    const decision = decisionOf(judgement, {
      scenarioKey: scenario.key,
      actor: chunk.actor ?? null,
      resultsDigest,
      decidedAt,
    });
    const bad = judgement.counts.failed + judgement.counts.errored > 0;
    const failing = bad
      ? materialize(scenario, entry, chunk, results).filter(
          (r) => r.outcome === 'fail' || r.outcome === 'error',
        )
      : [];
    const { fleet, events } = this.#deps;
    const told = decisionEvents(fleet, chunk, entry, decision, failing, events);
    return decidedAs(decision, position, entry.id, told);
  }

  /** Each evaluation in its own guard: one that cannot be settled is all errors (DESIGN 5.4). */
  #settle(chunk: Chunk, scenario: Scenario, raw: readonly unknown[]): CheckResult[] {
    try {
      return settleResults(scenario, chunk.options, raw);
    } catch {
      return settleResults(scenario, chunk.options, []);
    }
  }
}
