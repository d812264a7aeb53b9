import type { Chunk, ManifestEntry } from '../core/manifest.js';
import type { CheckResult, ReadOnly } from '../core/result.js';
import { concludeCheck, type PlannedCheck, planChecks, requestOf } from '../core/scenario/checks.js';
import type { Scenario } from '../core/scenario/model.js';
import { skippedResult } from '../core/settle.js';
import type { SubjectView } from '../core/subject-view.js';
import type { MatchRequest, RunOutcome, Verdict } from '../core/validators/validator.js';
import type { Matcher } from '../ports/matcher.js';
import type { PackJob } from '../ports/queue.js';
import { checkResult } from './check-result.js';
import { givenUp } from './given-up.js';
import { guarded } from './guarded.js';
import { type PlaybookDeps, runPlaybook } from './playbook.js';

export interface JudgeDeps extends PlaybookDeps {
  matcher: Matcher;
  worker: string;
  /** Stalls after which a single check is given up as an error (DESIGN 5.3). */
  poisonousAfter: number;
}

interface Work {
  entry: ManifestEntry;
  check: PlannedCheck;
  position: number;
  view: SubjectView;
  scenario: Scenario;
}

/** Results of one evaluation, from its first check in this pack on. */
export interface Share {
  position: number;
  firstCheck: number;
  results: (CheckResult | undefined)[];
}

/** Whether a pack stalled so often that its checks are not run again. */
export const isPoisonous = ({ poisonousAfter }: Pick<JudgeDeps, 'poisonousAfter'>, job: PackJob): boolean =>
  job.stalled >= poisonousAfter;

/** Runs the checks of a pack of scenarios. */
export class PackJudge {
  readonly #deps: JudgeDeps;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
  }

  /** Results of these evaluations of a pack, as far as their checks are this pack's. */
  async judge(
    job: PackJob,
    chunk: Chunk,
    entries: ManifestEntry[],
    scenarios: Map<string, Scenario>,
    views: Map<string, SubjectView>,
  ): Promise<Share[]> {
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
      if (isPoisonous(this.#deps, job)) {
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
      const ran = isPoisonous(this.#deps, job) ? undefined : await runPlaybook(this.#deps, work, job.signal);
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
    readOnly?: ReadOnly,
  ): CheckResult {
    const { value, failure } = guarded(() => concludeCheck(work.check, work.view, outcome));
    const verdict: Verdict = value ?? {
      outcome: 'error',
      message: failure?.message ?? 'no verdict',
      data: {},
    };
    return checkResult(job, this.#deps.worker, verdict, ms, readOnly);
  }

  #gone(job: PackJob, entry: ManifestEntry): CheckResult {
    const message = `the subject ${entry.subject.slice(0, 12)} is no longer stored`;
    const verdict: Verdict = { outcome: 'error', message, data: { reason: 'subject_gone' } };
    return checkResult(job, this.#deps.worker, verdict, 0);
  }
}
