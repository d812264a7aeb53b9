import { z } from 'zod';
import { answerDocument } from '../../app/plan/documents.js';
import { withNearest } from '../../app/plan/nearest.js';
import type { PlanAnswer, PlanRequest, SnapshotsGiven } from '../../app/plan/requests.js';
import type { CommandData } from '../../core/commands/data.js';
import { idFrom } from '../../core/digest.js';
import { SluiceError, show } from '../../core/problem.js';
import type { HttpDeps } from '../deps.js';
import { type Answer, type Call, type Operation, operation } from '../operation.js';
import {
  applySchema,
  cancelSchema,
  executedSchema,
  fixedSchema,
  newPlanSchema,
  planAnswerSchema,
  respondedSchema,
  strategizedSchema,
} from '../schemas/plans.js';

const paramsSchema = z.strictObject({ plan: z.string().min(1).describe('Id of the plan') });
type Params = z.output<typeof paramsSchema>;

/** A request without who asks and how it is made sure that it is done once. */
type Body = PlanRequest extends infer R
  ? R extends PlanRequest
    ? Omit<R, 'actor' | 'command' | 'revision'>
    : never
  : never;

type Evidence = Pick<CommandData<'plan.executed'>, 'snapshots' | 'references'>;

const refuse = (path: string, message: string, found?: string): SluiceError =>
  new SluiceError('INVALID_REQUEST', '1 problem; the plan stays as it is.', [
    { path, message, ...(found === undefined ? {} : { found }) },
  ]);

/** The snapshots that a body carries, with those that it refers to; undefined when there are none. */
async function snapshotsOf({ intake }: HttpDeps, evidence: Evidence): Promise<SnapshotsGiven | undefined> {
  const { snapshots = {}, references = {} } = evidence;
  const twice = Object.keys(references).find((resource) => Object.hasOwn(snapshots, resource));
  if (twice !== undefined)
    throw refuse(`references.${twice}`, 'stands among the snapshots as well; each resource has one');
  const found = await intake.snapshots(evidence);
  return Object.keys(found).length === 0 ? undefined : found;
}

async function neededSnapshots(deps: HttpDeps, evidence: Evidence): Promise<SnapshotsGiven> {
  const found = await snapshotsOf(deps, evidence);
  if (found === undefined) throw refuse('snapshots', 'is missing; give snapshots or references');
  return found;
}

/** The revision that must stand, of the body or of If-Match. */
function revisionOf(call: Call, given: number | undefined): number | undefined {
  const header = call.request.headers['if-match'];
  if (header === undefined || header === '*') return given;
  const stands = /^(?:W\/)?"?(\d{1,15})"?$/.exec(header)?.[1];
  if (stands === undefined)
    throw refuse('If-Match', 'expected the revision of the plan, in quotes', show(header));
  if (given !== undefined && given !== Number(stands))
    throw refuse('revision', 'is another one than If-Match says', String(given));
  return Number(stands);
}

function answered(answer: PlanAnswer): Answer {
  const { plan } = answer;
  const headers = { etag: `"${plan.revision}"`, location: `/v1/plans/${encodeURIComponent(plan.id)}` };
  // 202: an evaluation was asked for, whose decision moves the plan.
  return { status: plan.awaits === null ? 200 : 202, body: answerDocument(answer, plan, undefined), headers };
}

/** Sends the command; the same key of the same token is the same command. */
async function send(deps: HttpDeps, call: Call, body: Body, revision: number | undefined): Promise<Answer> {
  const { caller, idempotencyKey } = call;
  const stands = revisionOf(call, revision);
  const request = {
    ...body,
    actor: caller.name,
    ...(idempotencyKey === undefined ? {} : { command: idFrom('http', caller.name, idempotencyKey) }),
    ...(stands === undefined ? {} : { revision: stands }),
  } as PlanRequest;
  const { plans, engine } = deps;
  return answered(await withNearest(engine.store.plans, request.plan ?? '', () => plans.run(request)));
}

interface Words<B> {
  id: string;
  /** Last part of the path. */
  step: string;
  summary: string;
  description?: string;
  schema: z.ZodType<B>;
  /** The plan of the example, which must be in the phase that the command takes. */
  plan: string;
  example: unknown;
  body(deps: HttpDeps, plan: string, given: B): Promise<Body>;
}

const headers = {
  ETag: 'Revision of the plan, in quotes',
  Location: 'Where the plan is',
};
const responses = {
  200: { description: 'The plan has moved', schema: planAnswerSchema, headers },
  202: { description: 'The plan has moved, and its checks have begun', schema: planAnswerSchema, headers },
};
const problems = [
  'PLAN_REFUSED',
  'COMMAND_CONFLICT',
  'NOT_FOUND',
  'INVALID_SNAPSHOT',
  'INVALID_REQUEST',
  'BAD_REFERENCE',
] as const;

function commandOf<B extends { revision?: number | undefined }>(deps: HttpDeps, words: Words<B>): Operation {
  const { id, step, summary, description, schema, plan, example } = words;
  return operation<Params, unknown, B>({
    id,
    method: 'POST',
    path: `/v1/plans/{plan}/${step}`,
    tag: 'plans',
    summary,
    ...(description === undefined ? {} : { description }),
    role: 'submit',
    params: paramsSchema,
    body: { schema },
    idempotent: true,
    responses,
    problems,
    example: { params: { plan }, body: example },
    async run(call) {
      const body = await words.body(deps, call.params.plan, call.body);
      return send(deps, call as Call, body, call.body.revision);
    },
  });
}

function createOf(deps: HttpDeps): Operation {
  return operation<unknown, unknown, z.output<typeof newPlanSchema>>({
    id: 'createPlan',
    method: 'POST',
    path: '/v1/plans',
    tag: 'plans',
    summary: 'Creates a plan, or submits the finished work of one',
    description:
      'With `resources` the plan waits for its strategy. With `snapshots` (or `references`) it is judged at once: for those who track no earlier phase.',
    role: 'submit',
    body: { schema: newPlanSchema },
    idempotent: true,
    responses,
    problems,
    example: { body: { plan: 'example-new', resources: ['example/one'] } },
    async run(call) {
      const { revision, plan, project, ...rest } = call.body;
      const place = {
        ...(plan === undefined ? {} : { plan }),
        ...(project === undefined ? {} : { project }),
      };
      const body: Body =
        'resources' in rest
          ? { type: 'create', ...place, resources: rest.resources }
          : { type: 'submit', ...place, snapshots: await neededSnapshots(deps, rest) };
      return send(deps, call as Call, body, revision);
    },
  });
}

const SNAPSHOT = { 'example/one': { good: true } };

/** Commands to plans. */
export function planCommandOperations(deps: HttpDeps): Operation[] {
  return [
    createOf(deps),
    commandOf(deps, {
      id: 'strategizedPlan',
      step: 'strategized',
      summary: 'The strategy is made, or revised',
      schema: strategizedSchema,
      plan: 'example-strategize',
      example: {},
      body: async (_deps, plan) => ({ type: 'strategized', plan }),
    }),
    commandOf(deps, {
      id: 'executedPlan',
      step: 'executed',
      summary: 'The strategy is executed: its checks begin',
      schema: executedSchema,
      plan: 'example-execute',
      example: { snapshots: SNAPSHOT },
      body: async (_deps, plan, given) => ({
        type: 'executed',
        plan,
        snapshots: await neededSnapshots(deps, given),
      }),
    }),
    commandOf(deps, {
      id: 'fixPlan',
      step: 'fixes',
      summary: 'What failed is mended: it is judged first',
      schema: fixedSchema,
      plan: 'example-fix',
      example: { snapshots: SNAPSHOT },
      body: async (_deps, plan, given) => ({
        type: 'fix',
        plan,
        snapshots: await neededSnapshots(deps, given),
      }),
    }),
    commandOf(deps, {
      id: 'respondToPlan',
      step: 'responses',
      summary: 'A person’s answer to an escalation',
      schema: respondedSchema,
      plan: 'example-escalated',
      example: { answer: 'retry', guidance: 'Ask the owner first' },
      body: async (_deps, plan, { answer, guidance }) => ({
        type: 'respond',
        plan,
        answer,
        ...(guidance === undefined ? {} : { guidance }),
      }),
    }),
    commandOf(deps, {
      id: 'applyPlan',
      step: 'apply',
      summary: 'Applies exactly what the gate opened on',
      description:
        'Answers 202 and applies nothing when the attachments have changed since the gate opened: everything is validated again then.',
      schema: applySchema,
      plan: 'example-ready',
      example: { snapshots: SNAPSHOT },
      async body(_deps, plan, given) {
        const snapshots = await snapshotsOf(deps, given);
        const { digests } = given;
        if (snapshots === undefined && digests === undefined)
          throw refuse('digests', 'is missing; give digests or snapshots of what is applied');
        return {
          type: 'apply',
          plan,
          ...(snapshots === undefined ? {} : { snapshots }),
          ...(digests === undefined ? {} : { digests }),
        };
      },
    }),
    commandOf(deps, {
      id: 'cancelPlan',
      step: 'cancel',
      summary: 'Gives the plan up',
      schema: cancelSchema,
      plan: 'example-cancel',
      example: { reason: 'not needed any more' },
      body: async (_deps, plan, { reason }) => ({
        type: 'cancel',
        plan,
        ...(reason === undefined ? {} : { reason }),
      }),
    }),
  ];
}
