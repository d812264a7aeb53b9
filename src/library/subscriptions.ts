import type { EventData } from '../core/event-schemas.js';
import { EVENT_PREFIX, EVENT_VERSION, type EventName } from '../core/events.js';
import type { Outbox } from '../ports/store.js';

interface EventOf<N extends EventName> {
  /** Always the same for the same event: drop repeats by it. */
  id: string;
  /** Short name, such as `plan.retry.requested`. */
  name: N;
  /** Plan, evaluation or batch that it is about. */
  subject: string;
  /** ISO 8601. */
  time: string;
  data: EventData<N>;
}

/** An event as a handler gets it; of several names, `name` tells which data it has. */
export type FleetEvent<N extends EventName = EventName> = { [K in N]: EventOf<K> }[N];

export type EventHandler<N extends EventName> = (event: FleetEvent<N>) => unknown;

/** Hears of a handler that threw, with its event; without an event, of trouble in following them. */
export type ErrorHandler = (error: Error, event?: FleetEvent) => unknown;

interface Subscription {
  names: ReadonlySet<string>;
  handler: (event: FleetEvent) => unknown;
}

const PAGE = 200;
const WAIT_MS = 500;

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/**
 * Follows the outbox for handlers in this process, one event after the other, from the moment of the
 * first subscription. A handler that throws is told to `onError`, and so is, each time that it begins,
 * trouble in reading events; the events go on. `pauseMs`: milliseconds between tries.
 */
export class Subscriptions {
  readonly #outbox: Outbox;
  readonly #onError: ErrorHandler;
  readonly #pauseMs: number;
  readonly #subscriptions = new Set<Subscription>();
  #pump: Promise<void> | undefined;
  #closed = false;
  #handling = false;

  constructor(outbox: Outbox, onError: ErrorHandler, pauseMs = WAIT_MS) {
    this.#outbox = outbox;
    this.#onError = onError;
    this.#pauseMs = pauseMs;
  }

  /** Returns what ends the subscription. */
  on<N extends EventName>(names: readonly N[], handler: EventHandler<N>): () => void {
    const subscription: Subscription = {
      names: new Set(names),
      handler: handler as unknown as (event: FleetEvent) => unknown,
    };
    this.#subscriptions.add(subscription);
    this.#pump ??= this.#follow(this.#outbox.lastEvent());
    return () => this.#subscriptions.delete(subscription);
  }

  async #follow(first: Promise<string>): Promise<void> {
    let from: Promise<string> | undefined = first;
    let cursor: string | undefined;
    let troubled = false;
    while (!this.#closed) {
      try {
        cursor ??= await (from ?? this.#outbox.lastEvent());
        const entries = await this.#outbox.events(cursor, PAGE, WAIT_MS);
        troubled = false;
        for (const { position, event } of entries) {
          await this.#hand(event.json);
          cursor = position;
          if (this.#closed) return;
        }
      } catch (error) {
        if (this.#closed) return;
        from = undefined;
        if (!troubled) this.#onError(asError(error));
        troubled = true;
        await new Promise((resolve) => setTimeout(resolve, this.#pauseMs));
      }
    }
  }

  async #hand(json: string): Promise<void> {
    const { id, type, subject, time, data } = JSON.parse(json) as FleetEvent & { type: string };
    const name = type.slice(EVENT_PREFIX.length, -EVENT_VERSION.length) as EventName;
    const event = { id, name, subject, time, data } as FleetEvent;
    for (const { names, handler } of [...this.#subscriptions]) {
      if (!names.has(name)) continue;
      this.#handling = true;
      try {
        await handler(event);
      } catch (error) {
        this.#onError(asError(error), event);
      } finally {
        this.#handling = false;
      }
    }
  }

  /** No handler is called any more; one that runs is not waited for, since it may be the one that closes. */
  async close(): Promise<void> {
    this.#closed = true;
    if (!this.#handling) await this.#pump;
  }
}
