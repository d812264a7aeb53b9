import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SluiceError } from '../../../src/core/problem.js';
import { checkAccept } from '../../../src/http/accept.js';
import { isTooDeep } from '../../../src/http/json-body.js';
import { methodsAt, unknownRoute } from '../../../src/http/not-found.js';
import { HttpProblem, PROBLEMS, problemDocumentSchema, problemOf } from '../../../src/http/problems.js';
import { schemaProblems } from '../../../src/http/validate.js';

const ROUTES = [
  { method: 'GET', path: '/v1/plans' },
  { method: 'POST', path: '/v1/plans' },
  { method: 'GET', path: '/v1/plans/{plan}' },
  { method: 'POST', path: '/v1/plans/{plan}/fixes' },
  { method: 'DELETE', path: '/v1/tools/{namespace}/{name}' },
  {
    method: 'GET',
    path: '/v1/stream',
    responses: { 200: { description: 'Events', also: ['text/event-stream'] } },
  },
] as const;

describe('an unknown route', () => {
  it.each([
    ['/v1/plans', ['GET', 'HEAD', 'POST']],
    ['/v1/plans/abc', ['GET', 'HEAD']],
    ['/v1/plans/abc/', ['GET', 'HEAD']],
    ['/v1/plans/abc/fixes', ['POST']],
    ['/v1/tools/local/x', ['DELETE']],
    ['/v1/plan', []],
    ['//v1/plans', []],
    ['/v1/plans//', []],
    ['/v1/stream', ['GET']],
    ['/', []],
  ])('%s takes %j', (path, methods) => {
    expect(methodsAt(ROUTES, path)).toEqual(methods);
  });

  it.each([
    ['/v1/plan', '/v1/plans'],
    ['/v1/plans/abc/fixs', '/v1/plans/{plan}/fixes'],
    ['/v1/tool/local/x', '/v1/tools/{namespace}/{name}'],
  ])('%s means %s', (path, nearest) => {
    expect(unknownRoute(ROUTES, 'GET', path)).toMatchObject({ code: 'NOT_FOUND', problems: [{ nearest }] });
  });

  it('with another method says which there are', () => {
    expect(unknownRoute(ROUTES, 'DELETE', '/v1/plans')).toMatchObject({
      code: 'METHOD_NOT_ALLOWED',
      headers: { allow: 'GET, HEAD, POST' },
    });
  });
});

describe('what a client accepts', () => {
  const json = { responses: { 200: { description: '', schema: z.object({}), also: ['text/event-stream'] } } };
  it.each([
    [undefined, true],
    ['', true],
    ['*/*', true],
    ['application/json', true],
    ['application/*;q=0.5', true],
    ['text/html, text/event-stream', true],
    ['APPLICATION/JSON; charset=utf-8', true],
    ['text/html', false],
    ['application/json;q=0', false],
  ])('%s: %s', (accept, taken) => {
    const check = () => checkAccept(json, accept);
    if (taken) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'NOT_ACCEPTABLE' }));
  });

  it('does not matter where there is no body', () => {
    expect(() => checkAccept({ responses: { 204: { description: '' } } }, 'text/html')).not.toThrow();
  });
});

describe('the depth of JSON', () => {
  it.each([
    ['[[]]', 2, false],
    ['[[[]]]', 2, true],
    ['{"a":{"b":{}}}', 2, true],
    ['{"a":{},"b":{},"c":{}}', 2, false],
    ['{"a":"[[[[[["}', 2, false],
    ['{"a":"\\"[[[[[["}', 2, false],
    ['["\\\\",[[]]]', 2, true],
  ])('of %s is more than %i: %s', (text, most, deep) => {
    expect(isTooDeep(Buffer.from(text), most)).toBe(deep);
  });
});

describe('problems of a schema', () => {
  const schema = z.strictObject({
    name: z.string(),
    role: z.enum(['read', 'submit']).optional(),
    list: z.array(z.strictObject({ size: z.number() })).optional(),
    one: z
      .union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.strictObject({ deep: z.string() }) })])
      .optional(),
  });
  it('tell every place, what is allowed there and what was meant', () => {
    const value = {
      nme: 'x',
      role: 'reed',
      list: [{ size: 1 }, { size: '2', sise: 3 }],
      one: { b: { deep: 1 } },
    };
    const parsed = schema.safeParse(value);
    expect(schemaProblems(schema, parsed.error as z.ZodError, value)).toEqual([
      { path: 'name', message: 'is missing' },
      {
        path: 'role',
        message: 'is not one of the allowed values',
        found: '"reed"',
        allowed: ['read', 'submit'],
        nearest: 'read',
      },
      { path: 'list[1].size', message: 'must be a number', found: '"2"' },
      { path: 'list[1].sise', message: 'unknown key', allowed: ['size'], nearest: 'size' },
      { path: 'one.b.deep', message: 'must be a string', found: '1' },
      { path: 'nme', message: 'unknown key', allowed: ['name', 'role', 'list', 'one'], nearest: 'name' },
    ]);
  });

  it('tell a body that is missing', () => {
    const parsed = schema.safeParse(undefined);
    expect(schemaProblems(schema, parsed.error as z.ZodError, undefined)).toEqual([
      { path: '', message: 'is missing' },
    ]);
  });
});

describe('a problem document', () => {
  it('has the status of its code, a URN, and what is wrong', () => {
    const error = new SluiceError('PLAN_REFUSED', 'No.', [{ path: 'plan', message: 'is ready' }]);
    const { status, document } = problemOf(error, 'r1');
    expect(status).toBe(409);
    expect(document).toEqual({
      type: 'urn:sluice:problem:plan-refused',
      title: 'The plan does not take this command',
      status: 409,
      detail: 'No.',
      code: 'PLAN_REFUSED',
      instance: 'urn:sluice:request:r1',
      problems: [{ path: 'plan', message: 'is ready' }],
    });
    expect(problemDocumentSchema.parse(document)).toEqual(document);
  });

  it.each([
    [new Error('password is 1234'), 500],
    [new SluiceError('IO', 'cannot write /secret/place'), 500],
    ['a text', 500],
    [undefined, 500],
  ])('tells nothing of what is inside: %s', (error, status) => {
    const told = problemOf(error, 'r1');
    expect(told.status).toBe(status);
    expect(told.document.code).toBe('INTERNAL');
    expect(JSON.stringify(told.document)).not.toMatch(/1234|secret|a text/);
  });

  it.each([
    ['ReplyError: OOM command not allowed', 503],
    ['ERR Error running script: -MISCONF Redis is configured', 503],
    ['Connection is closed.', 503],
  ])('asks to come again while Redis takes nothing: %s', (message, status) => {
    const told = problemOf(new Error(message), 'r1');
    expect([told.status, told.headers['retry-after']]).toEqual([status, '5']);
  });

  it('has its own status and headers where HTTP knows better', () => {
    const failure = new HttpProblem('INVALID_REQUEST', 'x', { status: 431, headers: { a: 'b' } });
    expect(problemOf(failure, 'r1')).toMatchObject({
      status: 431,
      headers: { a: 'b' },
      document: { status: 431 },
    });
  });

  it('has a status of an error for every code', () => {
    for (const [status, title] of Object.values(PROBLEMS)) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(title).toMatch(/\w/);
    }
  });
});
