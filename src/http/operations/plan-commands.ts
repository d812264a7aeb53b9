import { z } from 'zod';
import { type PlanOrder, planRequestOf } from '../../app/intake/plan-requests.js';
import { answerDocument } from '../../app/plan/documents.js';
import { withNearest } from '../../app/plan/nearest.js';
import type { PlanAnswer } from '../../app/plan/requests.js';
import { referencesOf } from '../../compose/intake.js';
import { commandType } from '../../core/commands/command.js';
import { type Problem, SluiceError, show } from '../../core/problem.js';
import { childPath } from '../../core/scenario/json-scan.js';
import type { ReferenceReader } from '../../ports/references.js';
import type { HttpDeps } from '../deps.js';
import { type Answer, type Call, type Operation, operation } from '../operation.js';
import { newPlanSchema, planAnswerSchema } from '../schemas/plans.js';
import { freshKey, originOf } from './keys.js';
import { PLAN_WORDS, type PlanWords } from './plan-words.js';

const paramsSchema = z.strictObject({ plan: z.string().min(1).describe('Id of the plan') });
type Params = z.output<typeof paramsSchema>;

type Name = PlanOrder['name'];
type Data = Record<string, unknown> & Evidence & { revision?: number | undefined };

interface Evidence {
  snapshots?: Record<string, unknown> | undefined;
  references?: Record<string, unknown> | undefined;
}

const BRINGS_WORK: ReadonlySet<Name> = new Set<Name>(['plan.submitted', 'plan.executed', 'plan.fixed']);

const refuse = (problems: readonly Problem[]): SluiceError => {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return new SluiceError('INVALID_REQUEST', `${count}; the plan stays as it is.`, problems);
};

/** What a schema cannot say of the evidence of a command. Throws INVALID_REQUEST. */
function checkEvidence(name: Name, { snapshots = {}, references = {}, digests }: Data): void {
  const problems: Problem[] = [];
  for (const resource of Object.keys(references)) {
    if (!Object.hasOwn(snapshots, resource)) continue;
    const path = childPath('references', resource);
    problems.push({ path, message: 'stands among the snapshots as well; each resource has one' });
  }
  const isEmpty = Object.keys(snapshots).length + Object.keys(references).length === 0;
  if (isEmpty && BRINGS_WORK.has(name))
    problems.push({ path: 'snapshots', message: 'is missing; give snapshots or references' });
  if (isEmpty && name === 'plan.apply.requested' && digests === undefined)
    problems.push({ path: 'digests', message: 'is missing; give digests or snapshots of what is applied' });
  if (problems.length > 0) throw refuse(problems);
}

/** The revision that must stand, of the body or of If-Match. */
function revisionOf(call: Call, given: number | undefined): number | undefined {
  const header = call.request.headers['if-match'];
  if (header === undefined || header === '*') return given;
  const stands = /^(?:W\/)?"?(\d{1,15})"?$/.exec(header)?.[1];
  if (stands === undefined)
    throw refuse([
      {
        path: 'If-Match',
        message: 'expected the revision of the plan, in quotes',
        found: show(header),
      },
    ]);
  if (given !== undefined && given !== Number(stands))
    throw refuse([{ path: 'revision', message: 'is another one than If-Match says', found: String(given) }]);
  return Number(stands);
}

function answered(answer: PlanAnswer): Answer {
  const { plan } = answer;
  const headers = { etag: `"${plan.revision}"`, location: `/v1/plans/${encodeURIComponent(plan.id)}` };
  // 202: an evaluation was asked for, whose decision moves the plan.
  return { status: plan.awaits === null ? 200 : 202, body: answerDocument(answer, plan, undefined), headers };
}

/** Data of commands on buses stands under `data`; that of a request is the body itself. */
function inBody(error: unknown): unknown {
  if (!(error instanceof SluiceError)) return error;
  const problems = error.problems.map((each) => ({ ...each, path: each.path.replace(/^data\./, '') }));
  return new SluiceError(error.code, error.message, problems);
}

/** Sends the command; the same key of the same token is the same command. */
async function send(
  deps: HttpDeps,
  references: ReferenceReader,
  call: Call,
  name: Name,
  data: Data,
): Promise<Answer> {
  const { caller, idempotencyKey = freshKey() } = call;
  checkEvidence(name, data);
  const revision = revisionOf(call, data.revision);
  const order = {
    name,
    id: idempotencyKey,
    source: originOf(caller.name),
    type: commandType(name),
    data: { ...data, ...(revision === undefined ? {} : { revision }) },
  } as PlanOrder;
  const request = await planRequestOf(order, caller.name, references).catch((error: unknown) => {
    throw inBody(error);
  });
  const { plans, engine } = deps;
  return answered(await withNearest(engine.store.plans, request.plan ?? '', () => plans.run(request)));
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

function commandOf(deps: HttpDeps, references: ReferenceReader, words: PlanWords): Operation {
  const { id, name, step, summary, description, schema, plan, example } = words;
  return operation<Params, unknown, unknown>({
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
    run: (call) =>
      send(deps, references, call as Call, name, { ...(call.body as Data), plan: call.params.plan }),
  });
}

function createOf(deps: HttpDeps, references: ReferenceReader): Operation {
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
    run(call) {
      const name = 'resources' in call.body ? 'plan.created' : 'plan.submitted';
      return send(deps, references, call as Call, name, call.body as Data);
    },
  });
}

/** Commands to plans. */
export function planCommandOperations(deps: HttpDeps): Operation[] {
  const references: ReferenceReader = { read: (reference) => readerOf().read(reference) };
  let reader: ReferenceReader | undefined;
  const readerOf = () => {
    reader ??= referencesOf(deps.engine);
    return reader;
  };
  return [createOf(deps, references), ...PLAN_WORDS.map((words) => commandOf(deps, references, words))];
}
