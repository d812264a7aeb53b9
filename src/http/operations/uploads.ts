import { z } from 'zod';
import { batchStatus } from '../../app/intake/batches.js';
import { batchStatusDocumentSchema } from '../../core/document.js';
import { SluiceError } from '../../core/problem.js';
import { runRecordSchema } from '../../core/run-record.js';
import { unsupportedType } from '../accept.js';
import type { HttpDeps } from '../deps.js';
import { type Call, type Operation, operation } from '../operation.js';
import { batchParams } from '../schemas/batches.js';
import { flag, wholeNumber } from '../schemas/common.js';
import { uploadBody } from '../uploads/body.js';
import { checkUpload, submissionsOf } from '../uploads/runs.js';
import { Spool, spoolFailure } from '../uploads/spool.js';
import { whileMoving, within } from '../within.js';
import { EXAMPLE_RUN } from './examples.js';

const querySchema = z.strictObject({
  seal: flag.optional().describe('Whether no run comes after these; default: true'),
  offset: wholeNumber(0, 1e12)
    .optional()
    .describe('Position of the first of these runs in the input, for a batch in several uploads; default: 0'),
});

export const answerSchema = z.object({
  batch: batchStatusDocumentSchema,
  accepted: z.number().int().min(0).describe('Evaluations that this upload brought'),
  repeated: z.number().int().min(0).describe('Evaluations that the batch had accepted before'),
});

type UploadCall = Call<z.output<typeof batchParams>, z.output<typeof querySchema>, unknown>;

const PATIENCE_MS = 30_000;

const TYPES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'] as const;

function checkType(upload: Operation, call: UploadCall): void {
  const given = call.request.headers['content-type'];
  const type = given?.split(';')[0]?.trim().toLowerCase();
  if (!TYPES.some((each) => each === type)) throw unsupportedType(upload, given);
}

/** Says whenever the next is asked for. */
async function* noted<T>(items: AsyncIterable<T>, moved: () => void): AsyncGenerator<T> {
  for await (const item of items) {
    moved();
    yield item;
  }
}

async function take(deps: HttpDeps, { params, query, caller, request }: UploadCall) {
  const { upload_limit, body_limit } = deps.engine.config.http;
  // What will be refused is refused before anything is read.
  const { patience = PATIENCE_MS } = deps;
  const opened = await within(deps.batches.opened(params.batch), patience);
  const spool = new Spool(deps.spoolFolder);
  try {
    const body = uploadBody(request.raw, upload_limit);
    const total = await checkUpload(body, spool, opened.scenarios, body_limit);
    const runs = submissionsOf(spool, opened.scenarios, body_limit, query.offset ?? 0);
    // Nothing moves on the connection until all is accepted, however long that takes.
    request.raw.socket.setTimeout(0);
    return await whileMoving(patience, async (moved) => {
      const { accepted, standing } = await deps.batches.submit(
        opened,
        noted(runs, moved),
        total,
        caller.name,
        moved,
      );
      moved();
      const { batches } = deps;
      const batch = await (query.seal === false ? batches.status(params.batch) : batches.seal(params.batch));
      return { status: 202, body: { batch: batchStatus(batch), accepted, repeated: standing } };
    });
  } catch (error) {
    throw spoolFailure(error);
  } finally {
    await spool.close();
  }
}

/** Uploads of runs of any size. */
export function uploadOf(deps: HttpDeps): Operation {
  let inHand = 0;
  const upload: Operation = operation<UploadCall['params'], UploadCall['query'], unknown>({
    id: 'uploadRuns',
    method: 'POST',
    path: '/v1/batches/{batch}/runs',
    tag: 'batches',
    summary: 'Upload runs: one record a line, however many',
    description:
      'Every line is checked before the first is submitted: a broken one refuses the upload, with line numbers, and nothing of it is stored. Send the same upload again when the answer was lost: a run that was accepted is not judged twice. `Content-Encoding: gzip` is taken.',
    role: 'submit',
    params: batchParams,
    query: querySchema,
    body: {
      schema: runRecordSchema,
      contentTypes: TYPES,
      raw: true,
      long: true,
      description: 'One run record a line',
    },
    responses: { 202: { description: 'All of it is accepted', schema: answerSchema } },
    problems: ['NOT_FOUND', 'INVALID_RUNS', 'BATCH_CONFLICT'],
    example: { params: { batch: 'example-batch' }, body: EXAMPLE_RUN },
    async run(call) {
      checkType(upload, call);
      const most = deps.engine.config.http.uploads;
      if (inHand >= most)
        throw new SluiceError('UNAVAILABLE', `This server takes ${most} uploads at a time; try again later.`);
      inHand += 1;
      try {
        return await take(deps, call);
      } finally {
        inHand -= 1;
      }
    },
  });
  return upload;
}
