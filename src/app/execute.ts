import { LRUCache } from 'lru-cache';
import type { Chunk, ManifestEntry } from '../core/manifest.js';
import { type Pack, splitPack } from '../core/packing.js';
import { checkPlacesOf } from '../core/plan/manifest.js';
import { unservedOf } from '../core/registry/needs.js';
import type { CheckResult, ReadOnly } from '../core/result.js';
import { packRows, TextTable } from '../core/results-codec.js';
import { concludeCheck, type PlannedCheck, planChecks, requestOf } from '../core/scenario/checks.js';
import type { Scenario } from '../core/scenario/model.js';
import { skippedResult } from '../core/settle.js';
import type { SubjectView } from '../core/subject-view.js';
import type { MatchRequest, RunOutcome, Verdict } from '../core/validators/validator.js';
import type { Matcher } from '../ports/matcher.js';
import type { Meter } from '../ports/meter.js';
import type { PackAnswer, PackJob } from '../ports/queue.js';
import type { EvaluationStore } from '../ports/store.js';
import { samplesOfRuns } from './check-samples.js';
import { givenUp } from './given-up.js';
import { guarded, rounded } from './guarded.js';
import type { Limiter } from './limits.js';
import type { PlanExecutor } from './plan/execute.js';
import { PLAYBOOKS, type PlaybookDeps, runPlaybook } from './playbook.js';
import { checkPlaces, ScenarioCache } from './scenarios.js';
import { SubjectViews } from './subject-views.js';
import { whileUndecided } from './undecided.js';

export interface ExecutorDeps extends PlaybookDeps {
  store: EvaluationStore;
  matcher: Matcher;
  /** Absent on a worker that judges runs alone: packs of plans are left to others. */
  plans?: Pick<PlanExecutor, 'run' | 'close'>;
  worker: string;
  /** Absent: nothing is limited. */
  limits?: Pick<Limiter, 'run'> | undefined;
  meter?: Meter | undefined;
  /** Stalls after which a single check is given up as an error (DESIGN 5.3). */
  poisonousAfter: number;
}

const CHUNKS_KEPT = 64;

interface Work {
  entry: ManifestEntry;
  check: PlannedCheck;
  position: number;
  view: SubjectView;
  scenario: Scenario;
}

interface Share {
  position: number;
  firstCheck: number;
  results: (CheckResult | undefined)[];
}

/** Runs packs: reads what they refer to, runs the checks, records the results. */
export class Executor {
  readonly #deps: ExecutorDeps;
  readonly #scenarios: ScenarioCache;
  readonly #chunks = new LRUCache<string, Chunk>({ max: CHUNKS_KEPT });
  readonly #views: SubjectViews;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
    this.#scenarios = new ScenarioCache(deps.store);
    this.#views = new SubjectViews(deps.store);
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
    if (limits === undefined || isFree || this.#poisonous(job)) return this.#run(job, chunk);
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
    return !isMine && unserved === 'wait' && !this.#poisonous(job);
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
    const views = await this.#views.get(subjects, job.pack.checks !== undefined);
    const shares: Share[] = [];
    const works: { work: Work; share: Share }[] = [];
    entries.forEach((entry, i) => {
      const position = job.pack.from + i;
      const scenario = scenarios.get(entry.scenario);
      const view = views.get(entry.subject);
      if (scenario === undefined) return;
      const checks = planChecks(scenario, chunk.options);
      const range = job.pack.checks ?? { from: 0, to: checks.length };
      const share: Share = { position, firstCheck: range.from, results: [] };
      shares.push(share);
      for (const check of checks.slice(range.from, range.to)) {
        const isSkipped = check.runner === 'skip' && job.pack.queue === 'pure';
        share.results.push(isSkipped ? skippedResult() : undefined);
        const mine =
          check.runner !== 'skip' && (check.runner === 'ansible') === (job.pack.queue === 'runner');
        if (!mine) continue;
        const at = share.results.length - 1;
        if (view === undefined) share.results[at] = this.#gone(job, entry);
        else works.push({ work: { entry, check, position: at, view, scenario }, share });
      }
    });
    if (job.pack.queue === 'runner') await this.#runAnsible(job, works);
    else await this.#runPure(job, works);
    return shares;
  }

  async #runPure(job: PackJob, works: readonly { work: Work; share: Share }[]): Promise<void> {
    const searches: { request: MatchRequest; work: Work; share: Share }[] = [];
    for (const { work, share } of works) {
      if (this.#poisonous(job)) {
        share.results[work.position] = givenUp(job, this.#deps.worker);
        continue;
      }
      const started = performance.now();
      const request = guarded(() =>
        work.check.runner === 'match' ? requestOf(work.check, work.view) : undefined,
      );
      if (request.value?.kind === 'match') searches.push({ request: request.value, work, share });
      else
        share.results[work.position] = this.#conclude(
          job,
          work,
          request.failure,
          performance.now() - started,
        );
    }
    if (searches.length === 0) return;
    const found = await this.#deps.matcher.matchAll(searches.map(({ request }) => request));
    searches.forEach(({ work, share }, i) => {
      const match = found[i];
      share.results[work.position] = this.#conclude(job, work, match?.outcome, match?.ms ?? 0);
    });
  }

  async #runAnsible(job: PackJob, works: readonly { work: Work; share: Share }[]): Promise<void> {
    for (const { work, share } of works) {
      const started = performance.now();
      const ran = this.#poisonous(job) ? undefined : await runPlaybook(this.#deps, work, job.signal);
      share.results[work.position] =
        ran === undefined
          ? givenUp(job, this.#deps.worker)
          : this.#conclude(job, work, ran.outcome, performance.now() - started, ran.readOnly);
    }
  }

  #conclude(
    job: PackJob,
    work: Work,
    outcome: RunOutcome | undefined,
    ms: number,
    readOnly: ReadOnly = 'enforced',
  ): CheckResult {
    const { value, failure } = guarded(() => concludeCheck(work.check, work.view, outcome));
    const verdict: Verdict = value ?? {
      outcome: 'error',
      message: failure?.message ?? 'no verdict',
      data: {},
    };
    // A literal, not a spread: it is made once for every check.
    return {
      outcome: verdict.outcome,
      message: verdict.message,
      data: verdict.data,
      duration_ms: rounded(ms),
      tries: job.tries,
      worker: this.#deps.worker,
      read_only: readOnly,
    };
  }

  #base(job: PackJob, ms: number) {
    return {
      duration_ms: rounded(ms),
      tries: job.tries,
      worker: this.#deps.worker,
      read_only: 'enforced' as const,
    };
  }

  #gone(job: PackJob, entry: ManifestEntry): CheckResult {
    const message = `the subject ${entry.subject.slice(0, 12)} is no longer stored`;
    return { ...this.#base(job, 0), outcome: 'error', message, data: { reason: 'subject_gone' } };
  }

  #poisonous(job: PackJob): boolean {
    return job.stalled >= this.#deps.poisonousAfter;
  }
}
