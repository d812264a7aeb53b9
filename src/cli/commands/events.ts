import type { Config } from '../../../config/schema.js';
import { openFleet } from '../../compose.js';
import { EVENT_PREFIX, EVENT_VERSION, type OutboxEvent } from '../../core/events.js';
import { onInterrupt } from '../interrupt.js';
import { checkLogLevel, createLog } from '../log.js';
import { type FleetOptions, ProblemList } from '../options.js';
import { isStdoutGone, plain, print } from '../output.js';
import { loadSettings, requireRedis } from '../redis.js';

const PAGE = 500;
const WAIT_MS = 500;
const GIST_KEYS = ['run', 'scenario', 'decision', 'total', 'passed', 'failed', 'errored', 'sink', 'reason'];

/** `evaluation.failed` for `dev.sluice.evaluation.failed.v1`. */
export function shortType(type: string): string {
  const inner = type.startsWith(EVENT_PREFIX) ? type.slice(EVENT_PREFIX.length) : type;
  return inner.endsWith(EVENT_VERSION) ? inner.slice(0, -EVENT_VERSION.length) : inner;
}

/** One line for people: time, type, subject, and the gist of the data. */
export function eventLine({ json }: OutboxEvent): string {
  const event = JSON.parse(json) as {
    time: string;
    type: string;
    subject: string;
    data?: Record<string, unknown>;
  };
  const data = event.data ?? {};
  const gist = GIST_KEYS.flatMap((key) => {
    const value = data[key];
    return typeof value === 'string' || typeof value === 'number' ? [`${key}=${value}`] : [];
  });
  return plain(`${event.time}  ${shortType(event.type)}  ${event.subject}  ${gist.join(' ')}`).trimEnd();
}

/** `sluice events tail`: from the oldest event that is kept, and on; answers 0. */
export async function tailEvents(
  options: FleetOptions & { follow: boolean; type?: string[] },
): Promise<number> {
  const problems = new ProblemList();
  const level = (await problems.take(() => checkLogLevel(options.logLevel, 'warn'))) ?? 'warn';
  const settings = await problems.take(() => loadSettings(options));
  problems.throwIfAny('USAGE', 'no event was read.');
  const config = settings as Config;
  const place = await requireRedis(config);
  const interrupt = onInterrupt(() => {});
  const engine = await openFleet(config, place.url, createLog(level));
  const types = new Set(options.type?.map(shortType));
  const { outbox } = engine.store;
  let cursor = '';
  try {
    while (!interrupt.signal.aborted && !isStdoutGone()) {
      const entries = await outbox.events(cursor, PAGE, options.follow ? WAIT_MS : 0);
      if (entries.length === 0 && !options.follow) break;
      cursor = entries.at(-1)?.position ?? cursor;
      const wanted = entries.filter(({ event }) => types.size === 0 || types.has(shortType(event.type)));
      const lines = wanted.map(({ event }) => `${options.json ? event.json : eventLine(event)}\n`);
      if (lines.length > 0) await print(lines.join(''));
    }
  } finally {
    interrupt.dispose();
    await engine.close();
    await place.release();
  }
  return 0;
}
