import { z } from 'zod';
import { type Cut, HitData } from '../hit.js';
import { checkPattern } from '../patterns/dialect.js';
import { nearestName, type Problem, show } from '../problem.js';
import type { Scope } from '../scenario/model.js';
import { isTaskField, scopesOf, WHERE_IN, WHERES, type Where } from '../scenario/where.js';
import type { Place, SearchText, SubjectView } from '../subject-view.js';
import { unexpectedOutcome } from './unexpected.js';
import type { MatchOutcome, RunOutcome, Validator, Verdict } from './validator.js';

/** Longest excerpt, in UTF-16 units before redaction. */
const EXCERPT = 160;

const patternField = z
  .string()
  .min(1)
  .max(10_000)
  .describe('Regular expression (RE2), case-insensitive; ^ and $ match at lines, . stays in its line');

const params = z.object({
  pattern: patternField,
  where: z.enum(WHERES).describe('The field to search'),
});
type Params = z.infer<typeof params>;

function problems({ pattern, where }: Partial<Params>, scope: Scope): Problem[] {
  const found: Problem[] = [];
  if (pattern !== undefined) {
    const checked = checkPattern(pattern);
    if (!checked.ok) {
      found.push({
        path: 'pattern',
        message: `is not a valid pattern: ${checked.message}`,
        found: show(pattern),
        ...(checked.proposal === undefined ? {} : { nearest: checked.proposal }),
      });
    }
  }
  if (where !== undefined && !WHERE_IN[scope].includes(where)) {
    const nearest = nearestName(where, WHERE_IN[scope]);
    found.push({
      path: 'where',
      message: `"${where}" cannot be searched in scope ${scope}, only in ${scopesOf(where).join(' and ')}`,
      found: show(where),
      allowed: [...WHERE_IN[scope]],
      ...(nearest === undefined ? {} : { nearest }),
    });
  }
  return found;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** At most 160 units around the match, never through a code point. */
function windowOf(text: string, start: number, end: number): [number, number] {
  const shown = Math.min(end - start, EXCERPT);
  const room = EXCERPT - shown;
  let to = Math.min(text.length, start + shown + (room - (room >> 1)));
  let from = Math.max(0, to - EXCERPT);
  if (to - from < EXCERPT) to = Math.min(text.length, from + EXCERPT);
  if (isLowSurrogate(text, from)) from += 1;
  if (to < text.length && isLowSurrogate(text, to)) to -= 1;
  return [from, Math.max(from, to)];
}

function cutOf(view: SubjectView, text: SearchText, start: number, end: number): Cut {
  const [from, to] = windowOf(text.text, start, end);
  return { text: view.excerpt(text, from, to), before: from > 0, behind: to < text.text.length };
}

/** What a rule says, by what it depends on: made once, because a batch asks thousands of runs the same. */
const said = new WeakMap<Params, { pattern: string; found: Map<string, string> }>();
const MOST_SAID = 200;

function saidBy(fields: Params, view: SubjectView): { pattern: string; found: Map<string, string> } {
  let known = said.get(fields);
  if (known === undefined) {
    const { pattern } = fields;
    const cut =
      pattern.length <= 60 ? pattern : `${Array.from(pattern.slice(0, 120)).slice(0, 60).join('')}…`;
    // As messages show it: short, and without secrets of its own.
    known = { pattern: view.redactor.redact(`/${cut}/`), found: new Map() };
    said.set(fields, known);
  }
  return known;
}

const shortPattern = (fields: Params, view: SubjectView): string => saidBy(fields, view).pattern;

function foundMessage(fields: Params, view: SubjectView, { task, exitCode }: Place): string {
  const { pattern, found } = saidBy(fields, view);
  const key = task === undefined ? '' : `${exitCode ?? ''} ${task}`;
  let message = found.get(key);
  if (message === undefined) {
    const whose = task === undefined ? '' : ` of task ${task}`;
    const exit = exitCode === undefined ? '' : ` (exit code ${exitCode})`;
    message = `${pattern} found in ${fields.where}${whose}${exit}`;
    if (found.size >= MOST_SAID) found.clear();
    found.set(key, message);
  }
  return message;
}

type Hit = Extract<MatchOutcome, { found: true }>;

function hitVerdict(fields: Params, view: SubjectView, scope: Scope, hit: Hit): Verdict {
  const { where } = fields;
  const text = view.texts(where, scope)[hit.text];
  const inside = text !== undefined && hit.start >= 0 && hit.start <= hit.end && hit.end <= text.text.length;
  if (!inside)
    return { outcome: 'error', message: 'the runner named a match outside the text', data: { where } };
  let first = hit.start;
  while (first < hit.end - 1 && text.text[first] === '\n') first += 1;
  const place = view.locate(where, scope, hit.text, first);
  const { task, command, exitCode } = place;
  const cut = cutOf(view, text, hit.start, hit.end);
  const data = new HitData({ where, task, command, exitCode, engine: hit.engine }, cut);
  return { outcome: 'pass', message: foundMessage(fields, view, place), data };
}

function missVerdict(
  fields: Params,
  view: SubjectView,
  count: number,
  scope: Scope,
  engine?: string,
): Verdict {
  const { where } = fields;
  const perTask = scope === 'tasks' && isTaskField(where);
  const whose = perTask ? ` of ${count === 1 ? 'the only task that has any' : `any of ${count} tasks`}` : '';
  return {
    outcome: 'fail',
    message: `${shortPattern(fields, view)} not found in ${where}${whose}`,
    data: { where, ...(engine === undefined ? {} : { engine }) },
  };
}

function noDataVerdict(where: Where, view: SubjectView): Verdict {
  const taskless = isTaskField(where) && view.taskCount === 0;
  return {
    outcome: 'fail',
    message: taskless ? `no data: the run has no task to look for ${where} in` : `no data: ${where} is empty`,
    data: { where },
    noData: true,
  };
}

function judge(fields: Params, view: SubjectView, scope: Scope, outcome?: RunOutcome): Verdict {
  const texts = view.texts(fields.where, scope);
  if (texts.length === 0) return noDataVerdict(fields.where, view);
  if (outcome?.kind !== 'match') return unexpectedOutcome(outcome);
  if (!outcome.found) return missVerdict(fields, view, texts.length, scope, outcome.engine);
  return hitVerdict(fields, view, scope, outcome);
}

/** A regular expression in a field of the job, its tasks or the ticket (SV, pattern_match; DESIGN 3.2). */
export const patternMatch: Validator<Params> = {
  name: 'pattern_match',
  description: 'Checks whether a regular expression matches in a field of the job, its tasks or the ticket',
  scopes: ['gateway', 'job', 'tasks'],
  runner: 'match',
  redacted: true,
  params,
  paramsIn: (scope) => ({
    where: z.enum(WHERE_IN[scope] as [Where, ...Where[]]).describe('The field to search'),
  }),
  problems,
  request({ pattern, where }, view, scope) {
    const texts = view.texts(where, scope);
    return texts.length === 0 ? undefined : { kind: 'match', pattern, texts };
  },
  judge,
};
