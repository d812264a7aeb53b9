import { z } from 'zod';
import { letterDocument } from '../../app/letter-documents.js';
import { withLetters } from '../../compose/letters.js';
import { type Problem, SluiceError } from '../../core/problem.js';
import { typeProblems } from '../../core/sink-filter.js';
import type { LetterFilter } from '../../ports/dead-letters.js';
import type { HttpDeps } from '../deps.js';
import { type Operation, operation } from '../operation.js';
import { pageQuery } from '../pages.js';
import { listSchema, time } from '../schemas/common.js';
import {
  droppedSchema,
  dropSchema,
  lettersSchema,
  redrivenSchema,
  redriveSchema,
} from '../schemas/letters.js';

/** Letters a second where nothing is said. */
const DEFAULT_RATE = 50;

const listQuery = z.strictObject({
  ...pageQuery,
  cursor: pageQuery.cursor
    .unwrap()
    .regex(/^\d{1,15} ./, 'is no cursor of this list')
    .optional()
    .describe('`cursor` of the page before'),
  sink: z.string().min(1).optional().describe('Only of this sink'),
  source: z.string().min(1).optional().describe('Only of this source'),
  type: listSchema.optional().describe('Names such as evaluation.failed, or plan.*; several by commas'),
  code: z.string().min(1).optional().describe('Only set aside for this reason'),
  since: time.optional().describe('Only set aside at or after'),
  before: time.optional().describe('Only set aside before'),
  id: listSchema.optional().describe('Only these; several by commas'),
});

interface Given {
  sink?: string | undefined;
  source?: string | undefined;
  types?: readonly string[] | undefined;
  code?: string | undefined;
  since?: string | undefined;
  before?: string | undefined;
  ids?: readonly string[] | undefined;
}

/** The filter that is meant. Throws INVALID_REQUEST. */
function filterOf({ sink, source, types, code, since, before, ids }: Given): LetterFilter {
  const problems: Problem[] = typeProblems(types ?? [], 'types');
  if (sink !== undefined && source !== undefined)
    problems.push({ path: 'source', message: 'cannot go with sink; a letter is of one of them' });
  if (problems.length > 0) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    throw new SluiceError('INVALID_REQUEST', `${count}; nothing was done.`, problems);
  }
  return {
    ...(sink === undefined ? {} : { direction: 'out', endpoint: sink }),
    ...(source === undefined ? {} : { direction: 'in', endpoint: source }),
    ...(types === undefined ? {} : { types }),
    ...(code === undefined ? {} : { code }),
    ...(since === undefined ? {} : { since: Date.parse(since) }),
    ...(before === undefined ? {} : { before: Date.parse(before) }),
    ...(ids === undefined ? {} : { ids }),
  };
}

function listOf(deps: HttpDeps): Operation {
  return operation<unknown, z.output<typeof listQuery>, unknown>({
    id: 'listDeadLetters',
    method: 'GET',
    path: '/v1/dead-letters',
    tag: 'delivery',
    summary: 'Events that sinks did not take, and messages that are no commands',
    role: 'read',
    query: listQuery,
    responses: { 200: { description: 'A page of dead letters', schema: lettersSchema } },
    example: { query: { limit: '10' } },
    async run({ query: { limit = 100, cursor = '', type, id, ...rest } }) {
      const filter = filterOf({ ...rest, types: type, ids: id });
      const page = await deps.engine.store.letters.list(filter, cursor, limit);
      return { status: 200, body: { letters: page.letters.map(letterDocument), cursor: page.cursor } };
    },
  });
}

function redriveOf(deps: HttpDeps): Operation {
  return operation<unknown, unknown, z.output<typeof redriveSchema>>({
    id: 'redriveDeadLetters',
    method: 'POST',
    path: '/v1/dead-letters/redrive',
    tag: 'delivery',
    summary: 'Delivers dead letters once more, or takes them again',
    description:
      'Waits for what becomes of them, and says it. Those of sinks that are waiting when the wait is over are still delivered by their dispatchers; those of sources are tried no more until they are asked for again.',
    role: 'operate',
    body: { schema: redriveSchema },
    responses: { 200: { description: 'What it really did', schema: redrivenSchema } },
    problems: ['INVALID_REQUEST'],
    example: { body: { sink: 'example', wait: 0 } },
    async run({ body, signal }) {
      const { all, rate = DEFAULT_RATE, wait, ...given } = body;
      const filter = filterOf(given);
      const options = {
        perSecond: rate,
        waitMs: wait,
        signal: AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, wait))]),
        ...(all === undefined ? {} : { all }),
      };
      const report = await withLetters(deps.engine, deps.intake, (letters) =>
        letters.redrive(filter, options),
      );
      return { status: 200, body: report };
    },
  });
}

function dropOf(deps: HttpDeps): Operation {
  return operation<unknown, unknown, z.output<typeof dropSchema>>({
    id: 'dropDeadLetters',
    method: 'POST',
    path: '/v1/dead-letters/drop',
    tag: 'delivery',
    summary: 'Removes dead letters for good',
    role: 'operate',
    body: { schema: dropSchema },
    responses: { 200: { description: 'How many are gone', schema: droppedSchema } },
    problems: ['INVALID_REQUEST'],
    example: { body: { sink: 'example', code: 'refused' } },
    async run({ body: { all, ...given } }) {
      const filter = filterOf(given);
      const options = all === undefined ? {} : { all };
      const dropped = await withLetters(deps.engine, deps.intake, (letters) => letters.drop(filter, options));
      return { status: 200, body: { dropped } };
    },
  });
}

/** Dead letters. */
export const letterOperations = (deps: HttpDeps): Operation[] => [
  listOf(deps),
  redriveOf(deps),
  dropOf(deps),
];
