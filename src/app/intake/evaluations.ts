import { idFrom } from '../../core/digest.js';
import type { EvaluationDocument, IndexedEvaluation } from '../../core/document.js';
import { acceptedEvent } from '../../core/evaluation-events.js';
import type { Chunk, EvaluationOptions } from '../../core/manifest.js';
import { largeMark, planPacks } from '../../core/packing.js';
import { type Problem, SluiceError, show } from '../../core/problem.js';
import type { Scenario } from '../../core/scenario/model.js';
import type { Clock } from '../../ports/clock.js';
import type { WorkQueue } from '../../ports/queue.js';
import type { ReferenceReader } from '../../ports/references.js';
import type { Blob, Store } from '../../ports/store.js';
import { blobsOf } from '../opening.js';
import type { Pressure } from '../pressure.js';
import { EvaluationReader } from '../read.js';
import { checkPlaces } from '../scenarios.js';
import { type GivenEvaluation, readEvaluation } from './given.js';
import type { EvaluationAnswer, EvaluationRequest, EvaluationStatus } from './requests.js';

export interface EvaluationIntakeSettings {
  fleet: string;
  /** Milliseconds after acceptance at which what is missing is decided as an error. */
  deadlineMs: number;
  /** Milliseconds that an evaluation and its evidence are kept once it is decided. */
  retentionMs: number;
  /** Milliseconds after which an accepted evaluation is looked at by the sweeper. */
  checkAfterMs: number;
  informationalErrors: EvaluationOptions['informationalErrors'];
  requireEnforced: boolean;
}

export interface EvaluationIntakeDeps {
  store: Store;
  queue: WorkQueue;
  clock: Clock;
  /** Absent: the fleet is never too full. */
  pressure?: Pick<Pressure, 'assertRoom'>;
  references: ReferenceReader;
  settings: EvaluationIntakeSettings;
}

/** Characters of who acts: it stands in every event. */
export const MOST_ACTOR = 256;

/** Takes requests to judge one run, and tells how evaluations stand. */
export class EvaluationIntake {
  readonly #deps: EvaluationIntakeDeps;
  readonly #reader: EvaluationReader;

  constructor(deps: EvaluationIntakeDeps) {
    this.#deps = deps;
    this.#reader = new EvaluationReader(deps.store);
  }

  /**
   * Accepts an evaluation: one, however often the same origin and key ask for it. Throws INVALID_REQUEST
   * or BAD_REFERENCE with every problem, IDEMPOTENCY_CONFLICT when it was asked for with other content,
   * UNAVAILABLE when a reference cannot be had now, the outbox is full or too much waits.
   */
  async submit(request: EvaluationRequest): Promise<EvaluationAnswer> {
    assertNamed(request);
    await this.#deps.pressure?.assertRoom();
    const given = await readEvaluation(request, this.#deps.references);
    const chunk = this.#chunkOf(request, given);
    const { store, clock, settings } = this.#deps;
    const leaseUntil = chunk.deadline + settings.retentionMs;
    const answer = await store.evaluations.accept(
      chunk,
      blobsFor(given),
      [
        acceptedEvent(
          settings.fleet,
          chunk,
          chunk.evaluations[0] as Chunk['evaluations'][number],
          given.scenario.key,
        ),
      ],
      clock.now() + settings.checkAfterMs,
      leaseUntil,
    );
    if (answer.accepted) {
      await this.#enqueue(chunk, given.scenario);
      return { evaluation: chunk.id, repeated: false };
    }
    if (answer.reason !== 'standing')
      throw new SluiceError(
        'UNAVAILABLE',
        'The outbox is full: no sink takes its events. Nothing was accepted.',
      );
    return this.#standing(chunk, given.scenario);
  }

  /** How an evaluation of a run stands, of a batch or by itself; undefined: there is none, or it is a plan's. */
  async status(id: string): Promise<EvaluationStatus | undefined> {
    const { evaluations, unserved } = this.#deps.store;
    const [place] = await evaluations.locate([id]);
    const chunk = place === undefined ? undefined : (await evaluations.chunk(place.chunk))?.chunk;
    const entry = chunk?.evaluations[place?.position ?? -1];
    if (chunk === undefined || entry === undefined || chunk.plan !== undefined) return undefined;
    const [decided] = await this.#reader.ofChunk(chunk.id, [place?.position ?? 0]);
    const [mark] = decided === undefined ? await unserved.list(1, [chunk.id]) : [];
    return {
      id,
      state: decided === undefined ? 'pending' : 'decided',
      batch: chunk.batch === '' ? null : chunk.batch,
      actor: chunk.actor ?? null,
      run: entry.run,
      case: entry.case,
      acceptedAt: chunk.acceptedAt,
      deadline: chunk.deadline,
      decision: decided === undefined ? null : withoutIndex(decided),
      unserved: mark === undefined ? null : { needs: mark.needs, since: mark.since },
    };
  }

  #chunkOf(request: EvaluationRequest, { scenario, run, subject }: GivenEvaluation): Chunk {
    const { clock, settings } = this.#deps;
    const id = evaluationOf(request);
    const now = clock.now();
    const options = {
      strict: request.strict ?? false,
      from: request.from ?? 'direct',
      informationalErrors: settings.informationalErrors,
      ...(settings.requireEnforced ? { requireEnforced: true } : {}),
    };
    return {
      id,
      batch: '',
      attempt: 1,
      options,
      deadline: now + settings.deadlineMs,
      acceptedAt: now,
      evaluations: [
        {
          id,
          index: 0,
          run: run.id,
          case: run.case ?? run.id,
          scenario: scenario.digest,
          subject: subject.digest,
        },
      ],
      actor: request.actor,
      single: { correlation: request.correlation ?? id, retentionMs: settings.retentionMs },
      ...largeMark([checkPlaces(scenario, options)]),
    };
  }

  async #enqueue(chunk: Chunk, scenario: Scenario): Promise<void> {
    await this.#deps.queue.enqueue(chunk, 1, planPacks([checkPlaces(scenario, chunk.options)], 'auto'));
  }

  /** It was accepted before: by another request, or by this one, whose first answer was lost on the way. */
  async #standing(chunk: Chunk, scenario: Scenario): Promise<EvaluationAnswer> {
    const stands = (await this.#deps.store.evaluations.chunk(chunk.id))?.chunk;
    if (stands !== undefined && contentOf(stands) !== contentOf(chunk))
      throw new SluiceError(
        'IDEMPOTENCY_CONFLICT',
        `Evaluation ${chunk.id} was asked for before with other content under the same key.`,
      );
    // Then nobody has enqueued it; to do so twice is to do it once.
    if (JSON.stringify(stands) === JSON.stringify(chunk)) await this.#enqueue(chunk, scenario);
    return { evaluation: chunk.id, repeated: true };
  }
}

function withoutIndex({ index: _index, ...document }: IndexedEvaluation): EvaluationDocument {
  return document;
}

/** The same origin and key are the same evaluation. */
function evaluationOf({ origin, key }: Pick<EvaluationRequest, 'origin' | 'key'>): string {
  return idFrom('evaluation', '', origin, key);
}

/** What a request says, apart from who asks and when. */
function contentOf({ evaluations, options }: Chunk): string {
  const [entry] = evaluations;
  return JSON.stringify([
    entry?.scenario,
    entry?.subject,
    entry?.run,
    entry?.case,
    options.strict,
    options.from,
  ]);
}

function assertNamed({ origin, key, actor }: EvaluationRequest): void {
  const problems: Problem[] = [];
  if (origin === '') problems.push({ path: 'origin', message: 'must not be empty' });
  if (key === '') problems.push({ path: 'key', message: 'must not be empty' });
  if (actor === '' || actor.length > MOST_ACTOR)
    problems.push({ path: 'actor', message: `must have 1 to ${MOST_ACTOR} characters`, found: show(actor) });
  if (problems.length > 0) throw new SluiceError('INVALID_REQUEST', 'The request names nobody.', problems);
}

function blobsFor(given: GivenEvaluation): Blob[] {
  const { digest, json } = given.subject;
  return [...blobsOf([given]), { digest, content: json }];
}
