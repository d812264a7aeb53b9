import { Readable } from 'node:stream';
import type { OutboxEvent } from '../core/events.js';
import { nameOf } from '../core/sink-filter.js';
import type { OutboxEntry } from '../ports/store.js';
import type { EventHub } from './event-hub.js';

/** The position before every event, as it is told: an empty id would mean that there is none. */
export const BEFORE_ALL = '0-0';

const CHUNK_UNITS = 64 * 1024;
/** Milliseconds that a client has to take the end of a stream when the server drains. */
const LAST_WORDS_MS = 1000;

/** Milliseconds. */
export interface StreamTimes {
  /** Silence after which a comment is sent, so that nothing between takes the connection for dead. */
  heartbeat: number;
  /** How long a client may take nothing while there is something for it. */
  patience: number;
  /** Longest stream: the client connects again, and its token is looked at again. */
  longest: number;
}

export const STREAM_TIMES: StreamTimes = { heartbeat: 15_000, patience: 30_000, longest: 3_600_000 };

/** Events that are kept no more. */
export interface Gap {
  /** The position that was asked for. */
  after: string;
  /** Position of the first event that follows; null: there is none yet. */
  from: string | null;
}

export interface StreamSettings {
  hub: EventHub;
  wants(event: OutboxEvent): boolean;
  cursor: string;
  gap: Gap | undefined;
  /** Aborted when the client hangs up or the server drains. */
  signal: AbortSignal;
  times: StreamTimes;
}

const gapText = (gap: Gap): string =>
  `: events behind ${gap.after} are kept no more\nevent: sluice.gap\ndata: ${JSON.stringify(gap)}\n\n`;

/** JSON of an event has no line ends, so it is one line of data. */
const eventText = ({ position, event }: OutboxEntry): string =>
  `id: ${position}\nevent: ${nameOf(event.type)}\ndata: ${event.json}\n\n`;

/** Moves the place from which the client resumes, without an event. */
const placeText = (cursor: string, words: string): string =>
  `: ${words}\nid: ${cursor === '' ? BEFORE_ALL : cursor}\n\n`;

/** Server-sent events in chunks of moderate size, until the signal is aborted or the time is over. */
async function* textOf(settings: StreamSettings): AsyncGenerator<string> {
  const { hub, wants, gap, signal, times } = settings;
  let { cursor } = settings;
  const begun = performance.now();
  let told = begun;
  const leave = hub.follow();
  try {
    yield `retry: 1000\n${placeText(cursor, 'events of Sluice')}`;
    if (gap !== undefined) yield gapText(gap);
    while (!signal.aborted) {
      const silence = performance.now() - told;
      const entries = await hub.after(cursor, Math.max(1, times.heartbeat - silence), signal);
      if (signal.aborted) break;
      cursor = entries.at(-1)?.position ?? cursor;
      let text = '';
      for (const entry of entries) {
        if (wants(entry.event)) text += eventText(entry);
        if (text.length < CHUNK_UNITS) continue;
        yield text;
        text = '';
        told = performance.now();
      }
      if (text === '' && performance.now() - told >= times.heartbeat) text = placeText(cursor, 'still here');
      if (text !== '') {
        yield text;
        told = performance.now();
      }
      if (performance.now() - begun >= times.longest) {
        yield placeText(cursor, 'connect again');
        return;
      }
    }
    yield placeText(cursor, 'the server stops; connect again');
  } finally {
    leave();
  }
}

/** A stream of server-sent events. It is destroyed when nobody takes what it has for too long. */
export function eventStream(settings: StreamSettings): Readable {
  const closed = new AbortController();
  const signal = AbortSignal.any([settings.signal, closed.signal]);
  let timer: NodeJS.Timeout | undefined;
  async function* watched(): AsyncGenerator<string> {
    for await (const text of textOf({ ...settings, signal })) {
      timer = setTimeout(() => stream.destroy(), settings.times.patience);
      yield text;
      clearTimeout(timer);
    }
  }
  const texts = watched();
  const source: AsyncIterableIterator<string> = {
    [Symbol.asyncIterator]: () => source,
    next: () => texts.next(),
    return() {
      // What waits for news would end only when they come.
      closed.abort();
      return texts.return(undefined);
    },
  };
  const stream: Readable = Readable.from(source, { objectMode: false, highWaterMark: CHUNK_UNITS });
  let last: NodeJS.Timeout | undefined;
  const end = () => {
    last = setTimeout(() => stream.destroy(), LAST_WORDS_MS);
  };
  if (settings.signal.aborted) end();
  settings.signal.addEventListener('abort', end, { once: true });
  stream.once('close', () => {
    clearTimeout(timer);
    clearTimeout(last);
    settings.signal.removeEventListener('abort', end);
  });
  return stream;
}
