import type { Sign } from '../../core/delivery-circuit.js';
import type { OutboxEvent } from '../../core/events.js';
import type { Pace } from '../../ports/delivery.js';
import type { DeliveryFailure, OutgoingEvent } from '../../ports/sink.js';
import { keptReason, keptResponse, type SinkReader } from './reader.js';

/** A sink answers within a minute by itself; one that does not is taken for away after this many milliseconds. */
const DEADLINE_MS = 90_000;

/** Why an event did not arrive, fit to be kept. */
export interface Failure {
  kind: DeliveryFailure['kind'];
  /** Of a dead letter. */
  code: 'refused' | 'away' | 'gone' | 'projection';
  reason: string;
  response: string | null;
  final: boolean;
  retryAfterMs: number;
}

export interface Attempt {
  /** By event id. */
  failures: Map<string, Failure>;
  /** What it says of the sink; undefined: nothing was sent. */
  sign: Sign | undefined;
  /** Delivery ends: nothing was sent. */
  stopped: boolean;
}

function failureOf({ kind, reason, response, final, retryAfterMs }: DeliveryFailure): Failure {
  return {
    kind,
    code: kind,
    reason: keptReason(reason),
    response: keptResponse(response),
    final: kind === 'refused' && final === true,
    retryAfterMs: retryAfterMs ?? 0,
  };
}

const awayFor = (reason: string): Failure => failureOf({ id: '', kind: 'away', reason });

/** What is sent for each event; one that its projection fails on is never sent. Undefined: delivery ends. */
async function prepared(
  reader: SinkReader,
  events: readonly OutboxEvent[],
  failures: Map<string, Failure>,
  signal: AbortSignal,
): Promise<OutgoingEvent[] | undefined> {
  const { project } = reader;
  if (project === undefined) return events.map(({ id, type, json }) => ({ id, type, json }));
  const outgoing: OutgoingEvent[] = [];
  for (const { id, type, json } of events) {
    // Slow projections of many events take minutes.
    if (signal.aborted) return undefined;
    try {
      const projected = await project({ id, type, json });
      if (projected !== undefined) outgoing.push({ id, type, json, projected });
    } catch (error) {
      const reason = `the projection failed: ${(error as Error).message}`;
      failures.set(id, { ...failureOf({ id, kind: 'refused', reason, final: true }), code: 'projection' });
    }
  }
  return outgoing;
}

async function sent(
  reader: SinkReader,
  outgoing: readonly OutgoingEvent[],
  signal: AbortSignal,
): Promise<Map<string, Failure>> {
  const ending = new AbortController();
  let cut = (_reason: string): void => {};
  const late = new Promise<never>((_, reject) => {
    cut = (reason) => {
      reject(new Error(reason));
      ending.abort(new Error(reason));
    };
  });
  late.catch(() => {});
  const told = () => cut('the dispatcher was told to stop');
  const timer = setTimeout(() => cut('it did not answer in time'), DEADLINE_MS);
  signal.addEventListener('abort', told);
  try {
    const failures = await Promise.race([reader.sink.deliver(outgoing, ending.signal), late]);
    return new Map(failures.map((failure) => [failure.id, failureOf(failure)]));
  } catch (error) {
    const failure = awayFor((error as Error).message);
    return new Map(outgoing.map(({ id }) => [id, failure]));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', told);
  }
}

function signOf(failures: ReadonlyMap<string, Failure>, sentCount: number): Sign {
  const all = [...failures.values()];
  const gone = all.find(({ kind }) => kind === 'gone');
  if (gone !== undefined) return { kind: 'gone', reason: gone.reason };
  const away = all.filter(({ kind }) => kind === 'away');
  const [first] = away;
  if (first === undefined) return { kind: 'works', took: failures.size < sentCount };
  return {
    kind: 'away',
    reason: first.reason,
    retryAfterMs: Math.max(...away.map(({ retryAfterMs }) => retryAfterMs)),
  };
}

/** Hands these events to the sink once. */
export async function attempt(
  reader: SinkReader,
  events: readonly OutboxEvent[],
  signal: AbortSignal,
  pace: Pace,
): Promise<Attempt> {
  const failures = new Map<string, Failure>();
  const outgoing = await prepared(reader, events, failures, signal);
  if (outgoing === undefined) return { failures, sign: undefined, stopped: true };
  if (outgoing.length === 0) return { failures, sign: undefined, stopped: false };
  const mayGo = await pace(outgoing.length, signal);
  if (!mayGo || signal.aborted) return { failures, sign: undefined, stopped: true };
  const found = await sent(reader, outgoing, signal);
  // What was cut off by our own end says nothing of the sink.
  if (signal.aborted && found.size > 0) return { failures, sign: undefined, stopped: true };
  for (const [id, failure] of found) failures.set(id, failure);
  return { failures, sign: signOf(found, outgoing.length), stopped: false };
}
