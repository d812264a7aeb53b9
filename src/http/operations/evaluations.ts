import { z } from 'zod';
import type { EvaluationRequest, EvaluationStatus, Given } from '../../app/intake/requests.js';
import { planEvaluationDocument } from '../../app/plan/documents.js';
import { planEvaluation } from '../../app/plan/status.js';
import { commandData } from '../../core/commands/data.js';
import { evaluationDocumentSchema } from '../../core/document.js';
import { isoTime } from '../../core/iso-time.js';
import { type Problem, SluiceError, show } from '../../core/problem.js';
import type { HttpDeps } from '../deps.js';
import { type Operation, operation } from '../operation.js';
import { time } from '../schemas/common.js';
import { planEvaluationSchema } from '../schemas/plans.js';
import { EXAMPLE_RUN, EXAMPLE_SCENARIO } from './examples.js';
import { freshKey, originOf } from './keys.js';

export const requestSchema = commandData['evaluation.requested'];
type Request = z.output<typeof requestSchema>;

export const acceptedSchema = z.object({
  evaluation: z.string().describe('Id of the evaluation'),
  repeated: z.boolean().describe('It was asked for before with the same key; nothing was done'),
});

const paramsSchema = z.strictObject({
  evaluation: z.string().min(1).max(128).describe('Id of the evaluation'),
});

const runStatusSchema = z
  .object({
    id: z.string(),
    plan: z.null().describe('It is of a run'),
    state: z.enum(['pending', 'decided']),
    batch: z.string().nullable().describe('null: it was asked for by itself'),
    actor: z.string().nullable().describe('Who asked for it; null: not known'),
    run: z.string(),
    case: z.string(),
    accepted_at: time,
    deadline: time.describe('What has no result by then is decided as an error'),
    decision: evaluationDocumentSchema.nullable().describe('null while it is pending'),
    unserved: z
      .object({ needs: z.array(z.string()), since: time })
      .nullable()
      .describe('Runners that it waits for and no living worker has; null: none'),
  })
  .describe('An evaluation of a run');

/** Told apart by `plan`: null, or the plan that is judged. */
export const statusSchema = z.union([runStatusSchema, planEvaluationSchema]);

function givenOf(
  name: 'scenario' | 'run',
  inline: unknown,
  reference: Request['run_ref'],
  problems: Problem[],
): Given | undefined {
  if (inline !== undefined && reference !== undefined) {
    problems.push({ path: `${name}_ref`, message: `stands beside ${name}; give one of them` });
    return undefined;
  }
  if (reference !== undefined) return { reference };
  if (inline !== undefined) return { inline };
  problems.push({ path: name, message: 'is missing', allowed: [name, `${name}_ref`] });
  return undefined;
}

/** The request of a token with a key. Throws INVALID_REQUEST. */
function requestOf(body: Request, caller: string, key: string): EvaluationRequest {
  const problems: Problem[] = [];
  const scenario = givenOf('scenario', body.scenario, body.scenario_ref, problems);
  const run = givenOf('run', body.run, body.run_ref, problems);
  if (scenario === undefined || run === undefined)
    throw new SluiceError('INVALID_REQUEST', 'The request is not whole; nothing was done.', problems);
  const { files, strict, from } = body;
  return {
    origin: originOf(caller),
    key,
    actor: caller,
    scenario,
    run,
    ...(files === undefined ? {} : { files }),
    ...(strict === undefined ? {} : { strict }),
    ...(from === undefined ? {} : { from }),
  };
}

function submitOf(deps: HttpDeps): Operation {
  return operation<unknown, unknown, Request>({
    id: 'submitEvaluation',
    method: 'POST',
    path: '/v1/evaluations',
    tag: 'evaluations',
    summary: 'Judge one run by one scenario',
    description: 'Answers once it is accepted. Ask for it, or follow the events, to hear the decision.',
    role: 'submit',
    body: { schema: requestSchema },
    idempotent: true,
    responses: {
      202: {
        description: 'It is accepted, and will be decided exactly once',
        schema: acceptedSchema,
        headers: { Location: 'Where to ask for it' },
      },
    },
    problems: ['BAD_REFERENCE', 'IDEMPOTENCY_CONFLICT'],
    example: { body: { scenario: EXAMPLE_SCENARIO, run: EXAMPLE_RUN } },
    async run({ body, caller, idempotencyKey }) {
      const request = requestOf(body, caller.name, idempotencyKey ?? freshKey());
      const answer = await deps.evaluations.submit(request);
      const headers = { location: `/v1/evaluations/${answer.evaluation}` };
      return { status: 202, headers, body: answer };
    },
  });
}

function runStatus({ acceptedAt, deadline, unserved, ...rest }: EvaluationStatus) {
  return {
    plan: null,
    ...rest,
    accepted_at: isoTime(acceptedAt),
    deadline: isoTime(deadline),
    unserved: unserved === null ? null : { needs: unserved.needs, since: isoTime(unserved.since) },
  };
}

function showOf(deps: HttpDeps): Operation {
  return operation<z.output<typeof paramsSchema>, unknown, unknown>({
    id: 'getEvaluation',
    method: 'GET',
    path: '/v1/evaluations/{evaluation}',
    tag: 'evaluations',
    summary: 'An evaluation of a run or a plan, with its decision and results',
    description: 'The `dataref` of an event leads here.',
    role: 'read',
    params: paramsSchema,
    responses: { 200: { description: 'As it stands', schema: statusSchema } },
    problems: ['NOT_FOUND'],
    example: { params: { evaluation: 'example-evaluation' } },
    async run({ params: { evaluation: id } }) {
      const ofRun = await deps.evaluations.status(id);
      if (ofRun !== undefined) return { status: 200, body: runStatus(ofRun) };
      const ofPlan = await planEvaluation(deps.engine.store, id);
      if (ofPlan !== undefined) return { status: 200, body: planEvaluationDocument(ofPlan) };
      throw new SluiceError('NOT_FOUND', `There is no evaluation ${show(id)}, or it is kept no longer.`);
    },
  });
}

/** Single evaluations of runs. */
export function evaluationOperations(deps: HttpDeps): Operation[] {
  return [submitOf(deps), showOf(deps)];
}
