import { z } from 'zod';
import { loadScenarios } from '../../app/intake/batch-scenarios.js';
import { batchStatus } from '../../app/intake/batches.js';
import { idFrom } from '../../core/digest.js';
import { batchStatusDocumentSchema, indexedEvaluationSchema } from '../../core/document.js';
import { parseDuration } from '../../core/duration.js';
import { LEAST_WEIGHT, MOST_WEIGHT } from '../../core/fairness.js';
import { SluiceError } from '../../core/problem.js';
import type { HttpDeps } from '../deps.js';
import { type Operation, operation } from '../operation.js';
import { batchParams, type BatchParams as Params } from '../schemas/batches.js';
import { wholeNumber } from '../schemas/common.js';
import { EXAMPLE_SCENARIO } from './examples.js';
import { freshKey, originOf } from './keys.js';
import { uploadOf } from './uploads.js';

/** Longest time that decided evaluations are kept, as in the settings. */
const LONGEST_KEPT = '3650d';

const duration = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0 && ms <= (parseDuration(LONGEST_KEPT) ?? 0)) return ms;
  const message = `expected a duration such as 90s, 30m, 24h or 7d, of at most ${LONGEST_KEPT}`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const content = z.record(z.string(), z.unknown()).describe('What a scenario.json holds');
export const requestSchema = z.strictObject({
  scenarios: z
    .union([z.array(content), z.record(z.string(), content)])
    .describe('A list, each with its key, or an object by key'),
  files: z
    .record(z.string(), z.record(z.string(), z.string()))
    .optional()
    .describe('Files that playbooks need: by the key of the scenario, then by path: text'),
  strict: z.boolean().optional().describe('A pass without any data counts as a failure; default: false'),
  from: z
    .enum(['gateway', 'message', 'direct'])
    .optional()
    .describe('Where the runs came in: rules about the ticket apply only with gateway; default: direct'),
  retention: duration.optional().describe('How long decided evaluations are kept, such as 24h'),
  weight: z
    .number()
    .int()
    .min(LEAST_WEIGHT)
    .max(MOST_WEIGHT)
    .optional()
    .describe('Its share of the workers beside other large batches; default: 1'),
});
type Request = z.output<typeof requestSchema>;

async function open(deps: HttpDeps, id: string, request: Request) {
  const { scenarios, files, retention, strict, from, weight } = request;
  const loaded = loadScenarios(scenarios, files);
  const { batch, isNew } = await deps.batches.open({
    id,
    scenarios: loaded,
    strict,
    from,
    retentionMs: retention,
    weight,
  });
  const headers = { location: `/v1/batches/${encodeURIComponent(id)}` };
  return { status: isNew ? 201 : 200, headers, body: batchStatus(batch) };
}

const opened = {
  201: {
    description: 'It is open, and waits for runs',
    schema: batchStatusDocumentSchema,
    headers: { Location: 'Where to ask for it' },
  },
  200: { description: 'It was opened with the same before', schema: batchStatusDocumentSchema },
};

function openingOperations(deps: HttpDeps): Operation[] {
  return [
    operation<Params, unknown, Request>({
      id: 'openBatch',
      method: 'PUT',
      path: '/v1/batches/{batch}',
      tag: 'batches',
      summary: 'Open a batch under an id of yours',
      description: 'The same again is the same batch, as it stands; anything else under its id is refused.',
      role: 'submit',
      params: batchParams,
      body: { schema: requestSchema },
      responses: opened,
      problems: ['INVALID_SCENARIO', 'BATCH_CONFLICT'],
      example: { params: { batch: 'example-open' }, body: { scenarios: [EXAMPLE_SCENARIO] } },
      run: ({ params, body }) => open(deps, params.batch, body),
    }),
    operation<unknown, unknown, Request>({
      id: 'createBatch',
      method: 'POST',
      path: '/v1/batches',
      tag: 'batches',
      summary: 'Open a batch under an id that is made',
      role: 'submit',
      body: { schema: requestSchema },
      idempotent: true,
      responses: opened,
      problems: ['INVALID_SCENARIO', 'IDEMPOTENCY_CONFLICT'],
      example: { body: { scenarios: { 'restart-nginx': EXAMPLE_SCENARIO } } },
      async run({ body, caller, idempotencyKey }) {
        const id = idFrom('batch', originOf(caller.name), idempotencyKey ?? freshKey());
        try {
          return await open(deps, id, body);
        } catch (error) {
          if (!(error instanceof SluiceError) || error.code !== 'BATCH_CONFLICT') throw error;
          throw new SluiceError('IDEMPOTENCY_CONFLICT', `This key opened another batch. ${error.message}`);
        }
      },
    }),
  ];
}

function sealOf(deps: HttpDeps): Operation {
  return operation<Params, unknown, unknown>({
    id: 'sealBatch',
    method: 'POST',
    path: '/v1/batches/{batch}/seal',
    tag: 'batches',
    summary: 'No run comes any more',
    description: 'It is complete once all its evaluations are decided. Sealing it again changes nothing.',
    role: 'submit',
    params: batchParams,
    responses: { 200: { description: 'It is sealed', schema: batchStatusDocumentSchema } },
    problems: ['NOT_FOUND'],
    example: { params: { batch: 'example-batch' } },
    async run({ params }) {
      return { status: 200, body: batchStatus(await deps.batches.seal(params.batch)) };
    },
  });
}

function showOf(deps: HttpDeps): Operation {
  return operation<Params, unknown, unknown>({
    id: 'getBatch',
    method: 'GET',
    path: '/v1/batches/{batch}',
    tag: 'batches',
    summary: 'A batch as it stands',
    role: 'read',
    params: batchParams,
    responses: { 200: { description: 'State and counts', schema: batchStatusDocumentSchema } },
    problems: ['NOT_FOUND'],
    example: { params: { batch: 'example-batch' } },
    async run({ params }) {
      return { status: 200, body: batchStatus(await deps.batches.status(params.batch)) };
    },
  });
}

const pageQuery = z.strictObject({
  limit: wholeNumber(1, 500).optional().describe('Evaluations of a page, at most; default 100'),
  cursor: z.string().min(1).max(8192).optional().describe('`cursor` of the page before'),
});

export const pageSchema = z.object({
  batch: batchStatusDocumentSchema,
  evaluations: z.array(indexedEvaluationSchema),
  cursor: z.string().nullable().describe('Where the next page begins; null: there is nothing more now'),
});

function evaluationsOf(deps: HttpDeps): Operation {
  return operation<Params, z.output<typeof pageQuery>, unknown>({
    id: 'listBatchEvaluations',
    method: 'GET',
    path: '/v1/batches/{batch}/evaluations',
    tag: 'batches',
    summary: 'Decided evaluations of a batch in input order, page by page',
    description:
      'A cursor goes on behind the last evaluation that was told. What is decided later in front of it is not told any more: read an open batch again from the beginning once it is completed.',
    role: 'read',
    params: batchParams,
    query: pageQuery,
    responses: { 200: { description: 'A page', schema: pageSchema } },
    problems: ['NOT_FOUND'],
    example: { params: { batch: 'example-batch' }, query: { limit: '10' } },
    async run({ params: { batch: id }, query: { cursor, limit = 100 } }) {
      const batch = batchStatus(await deps.batches.status(id));
      const page = await deps.batches.evaluations(id, cursor, limit);
      return { status: 200, body: { batch, ...page } };
    },
  });
}

/** Batches: opened, filled by uploads, sealed, and read. */
export function batchOperations(deps: HttpDeps): Operation[] {
  return [...openingOperations(deps), uploadOf(deps), sealOf(deps), showOf(deps), evaluationsOf(deps)];
}
