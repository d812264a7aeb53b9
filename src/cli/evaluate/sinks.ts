import { setTimeout as delay } from 'node:timers/promises';
import { shownEndpoint } from '../../../queues/endpoints.js';
import { openSinkReader, startDispatcher, startInlineDelivery } from '../../../workers/dispatcher.js';
import type { Role } from '../../../workers/lifecycle.js';
import { DEAD_AFTER_MS } from '../../../workers/lifecycle.js';
import type { SinkReader } from '../../app/deliver.js';
import { type Engine, errorLogger, type FleetEngine } from '../../compose.js';
import type { OutboxEvent } from '../../core/events.js';
import { SluiceError } from '../../core/problem.js';
import { isStdoutGone } from '../output.js';
import { type GivenSink, sinksOfSettings } from '../sink-problem.js';

const LOOK_EVERY_MS = 50;
/** A consumer that died holds what it claimed for 30 s; a batch that is called again waits it out. */
const DELIVERY_DEADLINE_MS = 60_000;
const CLOSE_MS = 5000;

interface BatchReader extends SinkReader {
  /** Without credentials. */
  option: string;
  isStdout: boolean;
  /** Ends with the batch; a configured sink's reader stays. */
  ofBatch: boolean;
}

/** A sink that lacks events of the batch. */
export interface LackingSink {
  option: string;
  /** It stands in the settings, not on the command line. */
  configured: boolean;
}

/** Whether an event belongs to a batch. */
export function isOfBatch(batch: string): (event: OutboxEvent) => boolean {
  return (event) => (JSON.parse(event.json) as { correlationid?: string }).correlationid === batch;
}

async function openReader(engine: Engine, given: GivenSink, batch: string | undefined): Promise<BatchReader> {
  const { path, setting } = given;
  const option = shownEndpoint(setting);
  const place = {
    fleet: engine.config.fleet,
    config: engine.config.delivery,
    onError: errorLogger(engine.log),
    ...(engine.kind === 'fleet' ? { redisUrl: (engine as FleetEngine).redisUrl } : {}),
  };
  const scope = batch === undefined ? undefined : { name: batch, wants: isOfBatch(batch) };
  try {
    const reader = await openSinkReader(setting, place, scope);
    return { ...reader, option, isStdout: setting.kind === 'stdout', ofBatch: batch !== undefined };
  } catch (error) {
    if (!(error instanceof SluiceError) || error.problems.length > 0) throw error;
    throw new SluiceError(error.code, error.message, [{ path, message: 'cannot be used', found: option }]);
  }
}

async function hasDispatcher(engine: Engine): Promise<boolean> {
  const alive = await engine.store.roster.alive(engine.clock.now() - DEAD_AFTER_MS);
  return alive.some(({ role }) => role === 'dispatcher');
}

/** What brings a batch's events to its `--sink`s, and to the configured ones when nobody else does. */
export class BatchSinks {
  readonly #engine: Engine;
  readonly #readers: readonly BatchReader[];
  readonly #stops: (() => Promise<void>)[] = [];

  private constructor(engine: Engine, readers: readonly BatchReader[]) {
    this.#engine = engine;
    this.#readers = readers;
  }

  /**
   * Opens the readers at the end of the outbox, before the batch is: nothing of it is missed. A batch
   * that stands undecided is read from the oldest event instead, unless an earlier call left its
   * reader, which keeps its place. Throws USAGE when a target cannot be used.
   */
  static async open(
    engine: Engine,
    sinks: readonly GivenSink[],
    batch: string,
    options: { configured: boolean },
  ): Promise<BatchSinks> {
    const readers: BatchReader[] = [];
    for (const sink of sinks) readers.push(await openReader(engine, sink, batch));
    const configured = options.configured ? sinksOfSettings(engine.config.sinks) : [];
    if (configured.length > 0 && !(await hasDispatcher(engine))) {
      for (const sink of configured) readers.push(await openReader(engine, sink, undefined));
    }
    const { outbox, batches } = engine.store;
    const unfinished = (await batches.batch(batch))?.state === 'open';
    const end = await outbox.lastEvent();
    for (const { name, ofBatch } of readers) await outbox.openReader(name, ofBatch && !unfinished ? end : '');
    const opened = new BatchSinks(engine, readers);
    await opened.#start();
    return opened;
  }

  async #start(): Promise<void> {
    if (this.#readers.length === 0) return;
    if (this.#engine.kind === 'fleet') {
      const role: Role = await startDispatcher(this.#engine as FleetEngine, this.#readers);
      this.#stops.push(() => role.stop());
      return;
    }
    const delivery = await startInlineDelivery(this.#engine, this.#readers);
    this.#stops.push(() => delivery.close());
  }

  /**
   * Waits until every event so far has arrived, at configured sinks too; answers with the sinks that
   * still lack some.
   */
  async settle(signal: AbortSignal): Promise<LackingSink[]> {
    const until = Date.now() + DELIVERY_DEADLINE_MS;
    const waiting = new Set(this.#readers);
    while (waiting.size > 0 && Date.now() < until && !signal.aborted) {
      for (const reader of waiting) {
        // A reader that went away (`| head`) has what it wanted.
        if (reader.isStdout && isStdoutGone()) waiting.delete(reader);
        else if ((await this.#engine.store.outbox.outstanding(reader.name)) === 0) waiting.delete(reader);
      }
      if (waiting.size > 0) await delay(LOOK_EVERY_MS);
    }
    return [...waiting].map(({ option, ofBatch }) => ({ option, configured: !ofBatch }));
  }

  /** Stops delivery. `done`: the batch's readers are removed; else they keep their place for the next call. */
  async close(done: boolean): Promise<void> {
    const stopped = Promise.allSettled(this.#stops.map((stop) => stop()));
    await Promise.race([stopped, delay(CLOSE_MS, undefined, { ref: false })]);
    if (!done) return;
    const { outbox, sinks } = this.#engine.store;
    for (const { name, ofBatch } of this.#readers) {
      if (!ofBatch) continue;
      await outbox.closeReader(name);
      await sinks.remove(name);
      await this.#forgetQueues(name);
    }
  }

  /** Each batch has readers, and with them queues, of its own: what they leave would stay for good. */
  async #forgetQueues(name: string): Promise<void> {
    if (this.#engine.kind !== 'fleet') return;
    const { redisUrl: url, config, trouble } = this.#engine as FleetEngine;
    const { forgetDelivery } = await import('../../../queues/delivery/forget.js');
    await forgetDelivery({ url, fleet: config.fleet }, name, trouble);
  }
}
