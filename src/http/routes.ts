import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type Problem, SluiceError } from '../core/problem.js';
import type { Tracer } from '../ports/tracer.js';
import { checkAccept } from './accept.js';
import type { Gate } from './auth.js';
import { takeJson } from './json-body.js';
import { type Answer, type Call, type Caller, isStream, type Operation } from './operation.js';
import { schemaProblems } from './validate.js';
import { within } from './within.js';

/** Milliseconds that an operation may take; streams and uploads take what they need. */
const LONGEST_RUN_MS = 30_000;
/** Milliseconds that a body may take to arrive. */
const LONGEST_BODY_MS = 30_000;
const KEY = /^[\x21-\x7e]{1,255}$/;

export interface RouteSettings {
  gate: Gate;
  /** Bytes of a body that is not an upload. */
  bodyLimit: number;
  draining: AbortSignal;
  /** Goes on with the traces that requests bring. */
  tracer?: Tracer | undefined;
}

const callers = new WeakMap<FastifyRequest, Caller>();

/** Name of the token that a request came with; undefined: none that is valid. */
export const callerOf = (request: FastifyRequest): string | undefined => callers.get(request)?.name;

function keyOf(operation: Operation, request: FastifyRequest, problems: Problem[]): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined || operation.idempotent !== true) return undefined;
  if (typeof key === 'string' && KEY.test(key)) return key;
  problems.push({ path: 'Idempotency-Key', message: 'must be 1 to 255 visible characters of ASCII' });
  return undefined;
}

/** Everything that a request gives, by the operation's schemas. Throws INVALID_REQUEST with every problem. */
function checked(operation: Operation, request: FastifyRequest): Omit<Call, 'caller' | 'signal' | 'reply'> {
  const problems: Problem[] = [];
  const read = (schema: z.ZodType | undefined, value: unknown): unknown => {
    if (schema === undefined) return value;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    problems.push(...schemaProblems(schema, parsed.error, value));
    return undefined;
  };
  const { params, query, body } = operation;
  const call = {
    params: read(params, request.params),
    query: read(query, { ...(request.query as object) }),
    body: body === undefined || body.raw === true ? undefined : read(body.schema, request.body),
    idempotencyKey: keyOf(operation, request, problems),
    request,
  };
  if (problems.length === 0) return call;
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  throw new SluiceError('INVALID_REQUEST', `The request has ${count}; nothing was done.`, problems);
}

/** Aborted when the client hangs up before it is answered, or the server drains. */
function signalOf(reply: FastifyReply, draining: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (draining.aborted) abort();
  draining.addEventListener('abort', abort, { once: true });
  reply.raw.once('close', () => {
    draining.removeEventListener('abort', abort);
    if (!reply.raw.writableFinished) abort();
  });
  return controller.signal;
}

function send(operation: Operation, reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer === 'sent') return reply;
  const { status, body, headers = {} } = answer;
  reply.code(status).headers(headers);
  if (body === undefined) return reply.send();
  const type = operation.responses[status]?.contentType ?? 'application/json';
  reply.header('content-type', `${type}; charset=utf-8`);
  return reply.send(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Ends a connection whose body does not arrive: there is nobody to wait for. */
function limitBody(request: FastifyRequest): void {
  const { raw } = request;
  if (raw.complete) return;
  const timer = setTimeout(() => raw.socket.destroy(), LONGEST_BODY_MS);
  const clear = () => clearTimeout(timer);
  raw.once('end', clear).once('close', clear);
}

const isRaw = ({ body }: Operation) => body?.raw === true;

function addRoute(app: FastifyInstance, operation: Operation, settings: RouteSettings): void {
  const isUpload = operation.body?.long === true;
  app.route({
    method: operation.method,
    config: { operation: operation.id },
    url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
    exposeHeadRoute: operation.method === 'GET' && !isStream(operation),
    bodyLimit: settings.bodyLimit,
    async onRequest(request) {
      callers.set(request, await within(settings.gate.admit(operation, request), LONGEST_RUN_MS));
      checkAccept(operation, request.headers.accept);
      if (!isRaw(operation)) limitBody(request);
    },
    async handler(request, reply) {
      const caller = callers.get(request) as Caller;
      const call = {
        ...checked(operation, request),
        caller,
        reply,
        signal: signalOf(reply, settings.draining),
      };
      const { traceparent } = request.headers;
      const { tracer } = settings;
      const work =
        tracer === undefined || typeof traceparent !== 'string'
          ? operation.run(call)
          : tracer.within(traceparent, () => operation.run(call));
      const isLong = () => isUpload || reply.sent;
      // What is read as it comes takes the time of its body as well.
      const longest = isRaw(operation) ? LONGEST_BODY_MS + LONGEST_RUN_MS : LONGEST_RUN_MS;
      return send(operation, reply, await within(work, longest, isLong));
    },
  });
}

/** Adds every operation; those whose bodies are read as they come have no parser in front of them. */
export async function addRoutes(
  app: FastifyInstance,
  operations: readonly Operation[],
  settings: RouteSettings,
): Promise<void> {
  await app.register(async (scope) => {
    takeJson(scope);
    for (const operation of operations.filter((each) => !isRaw(each))) addRoute(scope, operation, settings);
  });
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const operation of operations.filter(isRaw)) addRoute(scope, operation, settings);
  });
}
