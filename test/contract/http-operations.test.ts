import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, openInline } from '../../src/compose.js';
import { bodyTypes } from '../../src/http/accept.js';
import type { HttpDeps } from '../../src/http/deps.js';
import { openApi } from '../../src/http/openapi.js';
import type { Operation } from '../../src/http/operation.js';
import { createOperations } from '../../src/http/operations/built-in.js';
import { ROLES } from '../../src/ports/tokens.js';
import { configWith, silent } from '../support/fleet.js';
import { startTestServer, type TestServer } from '../support/http.js';
import { seedExamples } from '../support/http-seed.js';

const operations = createOperations({} as HttpDeps);
const document = JSON.parse(JSON.stringify(openApi(operations))) as Record<string, unknown>;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(document, 'api');

interface Answered {
  status: number;
  type: string;
  text: string;
  headers: Headers;
}

type Change = { token?: string | null; body?: unknown; names?: Record<string, string> };

/** Sends an operation's example. */
async function send(server: TestServer, operation: Operation, change: Change = {}): Promise<Answered> {
  const { method, path, example, body } = operation;
  const { names = {}, token } = change;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = example?.params?.[name] ?? 'x';
    return encodeURIComponent(names[value] ?? value);
  });
  const query = new URLSearchParams(example?.query ?? {}).toString();
  const given = 'body' in change ? change.body : example?.body;
  const [type = 'application/json'] = bodyTypes(operation);
  const response = await server.ask(method, query === '' ? filled : `${filled}?${query}`, {
    ...(token === undefined ? {} : { token }),
    ...(body === undefined || given === undefined ? {} : { body: given, headers: { 'content-type': type } }),
  });
  const text = await response.text();
  const sent = response.headers.get('content-type')?.split(';')[0] ?? '';
  return { status: response.status, type: sent, text, headers: response.headers };
}

/** What the document says of an answer; fails when it says nothing. */
function checkDocumented(operation: Operation, { status, type, text }: Answered): void {
  const pointer = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1');
  const path = `#/paths/${pointer(operation.path)}/${operation.method.toLowerCase()}/responses/${status}`;
  const responses = (document.paths as Record<string, Record<string, { responses: object }>>)[
    operation.path
  ]?.[operation.method.toLowerCase()]?.responses as Record<string, { content?: Record<string, unknown> }>;
  expect(Object.keys(responses), `${operation.id} answered ${status}: ${text}`).toContain(String(status));
  const content = responses[status]?.content ?? {};
  if (text === '') {
    expect(Object.keys(content)).toEqual([]);
    return;
  }
  expect(Object.keys(content), operation.id).toContain(type);
  if (!/json$/.test(type)) return;
  const validate = ajv.compile({ $ref: `api${path}/content/${pointer(type)}/schema` });
  validate(JSON.parse(text));
  expect(validate.errors, `${operation.id}: ${text.slice(0, 500)}`).toBeNull();
}

describe.each(operations.map((operation) => ({ id: operation.id, operation })))('$id', ({ operation }) => {
  let engine: Engine;
  let server: TestServer;
  afterEach(async () => {
    await server.close();
    await engine.close();
  });

  it('answers its example as it is documented', async () => {
    engine = openInline(configWith(), silent);
    server = await startTestServer(engine);
    const body = operation.example?.body as { plan?: string } | undefined;
    const plan = operation.example?.params?.plan ?? body?.plan;
    const names = await seedExamples(engine, server, plan);
    const answered = await send(server, operation, { names });
    checkDocumented(operation, answered);
    expect(answered.status, answered.text).toBeLessThan(400);
    expect(answered.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answered.headers.get('cache-control')).toBe('no-store');
  });
});

describe('every operation', () => {
  let engine: Engine;
  let server: TestServer;
  beforeAll(async () => {
    engine = openInline(configWith({ http: { rate: 100_000 } }), silent);
    server = await startTestServer(engine);
  });
  afterAll(async () => {
    await server.close();
    await engine.close();
  });

  const guarded = operations.filter(({ role }) => role !== null);

  it.each(guarded.map((operation) => [operation.id, operation] as const))(
    '%s is refused without a token',
    async (_id, operation) => {
      const answered = await send(server, operation, { token: null });
      expect(answered.status).toBe(401);
      expect(answered.headers.get('www-authenticate')).toMatch(/^Bearer /);
      checkDocumented(operation, answered);
    },
  );

  const above = guarded.filter(({ role }) => role !== 'read');

  it.each(above.map((operation) => [operation.id, operation] as const))(
    '%s is refused to a lower role, which is told what it needs',
    async (_id, operation) => {
      const lower = ROLES[
        ROLES.indexOf(operation.role as (typeof ROLES)[number]) - 1
      ] as (typeof ROLES)[number];
      const answered = await send(server, operation, { token: server.tokens[lower] });
      expect(answered.status).toBe(403);
      expect(JSON.parse(answered.text)).toMatchObject({
        code: 'FORBIDDEN',
        detail: expect.stringContaining(`role ${operation.role}`),
      });
      checkDocumented(operation, answered);
    },
  );

  const taking = operations.filter(({ body }) => body !== undefined);

  it.each(taking.map((operation) => [operation.id, operation] as const))(
    '%s tells a broken body with a problem',
    async (_id, operation) => {
      for (const body of ['{"broken": ', '\u0000', '[[1]', '"text"', '{"__proto__": {"x": 1}}']) {
        const answered = await send(server, operation, { body });
        expect(answered.status, `${body}: ${answered.text}`).toBeGreaterThanOrEqual(400);
        expect(answered.status, `${body}: ${answered.text}`).toBeLessThan(500);
        expect(answered.type).toBe('application/problem+json');
        checkDocumented(operation, answered);
      }
    },
  );
});
