import { LRUCache } from 'lru-cache';
import type { Chunk, ManifestEntry } from '../core/manifest.js';
import { type Pack, splitPack } from '../core/packing.js';
import { checkPlacesOf } from '../core/plan/manifest.js';
import { unservedOf } from '../core/registry/needs.js';
import { packRows, TextTable } from '../core/results-codec.js';
import type { Scenario } from '../core/scenario/model.js';
import type { Meter } from '../ports/meter.js';
import type { PackAnswer, PackJob } from '../ports/queue.js';
import type { EvaluationStore } from '../ports/store.js';
import { samplesOfRuns } from './check-samples.js';
import { isPoisonous, type JudgeDeps, PackJudge, type Share } from './judge-pack.js';
import type { Limiter } from './limits.js';
import type { PlanExecutor } from './plan/execute.js';
import { PLAYBOOKS } from './playbook.js';
import { checkPlaces, ScenarioCache } from './scenarios.js';
import { SubjectViews } from './subject-views.js';
import { whileUndecided } from './undecided.js';

export interface ExecutorDeps extends JudgeDeps {
  store: EvaluationStore;
  /** Absent on a worker that judges runs alone: packs of plans are left to others. */
  plans?: Pick<PlanExecutor, 'run' | 'close'>;
  /** Absent: nothing is limited. */
  limits?: Pick<Limiter, 'run'> | undefined;
  meter?: Meter | undefined;
}

const CHUNKS_KEPT = 64;
/** Evaluations of a pack of pure checks above which it waits for others; smaller ones go between them. */
const WAITS_ABOVE = 8;

/** Runs packs: reads what they refer to, runs the checks, records the results. */
export class Executor {
  readonly #deps: ExecutorDeps;
  readonly #scenarios: ScenarioCache;
  readonly #chunks = new LRUCache<string, Chunk>({ max: CHUNKS_KEPT });
  readonly #views: SubjectViews;
  readonly #judge: PackJudge;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
    this.#scenarios = new ScenarioCache(deps.store);
    this.#views = new SubjectViews(deps.store);
    this.#judge = new PackJudge(deps);
  }

  /**
   * Throws when the worker is to stop: nothing is recorded then. Nor is it when a pack of runners is
   * decided without it.
   */
  async run(job: PackJob): Promise<PackAnswer> {
    const chunk = await this.#chunk(job);
    if (chunk === undefined) return { kind: 'done' };
    if (job.pack.queue === 'pure') return this.#limited(job, chunk);
    const { from, to } = job.pack;
    const positions = Array.from({ length: to - from }, (_, i) => from + i);
    const isDecided = async () =>
      (await this.#deps.store.decisions(chunk.id, positions)).length === positions.length;
    const work = (signal: AbortSignal) => this.#limited({ ...job, signal }, chunk);
    return (await whileUndecided(isDecided, job.signal, work)) ?? { kind: 'done' };
  }

  /** Waits for what was told to stop, and ends what tools keep. */
  async close(): Promise<void> {
    await this.#deps.plans?.close();
  }

  /** Pure rules of scenarios are never limited; what is given up needs no turn. */
  async #limited(job: PackJob, chunk: Chunk): Promise<PackAnswer> {
    const { limits } = this.#deps;
    const isFree = chunk.plan === undefined && job.pack.queue === 'pure';
    if (limits === undefined || isFree || isPoisonous(this.#deps, job)) return this.#run(job, chunk);
    const { plan } = chunk;
    const digests = plan === undefined ? chunk.evaluations.map((entry) => entry.scenario) : [];
    const scenarios = await this.#scenarios.get(digests);
    const scenario = scenarios.get(digests[job.pack.from] ?? '')?.key;
    const split = () =>
      plan === undefined
        ? this.#split(job.pack, chunk, scenarios)
        : splitPack(job.pack, [checkPlacesOf(plan)]);
    return limits.run({ job, chunk, scenario, split }, () => this.#run(job, chunk));
  }

  async #run(job: PackJob, chunk: Chunk): Promise<PackAnswer> {
    if (chunk.plan !== undefined) return this.#plan(job, chunk);
    const entries = chunk.evaluations.slice(job.pack.from, job.pack.to);
    const scenarios = await this.#scenarios.get(entries.map((entry) => entry.scenario));
    if (job.stalled > 0) {
      const packs = this.#split(job.pack, chunk, scenarios);
      if (packs.length > 0) return { kind: 'split', packs };
    }
    if (this.#leaves(job)) return { kind: 'unserved', needs: [...PLAYBOOKS] };
    const shares = await this.#shares(job, chunk, entries, scenarios);
    const table = new TextTable();
    const evaluations = shares.map(({ position, firstCheck, results }) => ({
      position,
      firstCheck,
      rows: packRows(table, results),
    }));
    await this.#deps.store.record(chunk.id, { texts: table.texts, evaluations });
    this.#deps.meter?.checks(samplesOfRuns(shares, chunk, scenarios));
    return { kind: 'done' };
  }

  /** A pack of playbooks, all that scenarios have for runners, that another worker may run. */
  #leaves(job: PackJob): boolean {
    const { serves, unserved } = this.#deps;
    const isMine = job.pack.queue === 'pure' || unservedOf(PLAYBOOKS, serves).length === 0;
    return !isMine && unserved === 'wait' && !isPoisonous(this.#deps, job);
  }

  async #plan(job: PackJob, chunk: Chunk): Promise<PackAnswer> {
    const { plans } = this.#deps;
    if (plans === undefined) throw new Error('this worker runs no checks of plans');
    return plans.run(job, chunk);
  }

  /** The chunk that the job is of: not one that came under the same id before or after it. */
  async #chunk({ chunk: id, acceptedAt }: PackJob): Promise<Chunk | undefined> {
    const kept = this.#chunks.get(id);
    if (kept?.acceptedAt === acceptedAt) return kept;
    const found = (await this.#deps.store.chunk(id))?.chunk;
    if (found?.acceptedAt !== acceptedAt) return undefined;
    this.#chunks.set(id, found);
    return found;
  }

  #split(pack: Pack, chunk: Chunk, scenarios: Map<string, Scenario>): Pack[] {
    const places = chunk.evaluations.map((entry) => {
      const scenario = scenarios.get(entry.scenario);
      return scenario === undefined ? [] : checkPlaces(scenario, chunk.options);
    });
    return splitPack(pack, places);
  }

  async #shares(
    job: PackJob,
    chunk: Chunk,
    entries: ManifestEntry[],
    scenarios: Map<string, Scenario>,
  ): Promise<Share[]> {
    const subjects = entries.map((entry) => entry.subject);
    if (job.pack.checks !== undefined) {
      const views = await this.#views.get(subjects);
      return this.#judge.judge(job, chunk, entries, scenarios, views);
    }
    const open = await this.#views.read(subjects);
    const judge = () => this.#judge.judge(job, chunk, entries, scenarios, open());
    return job.pack.queue === 'pure' && entries.length > WAITS_ABOVE ? this.#inTurn(judge) : judge();
  }

  /** One large pack after the other: what one of them needs is gone before the next one begins. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}
