import { isPlainObject } from '../../core/json.js';
import type { RecordedResults } from '../../core/results-codec.js';
import type { RecordedPage, RecordedPlace } from '../../ports/store.js';
import type { RedisContext } from './context.js';
import { getWhole, pageAfter } from './pieces.js';

/** First character of a reference to what is stored by itself; no JSON begins with it. */
const REFERENCE = '@';
/** Entries that are read at first, and at the most: large ones have up to 256 KiB each. */
const FIRST_PAGE: RecordedPlace = { from: 0, count: 8 };
const MOST_PAGE = 300;

/** A page of what was recorded for a chunk. */
export async function recordedPage(
  context: RedisContext,
  chunk: string,
  { from, count } = FIRST_PAGE,
): Promise<RecordedPage> {
  const found = await context.client.lrange(`${context.prefix}res:${chunk}`, from, from + count - 1);
  const { results, bytes } = await resolved(context, chunk, found);
  if (found.length < count) return { results, next: undefined };
  return { results, next: { from: from + count, count: pageAfter(count, bytes, MOST_PAGE) } };
}

/** All that was recorded for a chunk. */
export async function allRecorded(context: RedisContext, chunk: string): Promise<RecordedResults[]> {
  const all: RecordedResults[] = [];
  for (let place: RecordedPlace | undefined = FIRST_PAGE; place !== undefined; ) {
    const page = await recordedPage(context, chunk, place);
    all.push(...page.results);
    place = page.next;
  }
  return all;
}

/** Entries of the list, with those that are stored by themselves. */
async function resolved(
  context: RedisContext,
  chunk: string,
  found: readonly string[],
): Promise<{ results: RecordedResults[]; bytes: number }> {
  const stages = found.filter((entry) => entry.startsWith(REFERENCE)).map((entry) => entry.slice(1));
  const texts = await getWhole(
    context,
    stages.map((stage) => `${context.prefix}rs:${chunk}:${stage}`),
  );
  const stored = new Map(stages.map((stage, i) => [`${REFERENCE}${stage}`, { stage, json: texts[i] ?? '' }]));
  let bytes = 0;
  const results = found.flatMap((entry) => {
    const byItself = stored.get(entry);
    bytes += (byItself?.json ?? entry).length;
    try {
      const pack = JSON.parse(byItself?.json ?? entry) as RecordedResults;
      return byItself === undefined || !isPlainObject(pack) ? pack : { ...pack, stored: byItself };
    } catch {
      return [];
    }
  });
  return { results, bytes };
}
