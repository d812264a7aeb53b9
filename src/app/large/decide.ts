import { ulid } from 'ulid';
import { decisionOf } from '../../core/decision.js';
import { RunningDigest } from '../../core/digest.js';
import { checkEvents, decisionEvents, type EventOptions } from '../../core/evaluation-events.js';
import { isPlainObject } from '../../core/json.js';
import { outlineOf } from '../../core/large/outline.js';
import { LargeSettling, type SettledPart } from '../../core/large/settling.js';
import type { Chunk, ManifestEntry } from '../../core/manifest.js';
import type { RuleResult } from '../../core/result.js';
import type { Clock } from '../../ports/clock.js';
import type { CommitAnswer, RecordedPage, Store } from '../../ports/store.js';
import { decidedAs } from '../decided-as.js';
import { firstResults } from '../recorded.js';

export interface LargeDeps {
  store: Pick<Store, 'evaluations'>;
  clock: Clock;
  fleet: string;
  events: EventOptions;
}

/** Advisories that the event tells of; it says how many there are. */
const ADVISORIES = 100;
/** Events of single checks that are written in one step. */
const EVENTS = 200;

/**
 * Decides the one evaluation of a large chunk with little memory, however many checks it has: results are read,
 * settled and stored a page at a time, and the last step is as small as that of any other. Events of single
 * checks, where they are wanted, are written on the way: once each, also when this is done again. Undefined when
 * its scenario is stored no longer.
 */
export async function decideLarge(
  deps: LargeDeps,
  chunk: Chunk,
  first: RecordedPage,
  retentionMs: number,
): Promise<CommitAnswer | undefined> {
  const { evaluations } = deps.store;
  const entry = chunk.evaluations[0] as ManifestEntry;
  const scenario = await outlineOf(evaluations.blobPieces(entry.scenario, chunk.id), entry.scenario);
  if (scenario === undefined) return undefined;
  const settling = new LargeSettling(scenario, chunk.options, chunk.attempt);
  const now = deps.clock.now();
  const teller = new CheckTeller(deps, chunk, scenario.key, now);
  const digest = new RunningDigest();
  const advisories: RuleResult[] = [];
  async function* stored(): AsyncGenerator<string> {
    for await (const { results, failing } of partsOf(deps, chunk, first, settling)) {
      const line = `${JSON.stringify(results)}\n`;
      digest.add(line);
      for (const result of failing)
        if (result.mode === 'informational' && advisories.length < ADVISORIES) advisories.push(result);
      await teller.tell(failing);
      yield line;
    }
  }
  const stage = ulid(now);
  await evaluations.stage(chunk.id, stage, stored(), Math.max(1, chunk.deadline - now + retentionMs));
  const decision = decisionOf(settling.judgement(), {
    scenarioKey: scenario.key,
    actor: chunk.actor ?? null,
    resultsDigest: digest.end(),
    decidedAt: now,
  });
  const events = decisionEvents(deps.fleet, chunk, entry, decision, advisories, { perCheck: false });
  const toCommit = decidedAs(decision, 0, entry.id, events);
  return evaluations.commit(chunk, stage, null, [toCommit], now, retentionMs);
}

/** What was recorded, settled page by page. */
async function* partsOf(
  { store }: LargeDeps,
  chunk: Chunk,
  first: RecordedPage,
  settling: LargeSettling,
): AsyncGenerator<SettledPart> {
  for (let page: RecordedPage | undefined = first; page !== undefined; ) {
    for (const pack of page.results) {
      const shares = isPlainObject(pack) && Array.isArray(pack.evaluations) ? pack.evaluations : [];
      for (const share of shares) {
        const results = firstResults([{ texts: pack.texts, evaluations: [share] }]).get(0);
        if (results !== undefined) yield* settling.take(share.firstCheck, results.slice(share.firstCheck));
      }
    }
    page = page.next === undefined ? undefined : await store.evaluations.recordedPage(chunk.id, page.next);
  }
  yield* settling.rest();
}

/** Writes the events of single checks in small steps, each once. */
class CheckTeller {
  readonly #deps: LargeDeps;
  readonly #chunk: Chunk;
  readonly #key: string;
  readonly #now: number;
  #told = 0;

  constructor(deps: LargeDeps, chunk: Chunk, key: string, now: number) {
    this.#deps = deps;
    this.#chunk = chunk;
    this.#key = key;
    this.#now = now;
  }

  async tell(failing: readonly RuleResult[]): Promise<void> {
    const { store, fleet, events } = this.#deps;
    if (!events.perCheck) return;
    const entry = this.#chunk.evaluations[0] as ManifestEntry;
    for (let from = 0; from < failing.length; from += EVENTS) {
      const some = failing.slice(from, from + EVENTS);
      const made = checkEvents(fleet, this.#chunk, entry, this.#key, this.#now, some);
      await store.evaluations.announce(this.#chunk.id, this.#told, made);
      this.#told += made.length;
    }
  }
}
