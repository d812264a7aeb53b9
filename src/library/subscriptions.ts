import { EVENT_PREFIX, EVENT_VERSION, type EventName } from '../core/events.js';
import type { EventData } from '../core/plan/events.js';
import type { Outbox } from '../ports/store.js';

/** An event as a handler gets it: a CloudEvent whose data has the shape of its type. */
export interface FleetEvent<N extends EventName = EventName> {
  id: string;
  /** Short name, such as `plan.retry.requested`. */
  name: N;
  /** Plan, evaluation or batch that it is about. */
  subject: string;
  /** ISO 8601. */
  time: string;
  data: EventData<N>;
}

export type EventHandler<N extends EventName> = (event: FleetEvent<N>) => unknown;

interface Subscription {
  names: ReadonlySet<string>;
  handler: (event: FleetEvent) => unknown;
}

const PAGE = 200;
const WAIT_MS = 500;

/**
 * Follows the outbox for handlers in this process, one event after the other, from the moment of the
 * first subscription. A handler that throws is told to `onError`; the events go on.
 */
export class Subscriptions {
  readonly #outbox: Outbox;
  readonly #onError: (error: Error) => void;
  readonly #subscriptions = new Set<Subscription>();
  #pump: Promise<void> | undefined;
  #closed = false;
  #handling = false;

  constructor(outbox: Outbox, onError: (error: Error) => void) {
    this.#outbox = outbox;
    this.#onError = onError;
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

  async #follow(from: Promise<string>): Promise<void> {
    let cursor: string | undefined;
    while (!this.#closed) {
      try {
        cursor ??= await from;
        const entries = await this.#outbox.events(cursor, PAGE, WAIT_MS);
        for (const { position, event } of entries) {
          await this.#hand(event.json);
          cursor = position;
          if (this.#closed) return;
        }
      } catch (error) {
        if (this.#closed) return;
        this.#onError(error as Error);
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      }
    }
  }

  async #hand(json: string): Promise<void> {
    const { id, type, subject, time, data } = JSON.parse(json) as FleetEvent & { type: string };
    const name = type.slice(EVENT_PREFIX.length, -EVENT_VERSION.length) as EventName;
    for (const { names, handler } of [...this.#subscriptions]) {
      if (!names.has(name)) continue;
      this.#handling = true;
      try {
        await handler({ id, name, subject, time, data });
      } catch (error) {
        this.#onError(error as Error);
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
