import type { Consumer, ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import type { IncomingMessage, Source, SourceContext, Take } from '../../src/ports/source.js';
import { readHeaders } from './cloudevent.js';
import type { StandingConnection } from './connection.js';
import { durableConsumer, type Subscription } from './consumer.js';
import { natsReason } from './trouble.js';

const FETCH_MS = 30_000;
/** A fetch whose server says nothing for two of these is over. */
const HEARTBEAT_MS = 5_000;
const PAUSE_MS = 1_000;
/**
 * What is let go comes again after this. Servers take requests of the last two seconds for alive whether
 * anybody listens or not, and would give it to one of ours.
 */
const LET_GO_MS = 2_500;

const messageOf = (message: JsMsg, stream: string): IncomingMessage => ({
  body: message.data,
  ...readHeaders(message.headers ?? []),
  place: `stream ${stream}, sequence ${message.seq}`,
});

/** Fetches as many messages as may still be taken in hand, from a consumer that is made anew when it is gone. */
export class NatsSource implements Source {
  readonly #connection: StandingConnection;
  readonly #subscription: Subscription & { timeout: number };
  readonly #context: SourceContext;
  readonly #take: Take;
  readonly #held = new Set<JsMsg>();
  readonly #fetches = new Set<ConsumerMessages>();
  /** Messages that were asked for and have not come. */
  #asked = 0;
  #isClosing = false;
  #told = '';
  /** Ends a pause. */
  #wake = () => {};
  /** Looks whether more can be fetched. */
  #drawMore = () => {};
  #letGo = () => {};

  constructor(
    connection: StandingConnection,
    subscription: Subscription & { timeout: number },
    context: SourceContext,
    take: Take,
  ) {
    this.#connection = connection;
    this.#subscription = subscription;
    this.#context = context;
    this.#take = take;
    void this.#run();
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isClosing = true;
    this.#wake();
    for (const fetch of this.#fetches) void fetch.close();
    if (this.#held.size > 0) await this.#emptyHanded(deadlineMs);
    for (const message of this.#held) quietly(() => message.nak(LET_GO_MS));
    await this.#connection.close();
  }

  #emptyHanded(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      this.#letGo = () => {
        if (this.#held.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #run(): Promise<void> {
    while (!this.#isClosing) {
      const link = await this.#connection.connected();
      if (link === undefined) return;
      try {
        const found = await durableConsumer(link, this.#subscription, this.#context.concurrency);
        this.#told = '';
        await this.#takeAll(found);
      } catch (error) {
        if (!link.client.isClosed()) this.#tell(error);
      }
      if (!this.#isClosing) await this.#rest();
    }
  }

  /** Until something is wrong with the consumer or the connection: throws it. */
  async #takeAll(found: { consumer: Consumer; stream: string; ackWaitMs: number }): Promise<void> {
    const speaking = setInterval(() => {
      for (const message of this.#held) quietly(() => message.working());
    }, found.ackWaitMs / 3);
    try {
      await new Promise<void>((_, reject) => {
        let isOver = false;
        const fail = (error: unknown) => {
          isOver = true;
          reject(error);
        };
        let isPlanned = false;
        // Messages that are done together make one fetch.
        this.#drawMore = () => {
          if (isPlanned || isOver) return;
          isPlanned = true;
          setImmediate(() => {
            isPlanned = false;
            const free = this.#context.concurrency - this.#held.size - this.#asked;
            if (free <= 0 || isOver || this.#isClosing) return;
            this.#fetch(found.consumer, found.stream, free).then(this.#drawMore, fail);
          });
        };
        this.#drawMore();
        this.#wake = () => fail(new Error('closing'));
      });
    } finally {
      clearInterval(speaking);
      this.#drawMore = () => {};
      for (const fetch of this.#fetches) void fetch.close();
    }
  }

  async #fetch(consumer: Consumer, stream: string, count: number): Promise<void> {
    let left = count;
    this.#asked += count;
    let messages: ConsumerMessages | undefined;
    try {
      messages = await consumer.fetch({
        max_messages: count,
        expires: FETCH_MS,
        idle_heartbeat: HEARTBEAT_MS,
        bind: true,
      });
      this.#fetches.add(messages);
      for await (const message of messages) {
        left -= 1;
        this.#asked -= 1;
        if (this.#isClosing) quietly(() => message.nak(LET_GO_MS));
        else void this.#handle(message, stream);
      }
    } finally {
      this.#asked -= left;
      if (messages !== undefined) this.#fetches.delete(messages);
    }
  }

  async #handle(message: JsMsg, stream: string): Promise<void> {
    this.#held.add(message);
    try {
      const taken = await this.#take(messageOf(message, stream));
      if (taken.kind === 'later') quietly(() => message.nak(Math.max(1, taken.afterMs)));
      else await message.ackAck({ timeout: this.#subscription.timeout });
    } catch {
      // Not acknowledged: it comes again, and what was accepted is known as a duplicate then.
    } finally {
      this.#held.delete(message);
      this.#letGo();
      this.#drawMore();
    }
  }

  #tell(error: unknown): void {
    if (this.#isClosing) return;
    const reason = natsReason(error);
    if (reason === this.#told) return;
    this.#told = reason;
    this.#context.onError(new Error(reason));
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PAUSE_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** What cannot be said to a server that is gone is not said: the message comes again. */
function quietly(say: () => void): void {
  try {
    say();
  } catch {}
}
