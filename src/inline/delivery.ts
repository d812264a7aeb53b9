import { setTimeout as delay } from 'node:timers/promises';
import type { DeliveryTask, Pace, SinkDelivery } from '../ports/delivery.js';

/** Tasks that wait, above which nothing more is claimed. */
const ENOUGH = 20;
const CONSUMER = 'inline';
const CLAIM_WAIT_MS = 100;
/** The one consumer there is never loses the lead. */
const LEAD_MS = 86_400_000;

/** Holds what is sent to so many events a second. */
function paceOf(rate: number | undefined, ending: AbortSignal): Pace {
  if (rate === undefined) return async () => true;
  let free = 0;
  return async (events) => {
    const now = Date.now();
    const at = Math.max(now, free);
    free = at + (events * 1000) / rate;
    if (at > now) await delay(at - now, undefined, { signal: ending }).catch(() => {});
    return !ending.aborted;
  };
}

/** Brings the outbox to one sink, in this process and without a queue: one delivery after the other. */
export class InlineDelivery {
  readonly #delivery: SinkDelivery;
  readonly #pace: Pace;
  readonly #done: Promise<void>;
  readonly #closing = new AbortController();
  readonly #cutting = new AbortController();
  /** What waits, the next one to be tried first. */
  #tasks: { task: DeliveryTask; at: number }[] = [];

  constructor(delivery: SinkDelivery) {
    this.#delivery = delivery;
    this.#pace = paceOf(delivery.rate, this.#closing.signal);
    this.#done = this.#run();
  }

  #add(tasks: readonly { task: DeliveryTask; afterMs: number }[]): void {
    const now = Date.now();
    this.#tasks.push(...tasks.map(({ task, afterMs }) => ({ task, at: now + afterMs })));
    this.#tasks.sort((a, b) => a.at - b.at);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const [next] = this.#tasks;
      if (next !== undefined && next.at <= Date.now()) {
        this.#tasks.shift();
        await this.#deliver(next.task);
      } else if (next !== undefined && (this.#delivery.order === 'subject' || this.#tasks.length >= ENOUGH))
        await delay(next.at - Date.now(), undefined, { signal }).catch(() => {});
      else await this.#claim(next?.at);
    }
  }

  async #claim(until = Number.POSITIVE_INFINITY): Promise<void> {
    const waitMs = Math.max(1, Math.min(CLAIM_WAIT_MS, until - Date.now()));
    const settings = { waitMs, leadMs: LEAD_MS, idle: this.#tasks.length === 0 };
    await this.#delivery.claim(CONSUMER, settings, async (pages) =>
      this.#add(pages.map(({ positions }) => ({ task: { positions }, afterMs: 0 }))),
    );
  }

  async #deliver(task: DeliveryTask): Promise<void> {
    const step = await this.#delivery.deliver(task, this.#cutting.signal, this.#pace);
    if (step.kind === 'again') this.#add(step.tasks);
  }

  /** Claims nothing more, ends a wait for the sink, and lets go of what it has in hand after `deadlineMs`. */
  async close(deadlineMs = 5000): Promise<void> {
    this.#closing.abort();
    await this.#delivery.stop(CONSUMER);
    const timer = setTimeout(() => this.#cutting.abort(), deadlineMs);
    await this.#done;
    clearTimeout(timer);
    await this.#delivery.close();
  }
}
