import type { DeliveryFailure, OutgoingEvent, Sink } from '../../src/ports/sink.js';
import type { GuardedClient } from '../http/client.js';
import { HttpTrouble } from '../http/trouble.js';
import type { Credentials } from './credentials.js';
import { contentOf, groupsOf, type Message, messageOf } from './message.js';
import { LONGEST_TIMEOUT_MS, type WebhookOptions } from './options.js';
import { type Failure, outcomeOf } from './outcome.js';

/** Bytes of an answer that are read. */
const MOST_READ = 8 * 1024;
/** Largest list of events in one request, in bytes. */
const LARGEST_LIST = 2 ** 20;

/** Events that go out in one request; `refusal` of the list that it was part of, for want of time to try it alone. */
interface Group {
  events: OutgoingEvent[];
  refusal?: Failure;
}

/** Posts events, in order, one request after the other. */
export class WebhookSink implements Sink {
  readonly #url: URL;
  readonly #options: WebhookOptions;
  readonly #credentials: () => Promise<Credentials>;
  readonly #client: GuardedClient;

  constructor(
    url: URL,
    options: WebhookOptions,
    credentials: () => Promise<Credentials>,
    client: GuardedClient,
  ) {
    this.#url = url;
    this.#options = options;
    this.#credentials = credentials;
    this.#client = client;
  }

  async deliver(events: readonly OutgoingEvent[], signal?: AbortSignal): Promise<DeliveryFailure[]> {
    const { mode, batch, max_bytes } = this.#options;
    const failures = new Map<string, Failure>();
    const fitting = events.filter((event) => {
      const bytes = Buffer.byteLength(contentOf(event));
      if (bytes <= max_bytes) return true;
      const reason = `it has ${bytes} bytes, and max_bytes is ${max_bytes}`;
      failures.set(event.id, { kind: 'refused', reason, final: true });
      return false;
    });
    const most = mode === 'batched' ? batch : 1;
    const waiting: Group[] = groupsOf(fitting, most, Math.min(max_bytes, LARGEST_LIST)).map((group) => ({
      events: group,
    }));
    const deadline = performance.now() + LONGEST_TIMEOUT_MS;
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      const failure = await this.#send(group, deadline, signal);
      if (failure === undefined) continue;
      if (failure.kind === 'refused' && group.events.length > 1) {
        const { final: _, ...refusal } = failure;
        waiting.unshift(...group.events.map((event) => ({ events: [event], refusal })));
        continue;
      }
      // What holds for one of them holds for all behind it: they are not tried.
      const failed = failure.kind === 'refused' ? [group] : [group, ...waiting.splice(0)];
      for (const { id } of failed.flatMap((each) => each.events)) failures.set(id, failure);
    }
    return events.flatMap(({ id }) => {
      const failure = failures.get(id);
      return failure === undefined ? [] : [{ id, ...failure }];
    });
  }

  async #send(group: Group, deadline: number, signal?: AbortSignal): Promise<Failure | undefined> {
    const left = Math.floor(deadline - performance.now());
    if (left <= 0) return group.refusal ?? { kind: 'away', reason: 'the receiver is too slow' };
    const credentials = await this.#credentials();
    const message = messageOf(this.#options.mode, group.events);
    try {
      const answer = await this.#client.request({
        url: this.#url,
        method: 'POST',
        headers: { ...credentials.headers, ...signed(message, credentials) },
        body: message.body,
        timeoutMs: Math.min(this.#options.timeout, left),
        maxBytes: MOST_READ,
        tls: credentials.tls,
        signal,
      });
      return outcomeOf(answer, Date.now(), credentials.secrets.hide);
    } catch (error) {
      if (!(error instanceof HttpTrouble)) throw error;
      const hint = error.kind === 'address' ? '; allow_private: true allows them' : '';
      return { kind: 'away', reason: error.message + hint };
    }
  }

  async close(): Promise<void> {
    this.#client.close();
  }
}

/** The headers of a message with those of Standard Webhooks: id, time and a signature for each live secret. */
function signed({ id, headers, body }: Message, { signers }: Credentials): Record<string, string> {
  const now = new Date();
  const own = {
    ...headers,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
  };
  if (signers.length === 0) return own;
  return { ...own, 'webhook-signature': signers.map((signer) => signer.sign(id, now, body)).join(' ') };
}
