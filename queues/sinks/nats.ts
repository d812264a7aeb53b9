import type { MsgHdrs } from '@nats-io/transport-node';
import { z } from 'zod';
import type { DeliveryFailure, OutgoingEvent, Sink } from '../../src/ports/sink.js';
import { defineSink } from '../../src/ports/sink.js';
import { contentOf, modeSchema } from '../buses/content.js';
import { headersOf } from '../nats/cloudevent.js';
import { StandingConnection } from '../nats/connection.js';
import type { NatsLink } from '../nats/dial.js';
import { connectionOptions, loginProblems, natsName } from '../nats/options.js';
import { coveringSubject, fillSubject, templateProblem } from '../nats/subject.js';
import { NATS_TARGET, parseNatsTarget, subjectProblem } from '../nats/target.js';
import { failureOf, isMissing, isNoResponders, natsReason } from '../nats/trouble.js';

/** Publications without an answer, at most: what is behind one that fails is not sent. */
const IN_FLIGHT = 32;
/** Longest wait for a connection. */
const LONGEST_WAIT_MS = 15_000;
/** A delivery answers within a minute. */
const DEADLINE_MS = 45_000;

const options = z
  .strictObject({
    ...connectionOptions,
    stream: natsName
      .optional()
      .describe('Stream; made when it is missing, without limits. Default: the one that takes the subject'),
    mode: modeSchema,
  })
  .superRefine((given, context) =>
    loginProblems(given, (path, message) => context.addIssue({ code: 'custom', path: [path], message })),
  );
type Options = z.output<typeof options>;

class NatsSink implements Sink {
  readonly #connection: StandingConnection;
  readonly #subject: string;
  readonly #options: Options;
  /** That the stream is there, for one connection. */
  #ready: { link: NatsLink; made: Promise<void> } | undefined;
  readonly #closing = new AbortController();

  constructor(connection: StandingConnection, subject: string, options: Options) {
    this.#connection = connection;
    this.#subject = subject;
    this.#options = options;
  }

  async deliver(events: readonly OutgoingEvent[], signal?: AbortSignal): Promise<DeliveryFailure[]> {
    if (events.length === 0) return [];
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    const ends = [deadline, this.#closing.signal, ...(signal === undefined ? [] : [signal])];
    const { ended, release } = untilAborted(ends);
    try {
      // A try may take a timeout for the greeting and one for the login.
      const waitMs = Math.min(2 * this.#options.timeout + 500, LONGEST_WAIT_MS);
      const link = await Promise.race([this.#connection.link(waitMs), ended]);
      await Promise.race([this.#streamReady(link), ended]);
      return await this.#publishAll(link, events, ended);
    } catch (error) {
      const reason = natsReason(error);
      return events.map(({ id }) => ({ id, kind: 'away', reason }));
    } finally {
      release();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the sink is closed'));
    await this.#connection.close();
  }

  async #publishAll(
    link: NatsLink,
    events: readonly OutgoingEvent[],
    ended: Promise<never>,
  ): Promise<DeliveryFailure[]> {
    const failures: DeliveryFailure[] = [];
    for (let at = 0; at < events.length; at += IN_FLIGHT) {
      const some = events.slice(at, at + IN_FLIGHT);
      const answers = await Promise.all(some.map((event) => this.#publish(link, event, ended)));
      failures.push(...answers.filter((answer) => answer !== undefined));
      const away = failures.find(({ kind }) => kind === 'away');
      if (away === undefined) continue;
      const { reason } = away;
      return [
        ...failures,
        ...events.slice(at + IN_FLIGHT).map(({ id }) => ({ id, kind: 'away' as const, reason })),
      ];
    }
    return failures;
  }

  async #publish(
    link: NatsLink,
    event: OutgoingEvent,
    ended: Promise<never>,
  ): Promise<DeliveryFailure | undefined> {
    const subject = fillSubject(this.#subject, event);
    try {
      const { headers, body } = await this.#message(event);
      const { stream, timeout } = this.#options;
      const expect = stream === undefined ? {} : { expect: { streamName: stream } };
      const answer = link.jetstream.publish(subject, body, { msgID: event.id, timeout, headers, ...expect });
      await Promise.race([answer, ended]);
      return undefined;
    } catch (error) {
      if (isNoResponders(error)) this.#ready = undefined;
      return failureOf(event.id, error, { subject, mostBytes: link.client.info?.max_payload });
    }
  }

  async #message(event: OutgoingEvent): Promise<{ headers: MsgHdrs; body: Uint8Array }> {
    const { headers: make } = await import('@nats-io/transport-node');
    const content = contentOf(event, this.#options.mode);
    const headers = make();
    for (const [name, value] of headersOf(content)) headers.set(name, value);
    return { headers, body: content.body };
  }

  /** Looks for the stream once for each connection, and again when nobody takes the subject. */
  #streamReady(link: NatsLink): Promise<void> {
    if (this.#ready?.link === link) return this.#ready.made;
    const made = this.#makeStream(link).catch((error) => {
      if (this.#ready?.made === made) this.#ready = undefined;
      throw error;
    });
    this.#ready = { link, made };
    return made;
  }

  async #makeStream({ manager }: NatsLink): Promise<void> {
    const name = this.#options.stream;
    if (name === undefined) return;
    try {
      await manager.streams.info(name);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await manager.streams.add({ name, subjects: [coveringSubject(this.#subject)] });
    }
  }
}

/** Rejects as soon as one of them is aborted; `release` lets go of them. */
function untilAborted(signals: readonly AbortSignal[]): { ended: Promise<never>; release: () => void } {
  const any = AbortSignal.any([...signals]);
  let stop = () => {};
  const ended = new Promise<never>((_, reject) => {
    stop = () => reject(new Error(any.reason?.name === 'TimeoutError' ? 'it takes too long' : 'interrupted'));
    if (any.aborted) stop();
    else any.addEventListener('abort', stop, { once: true });
  });
  ended.catch(() => {});
  return { ended, release: () => any.removeEventListener('abort', stop) };
}

function problemOf(target: string): string | undefined {
  const parsed = parseNatsTarget(target);
  if (typeof parsed === 'string') return parsed;
  return templateProblem(parsed.subject) ?? subjectProblem(fillSample(parsed.subject), { wildcards: false });
}

const fillSample = (template: string): string => template.replace(/\{[^}]*\}/g, 'x');

export const nats = defineSink<Options>({
  kind: 'nats',
  description: 'Publishes each CloudEvent to a stream of NATS JetStream.',
  target: `${NATS_TARGET}, where SUBJECT may hold {type} and {subject}`,
  options,
  problem(target) {
    const message = problemOf(target);
    return message === undefined ? undefined : { message };
  },
  async open(target, settings, { name, fleet, secret, onError }) {
    const parsed = parseNatsTarget(target);
    if (typeof parsed === 'string') throw new Error(`the target ${parsed}`);
    const { servers, subject, tls } = parsed;
    const place = { ...settings, servers, name: `sluice ${fleet} sink ${name}`, secret };
    const connection = new StandingConnection(tls ? { ...place, tls: place.tls ?? {} } : place, onError);
    return new NatsSink(connection, subject, settings);
  },
});
