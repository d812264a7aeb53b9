import {
  about,
  type Place,
  type RunOrProblem,
  type RunProblem,
  runFormats,
  TELLING_KEYS,
} from './run-items.js';

/** Problems that are kept until a file turns out to hold run records after all. */
const MOST_HELD = 1000;

/** A source in which nothing is a run record, in one sentence with what would be. */
function unknownFormat(place: Omit<Place, 'importer'>): RunProblem {
  const message = `is not a log of a known format, and nothing in it is a run record (an object with ${TELLING_KEYS.join(', ')})`;
  const { problem, ...rest } = about('source', place, message);
  return { ...rest, problem: { ...problem, allowed: runFormats() } };
}

/**
 * Says once for a source that it is no log of a known format, where nothing in it looks like a run
 * record: what each of its records lacks would lead astray.
 */
export async function* withoutAliens(
  items: AsyncIterable<RunOrProblem>,
  file: string,
): AsyncGenerator<RunOrProblem> {
  const held: RunProblem[] = [];
  let aliens = 0;
  let familiar = false;
  for await (const item of items) {
    if (!familiar && 'problem' in item && item.alien === true) {
      aliens += 1;
      if (held.length < MOST_HELD) held.push(item);
      continue;
    }
    if (!familiar) yield* held;
    if (!familiar && aliens > held.length)
      yield about('record', { file, path: '' }, `${aliens - held.length} more records lack an id`);
    familiar = true;
    yield item;
  }
  if (!familiar && aliens > 0) yield unknownFormat({ file, path: '' });
}
