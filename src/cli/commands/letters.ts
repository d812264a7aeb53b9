import { letterDocument } from '../../app/letter-documents.js';
import { isOfAll, type LetterFailure, type Redriven } from '../../app/letters.js';
import { intakeOf } from '../../compose/intake.js';
import { withLetters } from '../../compose/letters.js';
import { parseDuration } from '../../core/duration.js';
import { typeProblems } from '../../core/sink-filter.js';
import type { DeadLetter, LetterFilter } from '../../ports/dead-letters.js';
import { withFleet } from '../asker.js';
import { onInterrupt } from '../interrupt.js';
import { type FleetOptions, ProblemList, wholeNumber } from '../options.js';
import { print, printJson, say } from '../output.js';
import { tableOf } from '../table.js';

const DEFAULT_LIMIT = 50;
const DEFAULT_RATE = 50;
const MOST_RATE = 10_000;
/** Failures of a redrive that a person is shown. */
const MOST_SHOWN = 20;
const CHANGED = 'nothing was changed.';

export interface LetterOptions extends FleetOptions {
  sink?: string;
  source?: string;
  type?: string[];
  code?: string;
  since?: string;
  before?: string;
  id?: string[];
}

interface ChangeOptions extends LetterOptions {
  all?: boolean;
}

function durationOf(option: string, text: string | undefined, problems: ProblemList): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined)
    problems.add({
      code: 'USAGE',
      path: option,
      message: 'expected a duration such as 90s, 30m, 24h or 7d',
      found: JSON.stringify(text),
    });
  return ms;
}

/** The letters that are meant; what is wrong with the options goes to `problems`. */
function filterOf(options: LetterOptions, now: number, problems: ProblemList): LetterFilter {
  const { sink, source, type, code, id } = options;
  if (sink !== undefined && source !== undefined)
    problems.add({
      code: 'USAGE',
      path: '--source',
      message: 'cannot go with --sink; leave out one of them',
    });
  problems.add(...typeProblems(type ?? [], '').map((problem) => ({ ...problem, path: '--type' })));
  const since = durationOf('--since', options.since, problems);
  const before = durationOf('--before', options.before, problems);
  return {
    ...(sink === undefined ? {} : { direction: 'out' as const, endpoint: sink }),
    ...(source === undefined ? {} : { direction: 'in' as const, endpoint: source }),
    ...(type === undefined ? {} : { types: type }),
    ...(code === undefined ? {} : { code }),
    ...(since === undefined ? {} : { since: now - since }),
    ...(before === undefined ? {} : { before: now - before }),
    ...(id === undefined ? {} : { ids: id }),
  };
}

/** What is changed must be named: by a filter, or by --all, which goes with none. */
function mustName(options: ChangeOptions, filter: LetterFilter, problems: ProblemList): void {
  const isNamed = !isOfAll(filter) || problems.problems.length > 0;
  if (!isNamed && options.all !== true)
    problems.add({
      code: 'USAGE',
      path: '--all',
      message: 'is missing; name the dead letters by a filter, or all of them by it',
    });
  if (isNamed && options.all === true)
    problems.add({ code: 'USAGE', path: '--all', message: 'cannot go with a filter; leave out one of them' });
}

const placeOf = ({ direction, endpoint }: Pick<DeadLetter, 'direction' | 'endpoint'>) =>
  direction === 'out' ? `sink ${endpoint}` : `source ${endpoint}`;

const shortType = (type: string | null) => (type ?? '-').replace(/^dev\.sluice\.|\.v1$/g, '');

function lettersTable(letters: readonly DeadLetter[]): string {
  const rows = letters.map((letter) => [
    new Date(letter.at).toISOString().slice(0, 19),
    placeOf(letter),
    shortType(letter.type),
    letter.id,
    letter.code,
    String(letter.tries),
    letter.reason.slice(0, 120),
  ]);
  return tableOf(['SET ASIDE (UTC)', 'OF', 'EVENT', 'ID', 'CODE', 'TRIES', 'REASON'], rows);
}

/** `sluice dead-letters list`; answers 0. */
export async function listLetters(
  options: LetterOptions & { limit?: string; cursor?: string },
): Promise<number> {
  const problems = new ProblemList();
  const limit = wholeNumber('--limit', options.limit, 1, problems) ?? DEFAULT_LIMIT;
  const filter = filterOf(options, Date.now(), problems);
  const page = await withFleet(options, 'read', problems, 'nothing was read.', async ({ engine }) => {
    const letters: DeadLetter[] = [];
    let cursor: string | null = options.cursor ?? '';
    while (cursor !== null && letters.length < limit) {
      const next = await engine.store.letters.list(filter, cursor, limit - letters.length);
      letters.push(...next.letters);
      cursor = next.cursor;
    }
    return { letters, cursor };
  });
  if (options.json) {
    await printJson({ letters: page.letters.map(letterDocument), cursor: page.cursor });
    return 0;
  }
  if (page.letters.length === 0) say('sluice: there are no such dead letters');
  await print(lettersTable(page.letters));
  if (page.cursor !== null)
    say(`sluice: the oldest ${page.letters.length}; more with --cursor ${JSON.stringify(page.cursor)}`);
  return 0;
}

/** `sluice dead-letters drop`; answers 0. */
export async function dropLetters(options: ChangeOptions): Promise<number> {
  const problems = new ProblemList();
  const filter = filterOf(options, Date.now(), problems);
  mustName(options, filter, problems);
  const dropped = await withFleet(options, 'read', problems, CHANGED, ({ engine }) =>
    withLetters(engine, intakeOf(engine), (letters) => letters.drop(filter, { all: options.all === true })),
  );
  if (options.json) await printJson({ dropped });
  else say(`sluice: ${dropped} dead ${dropped === 1 ? 'letter was' : 'letters were'} dropped`);
  return 0;
}

function rateOf(text: string | undefined, problems: ProblemList): number {
  if (text === undefined) return DEFAULT_RATE;
  const rate = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (rate >= 0.01 && rate <= MOST_RATE) return rate;
  const message = `expected letters a second, from 0.01 to ${MOST_RATE}`;
  problems.add({ code: 'USAGE', path: '--rate', message, found: text });
  return DEFAULT_RATE;
}

function redriveText({ matched, delivered, failed, failures, waiting }: Redriven): string {
  if (matched === 0) return 'there are no such dead letters\n';
  const counts = [
    `${delivered} of ${matched} delivered`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(waiting > 0 ? [`${waiting} not known yet: they wait for the dispatcher of their sink`] : []),
  ];
  const rowOf = (failure: LetterFailure) => [
    placeOf(failure),
    shortType(failure.type),
    failure.id,
    failure.reason.slice(0, 200),
  ];
  const shown = failures.slice(0, MOST_SHOWN);
  const rest = failed - shown.length;
  const more = rest > 0 ? `... and ${rest} more\n` : '';
  return `${counts.join(', ')}\n${tableOf(['OF', 'EVENT', 'ID', 'REASON'], shown.map(rowOf))}${more}`;
}

/** `sluice dead-letters redrive`; answers 0 when all were delivered, 1 when some are dead letters still. */
export async function redriveLetters(
  options: ChangeOptions & { rate?: string; wait?: string },
): Promise<number> {
  const problems = new ProblemList();
  const filter = filterOf(options, Date.now(), problems);
  mustName(options, filter, problems);
  const perSecond = rateOf(options.rate, problems);
  const waitMs = durationOf('--wait', options.wait, problems);
  const report = await withFleet(options, 'read', problems, CHANGED, async ({ engine }) => {
    const interrupt = onInterrupt(
      () => say('sluice: waiting no more; what is on its way goes on'),
      async () => {},
    );
    const settings = {
      perSecond,
      all: options.all === true,
      signal: interrupt.signal,
      ...(waitMs === undefined ? {} : { waitMs }),
    };
    try {
      return await withLetters(engine, intakeOf(engine), (letters) => letters.redrive(filter, settings));
    } finally {
      interrupt.dispose();
    }
  });
  if (options.json) await printJson(report);
  else await print(redriveText(report));
  return report.failed + report.waiting > 0 ? 1 : 0;
}
