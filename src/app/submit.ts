import type { BatchRecord } from '../core/batch.js';
import { acceptedEvent } from '../core/evaluation-events.js';
import type { Turns } from '../core/fairness.js';
import type { Chunk, ManifestEntry } from '../core/manifest.js';
import {
  type CheckPlace,
  checksOf,
  childrenOf,
  chunkLimits,
  largeMark,
  MOST_CHILDREN,
  type Packing,
  planPacks,
  travelsAlone,
} from '../core/packing.js';
import type { Scenario } from '../core/scenario/model.js';
import { shardOf } from '../core/shards.js';
import type { StoredSubject } from '../core/subject.js';
import type { Clock } from '../ports/clock.js';
import type { WorkQueue } from '../ports/queue.js';
import type { Blob, Store } from '../ports/store.js';
import { assertSame, closedTo, otherContent } from './batch-conflicts.js';
import { evaluationId } from './opening.js';
import type { Pressure } from './pressure.js';
import { checkPlaces } from './scenarios.js';
import { DEFAULT_WINDOW, Window } from './window.js';

/** One run to be judged. */
export interface Submission {
  index: number;
  run: string;
  case: string;
  scenario: Scenario;
  subject: StoredSubject;
}

export interface SubmitSettings {
  fleet: string;
  packing: Packing;
  /** Number of runs where it is known; lets a small batch be spread over the workers. */
  expected?: number;
  /** Executors that will share the work. */
  workers: number;
  /** Milliseconds after acceptance at which what is missing is decided as an error. */
  deadlineMs: number;
  /** Milliseconds after which an accepted chunk is looked at by the sweeper. */
  checkAfterMs: number;
  /** Evaluations that the batch may have accepted and not decided; default 20,000. */
  window?: number;
  /** Who asks; absent: not known. */
  actor?: string;
}

export interface SubmitDeps {
  store: Store;
  queue: WorkQueue;
  clock: Clock;
  /** Absent: the fleet is never too full. */
  pressure?: Pick<Pressure, 'room'>;
  /** Once it fires, nothing waits for room any more. */
  signal?: AbortSignal;
  /** Told while runs wait for room, whenever something goes on. */
  moved?: () => void;
}

export interface SubmitReport {
  /** Evaluations accepted by this call. */
  accepted: number;
  /** Evaluations that the batch had accepted before. */
  standing: number;
}

/** Flows that are being written at the same time. */
const IN_FLIGHT = 4;
const OUTBOX_FULL_WAIT_MS = 200;

interface Pending {
  entries: { entry: ManifestEntry; subject: StoredSubject; scenario: Scenario; places: CheckPlace[] }[];
  bytes: number;
  children: number;
}

const empty = (): Pending => ({ entries: [], bytes: 0, children: 0 });

/** Accepts runs in chunks and enqueues them; memory stays flat however many come. */
export class Submitter {
  readonly #deps: SubmitDeps;
  readonly #settings: SubmitSettings;
  readonly #opening: BatchRecord;
  readonly #blobs: Blob[];
  readonly #bundleOf = new Map<string, string>();
  readonly #places = new Map<string, CheckPlace[]>();
  readonly #flights = new Set<Promise<void>>();
  readonly #report: SubmitReport = { accepted: 0, standing: 0 };
  readonly #window: Window;
  /** By shard: a chunk is of one. */
  readonly #pending = new Map<number, Pending>();
  #failure: unknown;

  /** `blobs`: the scenarios' JSON and the bundles, stored with every chunk that needs them. */
  constructor(deps: SubmitDeps, settings: SubmitSettings, opening: BatchRecord, blobs: readonly Blob[]) {
    this.#deps = deps;
    this.#settings = settings;
    this.#opening = opening;
    this.#blobs = [...blobs];
    this.#window = new Window(deps, settings.window ?? DEFAULT_WINDOW, opening);
  }

  async add(submission: Submission): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const { scenario, subject } = submission;
    let places = this.#places.get(scenario.digest);
    if (places === undefined) {
      places = checkPlaces(scenario, this.#opening.options);
      this.#places.set(scenario.digest, places);
      if (scenario.bundle !== undefined) this.#bundleOf.set(scenario.digest, scenario.bundle);
    }
    const entry: ManifestEntry = {
      id: evaluationId(this.#opening.id, scenario.key, submission.run),
      index: submission.index,
      run: submission.run,
      case: submission.case,
      scenario: scenario.digest,
      subject: subject.digest,
    };
    const shard = shardOf(entry.id, this.#deps.store.spread ?? 1);
    const pending = this.#pending.get(shard) ?? empty();
    const twin = pending.entries.find((each) => each.entry.id === entry.id);
    if (twin !== undefined) {
      if (twin.entry.subject !== entry.subject) throw otherContent(this.#opening.id, entry.run);
      this.#report.standing += 1;
      return;
    }
    const addition = { entry, subject, scenario, places };
    if (travelsAlone(places)) {
      await this.#launch({ entries: [addition], bytes: subject.json.length, children: 0 });
      return;
    }
    const limits = chunkLimits(this.#settings.expected, this.#settings.workers);
    const children = childrenOf(places, this.#settings.packing);
    const full =
      pending.entries.length >= limits.evaluations ||
      pending.bytes + subject.json.length > limits.bytes ||
      pending.children + children > MOST_CHILDREN;
    const isFull = full && pending.entries.length > 0;
    const next = isFull ? empty() : pending;
    next.entries.push(addition);
    next.bytes += subject.json.length;
    next.children += children;
    this.#pending.set(shard, next);
    if (isFull) await this.#launch(pending);
  }

  /** Everything given so far is accepted and enqueued when this resolves. */
  async finish(): Promise<SubmitReport> {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const each of pending) await this.#launch(each);
    await Promise.all(this.#flights);
    if (this.#failure !== undefined) throw this.#failure;
    return this.#report;
  }

  async #launch(pending: Pending): Promise<void> {
    while (this.#flights.size >= IN_FLIGHT) await Promise.race(this.#flights);
    const { pressure, signal, moved } = this.#deps;
    await pressure?.room(signal, moved);
    const { entries } = pending;
    const checks = checksOf(entries.map((entry) => entry.places));
    const turns = await this.#window.enter({ evaluations: entries.length, checks });
    if (this.#failure !== undefined) throw this.#failure;
    const flight = this.#accept(pending, turns)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#flights.delete(flight));
    this.#flights.add(flight);
  }

  async #accept(pending: Pending, turns: Turns | undefined): Promise<void> {
    const { store, queue, clock } = this.#deps;
    let entries = pending.entries;
    while (entries.length > 0) {
      const now = clock.now();
      const chunk = this.#chunkOf(entries, now, turns);
      const checkAt = now + this.#settings.checkAfterMs;
      const leaseUntil = chunk.deadline + this.#opening.retentionMs;
      const events = entries.map((e) => acceptedEvent(this.#settings.fleet, chunk, e.entry, e.scenario.key));
      const answer = await store.evaluations.accept(
        chunk,
        this.#blobsOf(entries),
        events,
        checkAt,
        leaseUntil,
      );
      if (answer.accepted) {
        this.#report.accepted += entries.length;
        const packs = planPacks(
          entries.map((e) => e.places),
          this.#settings.packing,
        );
        await queue.enqueue(chunk, 1, packs);
        return;
      }
      entries = await this.#afterRefusal(answer, entries);
    }
  }

  #chunkOf(entries: Pending['entries'], now: number, turns: Turns | undefined): Chunk {
    return {
      id: (entries[0] as Pending['entries'][number]).entry.id,
      batch: this.#opening.id,
      attempt: 1,
      options: this.#opening.options,
      deadline: now + this.#settings.deadlineMs,
      acceptedAt: now,
      evaluations: entries.map((e) => e.entry),
      ...(this.#settings.actor === undefined ? {} : { actor: this.#settings.actor }),
      ...(turns === undefined ? {} : { turns }),
      ...largeMark(entries.map((e) => e.places)),
    };
  }

  #blobsOf(entries: Pending['entries']): Blob[] {
    const wanted = new Set(entries.map((e) => e.scenario.digest));
    for (const digest of [...wanted]) {
      const bundle = this.#bundleOf.get(digest);
      if (bundle !== undefined) wanted.add(bundle);
    }
    const blobs = new Map(this.#blobs.filter((b) => wanted.has(b.digest)).map((b) => [b.digest, b]));
    for (const { subject } of entries)
      blobs.set(subject.digest, { digest: subject.digest, content: subject.json });
    return [...blobs.values()];
  }

  async #afterRefusal(
    answer: { reason: string; standing?: string[] },
    entries: Pending['entries'],
  ): Promise<Pending['entries']> {
    if (answer.reason === 'outbox_full') {
      await new Promise((resolve) => setTimeout(resolve, OUTBOX_FULL_WAIT_MS));
      return entries;
    }
    if (answer.reason === 'batch_closed') {
      const places = await this.#deps.store.evaluations.locate(entries.map((e) => e.entry.id));
      throw closedTo(
        this.#opening.id,
        entries.filter((_, i) => places[i] === undefined).map((e) => e.entry.run),
      );
    }
    const standing = new Set(answer.standing);
    const known = entries.filter((e) => standing.has(e.entry.id));
    await assertSame(
      this.#deps.store,
      this.#opening.id,
      known.map((e) => e.entry),
    );
    this.#report.standing += known.length;
    return entries.filter((e) => !standing.has(e.entry.id));
  }
}
