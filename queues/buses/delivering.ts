import type { DeliveryFailure, OutgoingEvent } from '../../src/ports/sink.js';

/** The other side does not take this event. */
export class Refused extends Error {
  readonly isFinal: boolean;
  readonly response: string | undefined;

  constructor(message: string, { isFinal = false, response }: { isFinal?: boolean; response?: string } = {}) {
    super(message);
    this.isFinal = isFinal;
    this.response = response;
  }
}

/** The other side ended the session over an event that was sent on it, and did not say which. */
export class Upset extends Refused {}

/** What events are sent on, from when it is opened until it is lost. */
export interface Session {
  /** Sends an event at once; resolves when it has arrived. Throws Refused, Upset, or why the sink is away. */
  send(event: OutgoingEvent): Promise<void>;
  /** Ends it in good order, when nothing is under way on it. */
  end(): void;
  /** Ends it at once with all that lies in its buffers: what was sent and is not confirmed fails. */
  drop(): void;
}

export interface Sessions {
  /** That of all deliveries; made when there is none. */
  shared(): Promise<Session>;
  /** A session of its own, for events one of which has upset the other side. */
  own(): Promise<Session>;
}

/**
 * Delivers events at once on the shared session. Where one has upset the other side, those that were not
 * confirmed go again one by one, so that none fails for another. `timeoutMs` holds for each of the two.
 */
export async function deliverOn(
  sessions: Sessions,
  events: readonly OutgoingEvent[],
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal | undefined },
): Promise<DeliveryFailure[]> {
  const errors = await within(timeoutMs, signal, (limit) => together(sessions, events, limit));
  const suspects = events.filter((_, n) => errors[n] instanceof Upset);
  const failures = events.flatMap((event, n) => failureOf(event, errors[n]));
  if (suspects.length === 0) return failures;
  const again = await within(timeoutMs, signal, (limit) => oneByOne(sessions, suspects, limit));
  const isSuspect = new Set(suspects.map(({ id }) => id));
  return [
    ...failures.filter(({ id }) => !isSuspect.has(id)),
    ...suspects.flatMap((event, n) => failureOf(event, again[n])),
  ];
}

function failureOf({ id }: OutgoingEvent, error: Error | undefined): DeliveryFailure[] {
  if (error === undefined) return [];
  const reason = error.message || 'the connection failed';
  if (!(error instanceof Refused)) return [{ id, kind: 'away', reason }];
  return [
    {
      id,
      kind: 'refused',
      reason,
      ...(error.isFinal ? { final: true } : {}),
      ...(error.response === undefined ? {} : { response: error.response }),
    },
  ];
}

type Limit = <T>(promise: Promise<T>) => Promise<T>;

/** Rejects what is not over when the time is, or the signal is raised. */
async function within<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (limit: Limit) => Promise<T>,
): Promise<T> {
  let end: (error: Error) => void = () => {};
  const over = new Promise<never>((_, reject) => {
    end = reject;
  });
  over.catch(() => {});
  const stop = () => end(new Error('the delivery was stopped'));
  const timer = setTimeout(() => end(new Error('the broker does not answer in time')), timeoutMs);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    return await work((promise) => Promise.race([promise, over]));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

async function together(
  sessions: Sessions,
  events: readonly OutgoingEvent[],
  limit: Limit,
): Promise<(Error | undefined)[]> {
  let session: Session;
  try {
    session = await limit(sessions.shared());
  } catch (error) {
    return events.map(() => error as Error);
  }
  const sent = events.map((event) => errorOf(session.send(event)));
  try {
    return await limit(Promise.all(sent));
  } catch (error) {
    // What lies in its buffers would be sent later, besides what is tried again meanwhile.
    session.drop();
    const settled = await Promise.all(sent);
    return settled.map((own) => (own === undefined || own instanceof Refused ? own : (error as Error)));
  }
}

async function oneByOne(
  sessions: Sessions,
  events: readonly OutgoingEvent[],
  limit: Limit,
): Promise<(Error | undefined)[]> {
  const errors: (Error | undefined)[] = [];
  let session: Session | undefined;
  try {
    for (const event of events) {
      session ??= await limit(sessions.own());
      const error = await limit(errorOf(session.send(event)));
      errors.push(error);
      if (error === undefined) continue;
      // Each begins on a session that no other has upset.
      session.end();
      session = undefined;
      if (!(error instanceof Refused)) throw error;
    }
  } catch (error) {
    session?.drop();
    while (errors.length < events.length) errors.push(error as Error);
  } finally {
    session?.end();
  }
  return errors;
}

const errorOf = (sent: Promise<void>): Promise<Error | undefined> =>
  sent.then(
    () => undefined,
    (error: Error) => error,
  );
