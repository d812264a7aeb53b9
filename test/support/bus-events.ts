import type { OutgoingEvent } from '../../src/ports/sink.js';

/** An event as the other side of a sink has it. */
export interface ReceivedEvent {
  id: string;
  type: string;
  /** Byte for byte: the CloudEvent, or what was projected. */
  body: string;
}

/** The server of a bus, as a test of sinks or sources uses it. */
export interface BusServer {
  target: string;
  options?: Record<string, unknown>;
  /** SIGKILL, or the nearest thing. */
  kill(): Promise<void>;
  /** Brings it back at the same place, with what it had kept. */
  restart(): Promise<void>;
  /** Ends it and removes what it wrote; may be called when it is dead. */
  stop(): Promise<void>;
}

/** The n-th event of a test: an ordinary CloudEvent with text that encodings spoil. */
export function testEvent(n: number, text = 'é "quoted" \u2028 日本'): OutgoingEvent {
  const id = `event-${String(n).padStart(6, '0')}`;
  const type = 'dev.sluice.evaluation.passed.v1';
  const json = JSON.stringify({
    specversion: '1.0',
    id,
    source: '/sluice/test',
    type,
    subject: `evaluation-${n}`,
    time: '2026-01-02T03:04:05.678Z',
    datacontenttype: 'application/json',
    partitionkey: `evaluation-${n}`,
    sequence: '3',
    data: { n, text },
  });
  return { id, type, json };
}

export const testEvents = (count: number, first = 0): OutgoingEvent[] =>
  Array.from({ length: count }, (_, n) => testEvent(first + n));

/** Looks until it is so, every 20 ms; throws with what `describe` says when the time is over. */
export async function untilSo(
  isSo: () => boolean | Promise<boolean>,
  describe: () => string,
  withinMs = 20_000,
): Promise<void> {
  const until = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > until) throw new Error(`not within ${withinMs} ms: ${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
