import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { planDocument } from '../../app/plan/documents.js';
import { PlanRefusedError } from '../../app/plan/service.js';
import { type CloudEventIn, type CloudEventMessage, decodeMessage } from '../../core/cloud-events.js';
import { commandOf } from '../../core/commands/command.js';
import { BATCHED_TYPE, decodeAttribute, HEADER_PREFIX, STRUCTURED_TYPE } from '../../core/http-binding.js';
import { isPlainObject } from '../../core/json.js';
import { type Problem, SluiceError } from '../../core/problem.js';
import type { HttpDeps } from '../deps.js';
import { type Answer, type Call, type Operation, operation } from '../operation.js';
import { HttpProblem } from '../problems.js';
import { cloudEventSchema, type commandResultSchema, commandResultsSchema } from '../schemas/events.js';
import { uploadBody } from '../uploads/body.js';
import { EXAMPLE_RUN, EXAMPLE_SCENARIO } from './examples.js';

/** Milliseconds in which all of the body must have come. */
const LONGEST_BODY_MS = 30_000;

type Result = z.output<typeof commandResultSchema>;

/** The request as a message: attributes stand in headers that begin with `ce-`. */
function messageOf({ headers }: IncomingMessage, body: Uint8Array): CloudEventMessage {
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(HEADER_PREFIX) || typeof value !== 'string') continue;
    attributes[name.slice(HEADER_PREFIX.length)] = decodeAttribute(value);
  }
  const contentType = headers['content-type'];
  return { body, attributes, ...(contentType === undefined ? {} : { contentType }) };
}

async function bodyOf(raw: IncomingMessage, limit: number): Promise<Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `The body did not come within ${LONGEST_BODY_MS / 1000} s.`;
      reject(new HttpProblem('INVALID_REQUEST', message, { status: 408 }));
    }, LONGEST_BODY_MS);
  });
  const read = (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of uploadBody(raw, limit)) chunks.push(chunk);
    return Buffer.concat(chunks);
  })();
  read.catch(() => {});
  try {
    return await Promise.race([read, late]);
  } finally {
    clearTimeout(timer);
  }
}

const invalid = (problems: readonly Problem[]): SluiceError => {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return new SluiceError('INVALID_EVENT', `${count}; nothing was done.`, problems);
};

/** Takes one event. Throws why it is refused, or why it cannot be taken now. */
async function take(deps: HttpDeps, event: CloudEventIn, actor: string): Promise<Result> {
  const { id, type } = event;
  const answer = commandOf(event);
  if (answer.kind === 'ignored') return { id, type, outcome: 'ignored' };
  if (answer.kind === 'refused') throw invalid(answer.problems);
  return deps.intake.take(answer.command, actor);
}

/** An event that is refused, beside others; what is no refusal is thrown: the whole is to be sent again. */
function refusedResult(error: unknown, id: string | null, type: string | null): Result {
  if (!(error instanceof SluiceError) || error.exitCode !== 2) throw error;
  const plan = error instanceof PlanRefusedError && error.plan !== undefined ? error.plan : undefined;
  const problem = {
    code: error.code,
    detail: error.message,
    problems: error.problems.map((each) => ({ ...each })),
    ...(plan === undefined ? {} : { plan: planDocument(plan) as NonNullable<Result['problem']>['plan'] }),
  };
  return { id, type, outcome: 'refused', problem };
}

const textOf = (json: unknown, key: string): string | null => {
  const value = isPlainObject(json) ? json[key] : undefined;
  return typeof value === 'string' ? value : null;
};

/** In the order of the batch: commands to one plan build on each other. */
async function takeBatch(
  deps: HttpDeps,
  { events, refused }: Extract<ReturnType<typeof decodeMessage>, { ok: true }>,
  actor: string,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const { index, problems, json } of refused)
    results[index] = refusedResult(invalid(problems), textOf(json, 'id'), textOf(json, 'type'));
  for (const event of events) {
    try {
      results[event.index] = await take(deps, event, actor);
    } catch (error) {
      results[event.index] = refusedResult(error, event.id, event.type);
    }
  }
  return results;
}

async function run(deps: HttpDeps, { request, caller }: Call): Promise<Answer> {
  const limit = deps.engine.config.http.body_limit;
  const message = messageOf(request.raw, await bodyOf(request.raw, limit));
  const decoded = decodeMessage(message, { maxBytes: limit });
  if (!decoded.ok) throw invalid(decoded.problems);
  const [event] = decoded.events;
  if (decoded.isBatch) return { status: 202, body: { results: await takeBatch(deps, decoded, caller.name) } };
  const results = event === undefined ? [] : [await take(deps, event, caller.name)];
  return { status: 202, body: { results } };
}

const EXAMPLE = {
  specversion: '1.0',
  id: 'example-1',
  source: '/examples',
  type: 'dev.sluice.evaluation.requested.v1',
  datacontenttype: 'application/json',
  data: { scenario: EXAMPLE_SCENARIO, run: EXAMPLE_RUN },
};

/** Commands as CloudEvents. */
export function commandOperations(deps: HttpDeps): Operation[] {
  return [
    operation<unknown, unknown, unknown>({
      id: 'sendEvents',
      method: 'POST',
      path: '/v1/events',
      tag: 'events',
      summary: 'Commands as CloudEvents: one, or a batch',
      description:
        'In structured, batched or binary mode (headers that begin with ce-). The same `source` and `id` are the same command, however often they are sent. One event that is refused is answered with the problem; in a batch each event has its own outcome, and the others are taken all the same. Nothing that is refused here becomes a dead letter.',
      role: 'submit',
      body: {
        schema: cloudEventSchema,
        contentTypes: [STRUCTURED_TYPE, BATCHED_TYPE, 'application/json'],
        raw: true,
        description: 'A CloudEvent; in batched mode a list of them; in binary mode the data of one',
      },
      responses: { 202: { description: 'What became of each event', schema: commandResultsSchema } },
      problems: [
        'INVALID_EVENT',
        'INVALID_SCENARIO',
        'INVALID_RUNS',
        'INVALID_SNAPSHOT',
        'BAD_REFERENCE',
        'PLAN_REFUSED',
        'COMMAND_CONFLICT',
        'IDEMPOTENCY_CONFLICT',
        'NOT_FOUND',
        'TOO_LARGE',
      ],
      example: { body: EXAMPLE },
      run: (call) => run(deps, call as Call),
    }),
  ];
}
