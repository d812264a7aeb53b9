import type { Config } from '../../../config/schema.js';
import { nearestPlan } from '../../app/plan/nearest.js';
import { openFleet } from '../../compose.js';
import { parseDuration } from '../../core/duration.js';
import { EVENT_NAMES, EVENT_PREFIX, EVENT_VERSION, type OutboxEvent } from '../../core/events.js';
import type { PlanStore } from '../../ports/plans.js';
import { onInterrupt } from '../interrupt.js';
import { checkLogLevel, createLog } from '../log.js';
import { choice, type FleetOptions, ProblemList } from '../options.js';
import { isStdoutGone, plain, print, say } from '../output.js';
import { loadSettings, requireRedis } from '../redis.js';

const PAGE = 500;
const WAIT_MS = 500;
const GIST_KEYS = ['batch', 'run', 'scenario', 'label', 'outcome', 'decision', 'total', 'passed', 'failed'];
const MORE_GIST_KEYS = ['errored', 'sink', 'event_type', 'reason'];
/** What a plan's events say besides; `revision` and the like stand where one reads the timeline. */
const PLAN_KEYS = ['plan', 'stage', 'from', 'to', 'revision', 'attempt', 'fix', 'strategy_revision', 'limit'];
const MORE_PLAN_KEYS = ['actor', 'validation', 'resource', 'next_on_failure', 'message'];
/** UTF-16 units of one value in the gist. */
const MOST_SHOWN = 200;

/** `evaluation.failed` for `dev.sluice.evaluation.failed.v1`. */
export function shortType(type: string): string {
  const inner = type.startsWith(EVENT_PREFIX) ? type.slice(EVENT_PREFIX.length) : type;
  return inner.endsWith(EVENT_VERSION) ? inner.slice(0, -EVENT_VERSION.length) : inner;
}

interface ParsedEvent {
  time: string;
  type: string;
  subject: string;
  correlationid?: string;
  data?: Record<string, unknown>;
}

/** What is said of the score and of the first gate that is closed. */
function verdictGist({ score, gates }: Record<string, unknown>): string[] {
  const { passed, total } = (score ?? {}) as { passed?: number; total?: number };
  const closed = Object.entries((gates ?? {}) as Record<string, { passed: boolean; reason: string }>).find(
    ([, gate]) => !gate.passed,
  );
  return [
    ...(total === undefined ? [] : [`score=${passed}/${total}`]),
    ...(closed === undefined ? [] : [`${closed[0]} gate: ${closed[1].reason}`]),
  ];
}

/** What an event of a plan says beside words and numbers: an advisory may be about resources alone. */
function planGist({ unvalidated, vacuous }: Record<string, unknown>): string[] {
  const bare = Array.isArray(unvalidated) ? unvalidated.map(String) : [];
  return [
    ...(bare.length === 0 ? [] : [`unvalidated=${cut(bare.join(','))}`]),
    ...(vacuous === true ? ['vacuous'] : []),
  ];
}

const cut = (text: string) => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN - 1)}…` : text);

/** One line for people: time, type, subject, and the gist of the data. */
export function eventLine({ json }: Pick<OutboxEvent, 'json'>): string {
  const event = JSON.parse(json) as ParsedEvent;
  const data = event.data ?? {};
  // Of a run it stands last, of a plan among the rest.
  const isOfRun = data.run !== undefined && typeof data.actor === 'string';
  const gist = [...PLAN_KEYS, ...GIST_KEYS, ...MORE_GIST_KEYS, ...MORE_PLAN_KEYS].flatMap((key) => {
    const value = data[key];
    if (value === event.subject || (key === 'actor' && isOfRun)) return [];
    if (key === 'total' && value === 0 && Array.isArray(data.advisories)) return [];
    return typeof value === 'string' || typeof value === 'number' ? [`${key}=${cut(String(value))}`] : [];
  });
  const actor = isOfRun ? [`actor=${cut(data.actor as string)}`] : [];
  const text = [...gist, ...planGist(data), ...verdictGist(data), ...actor].join(' ');
  return plain(`${event.time}  ${shortType(event.type)}  ${event.subject}  ${text}`).trimEnd();
}

/** What a reader of the tail wants to see. */
export interface TailFilter {
  /** Short names; empty: all. */
  types: ReadonlySet<string>;
  batch: string | undefined;
  plan: string | undefined;
  /** Milliseconds since the epoch. */
  since: number | undefined;
}

export function wantsEvent({ type, json }: OutboxEvent, filter: TailFilter): boolean {
  const { types, batch, plan, since } = filter;
  if (types.size > 0 && !types.has(shortType(type))) return false;
  if (batch === undefined && plan === undefined && since === undefined) return true;
  const event = JSON.parse(json) as ParsedEvent;
  if (batch !== undefined && event.correlationid !== batch) return false;
  if (plan !== undefined && event.subject !== plan && event.data?.plan !== plan) return false;
  return since === undefined || Date.parse(event.time) >= since;
}

export interface TailOptions extends FleetOptions {
  follow: boolean;
  type?: string[];
  batch?: string;
  plan?: string;
  since?: string;
}

/** Reads `--type`, `--batch`, `--plan` and `--since`; what is wrong goes to `problems`. `now` in milliseconds. */
export function tailFilter(options: TailOptions, now: number, problems: ProblemList): TailFilter {
  const types = new Set<string>();
  for (const type of options.type ?? []) {
    const name = choice('--type', shortType(type), EVENT_NAMES, problems);
    if (name !== undefined) types.add(name);
  }
  const ago = options.since === undefined ? undefined : parseDuration(options.since);
  if (options.since !== undefined && ago === undefined) {
    const message = 'expected a duration such as 90s, 30m, 24h or 7d';
    problems.add({ code: 'USAGE', path: '--since', message, found: JSON.stringify(options.since) });
  }
  return {
    types,
    batch: options.batch,
    plan: options.plan,
    since: ago === undefined ? undefined : now - ago,
  };
}

/** One sentence where there is no such plan: a slip would else look like a plan without events. */
async function tellUnknown(plans: PlanStore, id: string, follow: boolean): Promise<void> {
  if ((await plans.plan(id)) !== undefined) return;
  const nearest = await nearestPlan(plans, id);
  const meant = nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
  say(`sluice: there is no plan ${JSON.stringify(id)}${follow ? ' yet' : ''}${meant}`);
}

/** `sluice events tail`: from the oldest event that is kept, and on; answers 0. */
export async function tailEvents(options: TailOptions): Promise<number> {
  const problems = new ProblemList();
  const level = (await problems.take(() => checkLogLevel(options.logLevel, 'warn'))) ?? 'warn';
  const filter = tailFilter(options, Date.now(), problems);
  const settings = await problems.take(() => loadSettings(options));
  problems.throwIfAny('USAGE', 'no event was read.');
  const config = settings as Config;
  const place = await requireRedis(config, { create: false });
  const interrupt = onInterrupt(() => {});
  const engine = await openFleet(config, place.url, await createLog(level));
  const { outbox, plans } = engine.store;
  let cursor = '';
  try {
    if (options.plan !== undefined) await tellUnknown(plans, options.plan, options.follow);
    while (!interrupt.signal.aborted && !isStdoutGone()) {
      const entries = await outbox.events(cursor, PAGE, options.follow ? WAIT_MS : 0);
      if (entries.length === 0 && !options.follow) break;
      cursor = entries.at(-1)?.position ?? cursor;
      const wanted = entries.filter(({ event }) => wantsEvent(event, filter));
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
