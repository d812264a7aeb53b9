import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyServerOptions,
} from 'fastify';
import type { Config } from '../../config/schema.js';
import { Tokens } from '../app/tokens.js';
import { SluiceError } from '../core/problem.js';
import { unsupportedType } from './accept.js';
import { createGate } from './auth.js';
import type { HttpDeps } from './deps.js';
import { unknownRoute } from './not-found.js';
import type { Operation } from './operation.js';
import { createOperations } from './operations/built-in.js';
import { HttpProblem, problemOf } from './problems.js';
import { addRoutes, callerOf } from './routes.js';

type HttpSettings = Config['http'];

/** Milliseconds in which the head of a request must have come. */
const HEADERS_MS = 15_000;
/** Milliseconds for which nothing may move on a connection in use. */
const IDLE_MS = 120_000;
const KEEP_ALIVE_MS = 65_000;
/** Milliseconds that the rest of a body which nobody reads may take, so that its sender sees the answer. */
const UNREAD_MS = 2000;
const MOST_PARAM = 1024;

const WHILE_DRAINING: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/scale']);

async function tlsOf({ cert, key }: HttpSettings): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    const problem = { path: cert === undefined ? 'http.cert' : 'http.key', message: 'is missing' };
    throw new SluiceError('INVALID_CONFIG', 'HTTPS needs a certificate and its key.', [problem]);
  }
  const read = (path: string, file: string) =>
    readFile(file).catch((error: Error) => {
      throw new SluiceError('INVALID_CONFIG', 'HTTPS needs a certificate and its key.', [
        { path, message: `cannot be read: ${error.message}` },
      ]);
    });
  const [certificate, its] = await Promise.all([read('http.cert', cert), read('http.key', key)]);
  return { cert: certificate, key: its };
}

/** What is sent to a connection on which there is no HTTP, or no head in time. */
function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  const failure = new HttpProblem('INVALID_REQUEST', 'This is no HTTP request that can be read.', {
    status: Number(status.slice(0, 3)),
  });
  const body = JSON.stringify(problemOf(failure, randomUUID()).document);
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  socket.end(head + body, () => socket.destroy());
}

/** Node would answer without a word. */
function refuseExpectation(_request: unknown, response: ServerResponse): void {
  const message = 'Nothing but `Expect: 100-continue` is understood.';
  const failure = new HttpProblem('INVALID_REQUEST', message, { status: 417 });
  const body = JSON.stringify(problemOf(failure, randomUUID()).document);
  response.writeHead(417, { 'content-type': 'application/problem+json', connection: 'close' }).end(body);
}

/** Lets the sender of a body that nobody reads see the answer, then ends the connection. */
function endUnread(request: FastifyRequest): void {
  const { raw } = request;
  if (raw.complete) return;
  const timer = setTimeout(() => raw.socket.destroy(), UNREAD_MS);
  raw.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  raw.resume();
}

function addHooks(app: FastifyInstance, { engine, draining }: HttpDeps, isTls: boolean): void {
  const { log } = engine;
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id).header('cache-control', 'no-store');
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined)
      throw new HttpProblem('INVALID_REQUEST', 'The request has no Host header.');
    if (!draining.aborted) return;
    reply.header('connection', 'close');
    if (WHILE_DRAINING.has(request.url.split('?')[0] ?? '')) return;
    throw new SluiceError('UNAVAILABLE', 'This server is being ended; ask again.');
  });
  app.addHook('onSend', async (request, reply, payload) => {
    // What begins before the drain may end in it: the connection is of no more use.
    if (!request.raw.complete || draining.aborted) reply.header('connection', 'close');
    return payload;
  });
  app.addHook('onResponse', async (request, reply) => {
    endUnread(request);
    const { method, id, ip } = request;
    const { operation } = request.routeOptions.config as { operation?: string };
    engine.metrics?.recorder.request(operation, reply.statusCode);
    const [path] = request.url.split('?');
    const ms = Math.round(reply.elapsedTime);
    log.debug(
      { request: id, method, path, status: reply.statusCode, ms, actor: callerOf(request), ip },
      'answered',
    );
  });
  log.debug({ tls: isTls }, 'the HTTP server is made');
}

/** Ends connections on which nothing was asked yet: clients open some ahead, and closing waits for them. */
function endUnused(app: FastifyInstance, isTls: boolean): void {
  const unused = new Set<Socket>();
  app.server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  app.server.on('request', ({ socket }: { socket: Socket }) => unused.delete(socket));
  app.addHook('preClose', async () => {
    for (const socket of unused) socket.destroy();
  });
}

function addFailures(app: FastifyInstance, { engine }: HttpDeps, operations: readonly Operation[]): void {
  const fail = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const failure = withTypes(error, request, operations);
    const { status, headers, document } = problemOf(failure, request.id);
    if (document.code === 'INTERNAL')
      engine.log.error({ err: error, request: request.id, method: request.method }, 'a request failed');
    reply.code(status).headers(headers).header('content-type', 'application/problem+json; charset=utf-8');
    return reply.send(JSON.stringify(document));
  };
  app.setErrorHandler<FastifyError>(fail);
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?');
    return fail(unknownRoute(operations, request.method, path), request, reply);
  });
}

/** A refused type of body, with the types that the operation takes. */
function withTypes(error: unknown, request: FastifyRequest, operations: readonly Operation[]): unknown {
  if ((error as { code?: string }).code !== 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return error;
  const url = request.routeOptions.url ?? '';
  const operation = operations.find(
    (each) => each.method === request.method && each.path.replace(/\{(\w+)\}/g, ':$1') === url,
  );
  return operation === undefined ? error : unsupportedType(operation, request.headers['content-type']);
}

async function addSafety(app: FastifyInstance, settings: HttpSettings, isTls: boolean): Promise<void> {
  const { default: helmet } = await import('@fastify/helmet');
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: isTls ? { maxAge: 31_536_000 } : false,
    crossOriginResourcePolicy: { policy: settings.cors.length > 0 ? 'cross-origin' : 'same-origin' },
  });
  if (settings.cors.length > 0) {
    const { default: cors } = await import('@fastify/cors');
    await app.register(cors, {
      origin: settings.cors.map((url) => new URL(url).origin),
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
      exposedHeaders: ['location', 'retry-after', 'x-request-id'],
      maxAge: 600,
    });
  }
  const { default: rateLimit } = await import('@fastify/rate-limit');
  await app.register(rateLimit, { global: false });
}

/**
 * The HTTP API, ready to listen. Throws INVALID_CONFIG when certificate or key cannot be used.
 * `deps.draining` ends it: it answers 503 from then on, until it is closed.
 */
export async function createServer(deps: HttpDeps, settings: HttpSettings): Promise<FastifyInstance> {
  const { fastify } = await import('fastify');
  const tls = await tlsOf(settings);
  const timing = {
    headersTimeout: HEADERS_MS,
    requestTimeout: 0,
    connectionsCheckingInterval: 5000,
    // Node would answer without a word; see the first hook.
    requireHostHeader: false,
  };
  const options: FastifyServerOptions = {
    // Bodies have deadlines of their own: an upload may take as long as it moves.
    requestTimeout: 0,
    connectionTimeout: IDLE_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    bodyLimit: settings.body_limit,
    // `true` would take the first of X-Forwarded-For, which the client itself writes.
    trustProxy: (_address: string, hop: number) => hop < Number(settings.trust_proxy),
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MOST_PARAM },
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply) => {
      const { status, document } = problemOf(error, request.id);
      const answer = reply as unknown as FastifyReply;
      answer.code(status).header('content-type', 'application/problem+json; charset=utf-8');
      answer.send(JSON.stringify(document));
    },
  };
  const app = (
    tls === undefined
      ? fastify({ ...options, http: timing } as FastifyServerOptions)
      : fastify({ ...options, https: { ...timing, ...tls } } as FastifyServerOptions)
  ) as FastifyInstance;
  app.server.on('checkExpectation', refuseExpectation);
  const { public: isOpen } = deps.engine.config.metrics;
  const operations = createOperations(deps).map((each) =>
    isOpen && each.id === 'getMetrics' ? { ...each, role: null } : each,
  );
  addHooks(app, deps, tls !== undefined);
  endUnused(app, tls !== undefined);
  addFailures(app, deps, operations);
  await addSafety(app, settings, tls !== undefined);
  const tokens = new Tokens({ tokens: deps.engine.store.tokens, clock: deps.engine.clock });
  const gate = createGate(app, tokens, settings.rate);
  const { draining, engine } = deps;
  const { body_limit: bodyLimit } = settings;
  await addRoutes(app, operations, { gate, bodyLimit, draining, tracer: engine.tracer });
  return app;
}
