import { z } from 'zod';
import { EVENT_NAMES } from '../../core/events.js';
import { type Problem, SluiceError } from '../../core/problem.js';
import { typeProblems } from '../../core/sink-filter.js';
import type { Outbox } from '../../ports/store.js';
import type { HttpDeps } from '../deps.js';
import { eventFilter } from '../event-filter.js';
import { EventHub } from '../event-hub.js';
import { type Place, placeBehind, positionOf } from '../event-place.js';
import { BEFORE_ALL, eventStream, STREAM_TIMES } from '../event-stream.js';
import { type Call, type Operation, operation } from '../operation.js';
import { flag, listSchema, wholeNumber } from '../schemas/common.js';
import { eventsPageSchema } from '../schemas/events.js';

/** Entries that are looked at for one page, at most, whatever the filter passes over. */
const LOOKED_AT = 20_000;
const STEP = 500;

const querySchema = z.strictObject({
  type: listSchema.optional().describe('Names such as evaluation.failed, or plan.*; several by commas'),
  batch: z.string().min(1).optional().describe('Only events of this batch'),
  plan: z.string().min(1).optional().describe('Only events of this plan'),
  evaluation: z.string().min(1).optional().describe('Only events of this evaluation'),
  from: z
    .enum(['now', 'oldest'])
    .optional()
    .describe('Where to begin without a position; default: now for a stream, oldest for a page'),
  cursor: z.string().optional().describe('Position to go on behind; Last-Event-ID says the same'),
  follow: flag.optional().describe('false: a page of what is there; default: by Accept, else true'),
  limit: wholeNumber(1, 1000).optional().describe('Events of a page, at most; default 100'),
});
type Query = z.output<typeof querySchema>;

const wantedBy = ({ type, batch, plan, evaluation }: Query) =>
  eventFilter({ types: type, batch, plan, evaluation });

function checkTypes({ type }: Query): void {
  const problems: Problem[] = typeProblems(type ?? [], 'type');
  if (problems.length === 0) return;
  const told = problems.map((problem) => ({ ...problem, allowed: [...EVENT_NAMES] }));
  const count = told.length === 1 ? '1 problem' : `${told.length} problems`;
  throw new SluiceError('INVALID_REQUEST', `${count}; nothing was sent.`, told);
}

async function placeOf(outbox: Outbox, call: Call<unknown, Query>, isStream: boolean): Promise<Place> {
  const { query, request } = call;
  const header = request.headers['last-event-id'];
  // What a stream has reached stands in the header: the address stays as it was when it connects again.
  const given = typeof header === 'string' && header !== '' ? header : query.cursor;
  if (given !== undefined)
    return placeBehind(outbox, positionOf(given, given === header ? 'Last-Event-ID' : 'cursor'));
  const from = query.from ?? (isStream ? 'now' : 'oldest');
  return { cursor: from === 'oldest' ? '' : await outbox.lastEvent(), gap: undefined };
}

async function pageOf(outbox: Outbox, { cursor: begin, gap }: Place, query: Query) {
  const { limit = 100 } = query;
  const wants = wantedBy(query);
  const events: unknown[] = [];
  let cursor = begin;
  let looked = 0;
  while (looked < LOOKED_AT) {
    const entries = await outbox.events(cursor, STEP, 0);
    for (const { position, event } of entries) {
      if (wants(event)) events.push(JSON.parse(event.json));
      cursor = position;
      looked += 1;
      if (events.length === limit) break;
    }
    if (entries.length === 0 || events.length === limit) break;
  }
  const more = (await outbox.events(cursor, 1, 0)).length > 0;
  return { events, cursor: cursor === '' ? BEFORE_ALL : cursor, more, gap: gap !== undefined };
}

/** Whether a page is asked for, and not a stream. */
function wantsPage({ query, request }: Call<unknown, Query>): boolean {
  if (query.follow !== undefined) return !query.follow;
  const accept = request.headers.accept ?? '';
  return accept.includes('application/json') && !accept.includes('text/event-stream');
}

/** Events as they leave the outbox. */
export function eventOperations(deps: HttpDeps): Operation[] {
  let hub: EventHub | undefined;
  let open = 0;
  const streamOf = async (call: Call<unknown, Query>): Promise<'sent'> => {
    const { store, config, log } = deps.engine;
    const most = config.http.streams;
    if (open >= most)
      throw new SluiceError(
        'UNAVAILABLE',
        `All ${most} event streams of this server are taken; try again later, or ask for pages (follow=false).`,
      );
    open += 1;
    let released = false;
    const release = () => {
      if (!released) open -= 1;
      released = true;
    };
    try {
      hub ??= new EventHub(store.outbox, (error) =>
        log.warn({ err: { message: error.message } }, 'event streams wait for the outbox'),
      );
      const place = await placeOf(store.outbox, call, true);
      const wants = wantedBy(call.query);
      const signal = AbortSignal.any([call.signal, deps.draining]);
      const stream = eventStream({ hub, wants, ...place, signal, times: STREAM_TIMES });
      stream.once('close', release);
      call.reply
        .code(200)
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        // When a stream ends the server drains, or the client is to begin anew: nothing more comes on it.
        .header('connection', 'close')
        .send(stream);
      return 'sent';
    } catch (error) {
      release();
      throw error;
    }
  };
  return [
    operation<unknown, Query, unknown>({
      id: 'listEvents',
      method: 'GET',
      path: '/v1/events',
      tag: 'events',
      summary: 'Events, as a stream of server-sent events or as pages',
      description:
        'As a stream, `id` is a position, `event` the short name and `data` the CloudEvent as it is stored; `Last-Event-ID` goes on behind a position. `sluice.gap` says that events behind the position are kept no more, and where it goes on. A client that takes nothing for 30 seconds is ended. With `follow=false`, or `Accept: application/json`, the answer is a page.',
      role: 'read',
      query: querySchema,
      responses: {
        200: {
          description: 'A page of events, or a stream of them (text/event-stream)',
          schema: eventsPageSchema,
          also: ['text/event-stream'],
        },
      },
      problems: ['UNAVAILABLE'],
      example: { query: { follow: 'false', type: 'evaluation.*' } },
      async run(call) {
        checkTypes(call.query);
        if (!wantsPage(call)) return streamOf(call);
        const { outbox } = deps.engine.store;
        return { status: 200, body: await pageOf(outbox, await placeOf(outbox, call, false), call.query) };
      },
    }),
  ];
}
