import { LRUCache } from 'lru-cache';
import type { Chunk } from '../../core/manifest.js';
import { splitPack } from '../../core/packing.js';
import { checkPlacesOf } from '../../core/plan/manifest.js';
import type { PlanCheck } from '../../core/plan/model.js';
import { parseTool } from '../../core/registry/closure.js';
import type { ResolvedTool } from '../../core/registry/model.js';
import { type Need, needsOf, unservedOf } from '../../core/registry/needs.js';
import type { CheckResult, Outcome, ReadOnly } from '../../core/result.js';
import { packRows, TextTable } from '../../core/results-codec.js';
import { requiredBy } from '../../core/routing.js';
import type { Verdict } from '../../core/validators/validator.js';
import type { Meter } from '../../ports/meter.js';
import type { PackAnswer, PackJob } from '../../ports/queue.js';
import type { EvaluationStore } from '../../ports/store.js';
import { checkResult } from '../check-result.js';
import { samplesOfPlan } from '../check-samples.js';
import { givenUp } from '../given-up.js';
import { guarded } from '../guarded.js';
import { noRunner, type Serving } from '../serving.js';
import type { ToolAnswer, ToolCaller } from '../tools.js';

export interface PlanExecutorDeps extends Serving {
  store: Pick<EvaluationStore, 'blobs' | 'record'>;
  tools: Pick<ToolCaller, 'call' | 'close'>;
  worker: string;
  meter?: Meter | undefined;
  /** Stalls after which a single check is given up as an error (DESIGN 5.3). */
  poisonousAfter: number;
}

const TOOLS_KEPT = 500;
/** Bytes of snapshots that a worker keeps parsed. */
const SNAPSHOT_BYTES = 32 * 1024 * 1024;
/** Checks of one pack that run at a time. */
const AT_A_TIME = 4;

/** A snapshot may be any JSON, null included. */
interface Snapshot {
  value: unknown;
}

/** What the checks of a pack refer to, by digest; what is gone is absent. */
interface Evidence {
  tools: Map<string, ResolvedTool>;
  snapshots: Map<string, Snapshot>;
}

/** Runs the checks of plans: validations against snapshots, by the version that the manifest names. */
export class PlanExecutor {
  readonly #deps: PlanExecutorDeps;
  readonly #tools = new LRUCache<string, ResolvedTool>({ max: TOOLS_KEPT });
  readonly #snapshots = new LRUCache<string, Snapshot>({
    maxSize: SNAPSHOT_BYTES,
    maxEntrySize: SNAPSHOT_BYTES,
  });

  constructor(deps: PlanExecutorDeps) {
    this.#deps = deps;
  }

  /** Runs a pack of a plan's chunk. Throws when the worker is to stop: nothing is recorded then. */
  async run(job: PackJob, chunk: Chunk): Promise<PackAnswer> {
    const manifest = chunk.plan;
    if (manifest === undefined) return { kind: 'done' };
    const packs = () => splitPack(job.pack, [checkPlacesOf(manifest)]);
    if (job.stalled > 0 && packs().length > 0) return { kind: 'split', packs: packs() };
    const range = job.pack.checks ?? { from: 0, to: manifest.checks.length };
    const checks = manifest.checks.slice(range.from, range.to);
    const evidence = await this.#evidence(checks.filter(({ runner }) => runner === job.pack.queue));
    const needs = this.#left(job, evidence);
    // Each goes its own way then: no worker may have what all of them need.
    if (needs.length > 0) {
      const alone = packs();
      return alone.length > 0 ? { kind: 'split', packs: alone } : { kind: 'unserved', needs };
    }
    const results = await this.#results(job, checks, evidence);
    const table = new TextTable();
    const rows = packRows(table, results);
    const evaluations = [{ position: job.pack.from, firstCheck: range.from, rows }];
    await this.#deps.store.record(chunk.id, { texts: table.texts, evaluations });
    this.#deps.meter?.checks(samplesOfPlan(checks, results, evidence.tools));
    return { kind: 'done' };
  }

  /** Waits for calls that were told to stop, and ends what tools keep. */
  close(): Promise<void> {
    return this.#deps.tools.close();
  }

  /** What the checks need that this worker leaves to another; none: it runs them. */
  #left(job: PackJob, { tools }: Evidence): Need[] {
    const { serves, unserved, poisonousAfter } = this.#deps;
    if (job.pack.queue === 'pure' || unserved === 'error' || job.stalled >= poisonousAfter) return [];
    const lacking = [...tools.values()].map(needsOf).filter((needs) => unservedOf(needs, serves).length > 0);
    return [...new Set(lacking.flat())].sort();
  }

  /** By position in the range; checks of the other queue have none. */
  async #results(
    job: PackJob,
    checks: readonly PlanCheck[],
    evidence: Evidence,
  ): Promise<(CheckResult | undefined)[]> {
    const results: (CheckResult | undefined)[] = checks.map(() => undefined);
    const mine = [...checks.entries()].filter(([, { runner }]) => runner === job.pack.queue);
    const lane = async () => {
      for (let next = mine.shift(); next !== undefined; next = mine.shift()) {
        const [at, check] = next;
        results[at] = await this.#check(job, check, evidence);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, lane));
    return results;
  }

  async #evidence(checks: readonly PlanCheck[]): Promise<Evidence> {
    const tools = kept(
      this.#tools,
      checks.map(({ version }) => version),
    );
    const snapshots = kept(
      this.#snapshots,
      checks.map(({ subject }) => subject),
    );
    const wanted = [...tools.missing, ...snapshots.missing];
    const contents = wanted.length === 0 ? [] : await this.#deps.store.blobs(wanted);
    wanted.forEach((digest, i) => {
      const json = contents[i];
      if (json === undefined) return;
      if (i < tools.missing.length) {
        const tool = guarded(() => parseTool(json)).value;
        if (tool === undefined) return;
        tools.found.set(digest, tool);
        this.#tools.set(digest, tool);
      } else {
        const snapshot = guarded(() => ({ value: JSON.parse(json) as unknown })).value;
        if (snapshot === undefined) return;
        snapshots.found.set(digest, snapshot);
        this.#snapshots.set(digest, snapshot, { size: json.length + 1 });
      }
    });
    return { tools: tools.found, snapshots: snapshots.found };
  }

  async #check(job: PackJob, check: PlanCheck, evidence: Evidence): Promise<CheckResult> {
    const { worker, poisonousAfter } = this.#deps;
    if (job.stalled >= poisonousAfter) return givenUp(job, worker);
    const tool = evidence.tools.get(check.version);
    const snapshot = evidence.snapshots.get(check.subject);
    if (tool === undefined) {
      const message = `version ${check.version.slice(0, 12)} of ${check.validation} is no longer stored`;
      return checkResult(job, this.#deps.worker, errorOf('validation_gone', message), 0);
    }
    if (snapshot === undefined) {
      const message = `the snapshot ${check.subject.slice(0, 12)} of ${check.resource} is no longer stored`;
      return checkResult(job, this.#deps.worker, errorOf('subject_gone', message), 0);
    }
    const needs = job.pack.queue === 'pure' ? [] : requiredBy(needsOf(tool));
    const lacking = unservedOf(needs, this.#deps.serves);
    if (lacking.length > 0)
      return checkResult(job, this.#deps.worker, noRunnerVerdict(check, lacking, this.#deps), 0);
    const { verdict, ms, readOnly } = await this.#judged(job, check, tool, snapshot);
    const confirmed = verdict.outcome === 'fail' && check.confirm > 0;
    const whole = confirmed ? await this.#confirmed(job, check, tool, snapshot, verdict) : verdict;
    return checkResult(job, this.#deps.worker, whole, ms, readOnly);
  }

  /** The failure with what came of running it again: a mixed one stays a failure (DESIGN 4.9). */
  async #confirmed(
    job: PackJob,
    check: PlanCheck,
    tool: ResolvedTool,
    snapshot: Snapshot,
    failed: Verdict,
  ): Promise<Verdict> {
    const confirmations: Outcome[] = [];
    for (let n = 0; n < check.confirm; n += 1) {
      const { verdict } = await this.#judged(job, check, tool, snapshot);
      confirmations.push(verdict.outcome);
    }
    const flaky = confirmations.some((outcome) => outcome !== 'fail');
    return { ...failed, data: { ...failed.data, confirmations, ...(flaky ? { flaky } : {}) } };
  }

  /** A check that throws is an error of its own; that the worker is to stop is none of its doing. */
  async #judged(
    job: PackJob,
    check: PlanCheck,
    tool: ResolvedTool,
    snapshot: Snapshot,
  ): Promise<{ verdict: Verdict; ms: number; readOnly: ReadOnly }> {
    const started = performance.now();
    let verdict: Verdict;
    let readOnly: ReadOnly = 'enforced';
    try {
      const { resource, slot } = check;
      const input = { args: check.arguments, subject: snapshot.value, resource, slot };
      const ran = await this.#deps.tools.call(tool, input, job.signal);
      verdict = verdictOf(check, ran.outcome);
      readOnly = ran.readOnly;
    } catch (error) {
      if (job.signal.aborted) throw error;
      verdict = errorOf('internal', `the check failed unexpectedly: ${(error as Error).message}`);
    }
    return { verdict, ms: performance.now() - started, readOnly };
  }
}

function kept<V extends object>(cache: LRUCache<string, V>, digests: readonly string[]) {
  const found = new Map<string, V>();
  const missing: string[] = [];
  for (const digest of new Set(digests)) {
    const known = cache.get(digest);
    if (known === undefined) missing.push(digest);
    else found.set(digest, known);
  }
  return { found, missing };
}

const errorOf = (reason: string, message: string, data: Record<string, unknown> = {}): Verdict => ({
  outcome: 'error',
  message,
  data: { ...data, reason },
});

function noRunnerVerdict({ validation }: PlanCheck, lacking: readonly Need[], serving: Serving): Verdict {
  const { reason, message } = noRunner(validation, lacking, serving);
  return errorOf(reason, message, { needs: lacking });
}

function verdictOf({ validation }: PlanCheck, answer: ToolAnswer): Verdict {
  if (answer.kind === 'verdict') return answer.verdict;
  if (answer.kind === 'failure') return errorOf(answer.reason, answer.message, answer.data);
  return errorOf('internal', `${validation} is a plain tool: its output says neither pass nor fail`);
}
