import type { Backlog, QueueBacklog } from '../ports/backlog.js';
import type { Clock } from '../ports/clock.js';
import type { Figures, FleetFigures } from '../ports/figures.js';
import type { LivingRole, Store } from '../ports/store.js';
import { type Family, FLEET } from './families.js';
import { LETTER_DIRECTIONS, QUEUE_NAMES, ROLE_NAMES, SINK_STATES } from './label-values.js';
import type { Written } from './recorder.js';

/** Milliseconds in which Redis must have answered, and for which an answer is used. */
const ANSWER_MS = 2000;
const FRESH_MS = 1000;

/** Where the gauges of a fleet come from. */
export interface FleetPlaces {
  figures: Figures;
  backlog: Pick<Backlog, 'read' | 'close'>;
  store: {
    letters: Pick<Store['letters'], 'counts'>;
    sinks: Pick<Store['sinks'], 'list'>;
    roster: Pick<Store['roster'], 'alive'>;
  };
  clock: Clock;
  /** Milliseconds since its last heartbeat after which a process is dead. */
  deadAfterMs: number;
  /** Workers that this work asks for; absent: nobody knows. */
  wanted?: () => Promise<number>;
}

const seconds = (ms: number) => Math.max(0, ms) / 1000;

const one = (family: Family, value: number): Written => ({ family, series: [[[], value]] });

function queueGauges(backlog: readonly QueueBacklog[]): Written[] {
  const known = backlog.filter(({ queue }) => (QUEUE_NAMES as readonly string[]).includes(queue));
  const of = (family: Family, value: (one: QueueBacklog) => number): Written => ({
    family,
    series: known.map((each) => [[each.queue, String(each.shard)], value(each)]),
  });
  return [
    of(FLEET.waiting, ({ waiting }) => waiting),
    of(FLEET.active, ({ active }) => active),
    of(FLEET.delayed, ({ delayed }) => delayed),
    of(FLEET.oldest, ({ oldestMs = 0 }) => seconds(oldestMs)),
  ];
}

function storeGauges({ openChunks, outbox, undelivered, memory }: FleetFigures, now: number): Written[] {
  return [
    one(FLEET.chunks, openChunks),
    { family: FLEET.outbox, series: outbox.map(({ shard, entries }) => [[String(shard)], entries]) },
    {
      family: FLEET.undelivered,
      series: undelivered.map(({ sink, since = now }) => [[sink], seconds(now - since)]),
    },
    one(FLEET.memory, memory.used),
    one(FLEET.maxMemory, memory.max),
  ];
}

type Sinks = Awaited<ReturnType<Store['sinks']['list']>>;
type Letters = Awaited<ReturnType<Store['letters']['counts']>>;

function deliveryGauges(sinks: Sinks, letters: Letters): Written[] {
  const lettersIn = (direction: string) =>
    letters.reduce((sum, each) => sum + (each.direction === direction ? each.count : 0), 0);
  return [
    {
      family: FLEET.sinkState,
      series: sinks.flatMap(({ name, state }) =>
        SINK_STATES.map((each): Written['series'][number] => [[name, each], Number(each === state)]),
      ),
    },
    { family: FLEET.letters, series: LETTER_DIRECTIONS.map((each) => [[each], lettersIn(each)]) },
  ];
}

function roleGauge(alive: readonly LivingRole[]): Written {
  const count = (role: string) => alive.filter((each) => each.role === role).length;
  return { family: FLEET.workers, series: ROLE_NAMES.map((role) => [[role], count(role)]) };
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('Redis did not answer in time')), ANSWER_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

/**
 * Gauges of a fleet, read at most once a second and one read at a time, however many ask: commands that wait
 * for a Redis which is away would pile up otherwise.
 */
export class FleetGauges {
  readonly #places: FleetPlaces;
  #last: { at: number; gauges: Written[] } | undefined;
  #reading: Promise<Written[]> | undefined;

  constructor(places: FleetPlaces) {
    this.#places = places;
  }

  /** Only that Redis is away, when it does not answer in time. Does not throw. */
  async read(): Promise<Written[]> {
    const { clock } = this.#places;
    if (this.#last !== undefined && clock.now() - this.#last.at < FRESH_MS) return this.#last.gauges;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    try {
      const gauges = await inTime(this.#reading);
      this.#last = { at: clock.now(), gauges };
      return gauges;
    } catch {
      return [one(FLEET.up, 0)];
    }
  }

  async close(): Promise<void> {
    this.#places.figures.close();
    await this.#places.backlog.close();
  }

  async #read(): Promise<Written[]> {
    const { figures, backlog, store, clock, deadAfterMs, wanted } = this.#places;
    const now = clock.now();
    // It alone gives up when Redis is away, and does so before anything waits there.
    const stored = await figures.read();
    const [waiting, sinks, letters, alive, workers] = await Promise.all([
      backlog.read(),
      store.sinks.list(),
      store.letters.counts(),
      store.roster.alive(now - deadAfterMs),
      wanted?.(),
    ]);
    return [
      ...queueGauges(waiting),
      ...storeGauges(stored, now),
      ...deliveryGauges(sinks, letters),
      roleGauge(alive),
      ...(workers === undefined ? [] : [one(FLEET.wanted, workers)]),
      one(FLEET.up, 1),
    ];
  }
}
