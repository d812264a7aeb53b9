import type { z } from 'zod';
import {
  batchStatusDocumentSchema,
  evaluationDocumentSchema,
  indexedEvaluationSchema,
} from '../core/document.js';
import { ruleResultSchema } from '../core/result.js';
import { runRecordSchema } from '../core/run-record.js';
import { bodyTypes } from './accept.js';
import { Components, type JsonSchema } from './openapi-components.js';
import type { Operation } from './operation.js';
import { PROBLEMS, type ProblemCode, problemDocumentSchema } from './problems.js';
import { problemSchema } from './schemas/common.js';

const VERSION = '1.0.0';

/** Schemas that the document names; the others stand where they are used. */
const NAMED: readonly (readonly [string, z.ZodType])[] = [
  ['Problem', problemDocumentSchema],
  ['ProblemPart', problemSchema],
  ['BatchStatus', batchStatusDocumentSchema],
  ['RunRecord', runRecordSchema],
  ['RuleResult', ruleResultSchema],
  ['Evaluation', evaluationDocumentSchema],
  ['IndexedEvaluation', indexedEvaluationSchema],
];

/** Problems that any operation of its kind may answer with. */
function codesOf(operation: Operation): ProblemCode[] {
  const { role, params, query, body, idempotent, problems = [] } = operation;
  const hasInput = params !== undefined || query !== undefined || body !== undefined || idempotent === true;
  const codes: ProblemCode[] = [
    ...problems,
    ...(role === null ? [] : (['UNAUTHORIZED', 'FORBIDDEN'] as const)),
    ...(hasInput ? (['INVALID_REQUEST'] as const) : []),
    ...(body === undefined ? [] : (['TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const)),
    'NOT_ACCEPTABLE',
    'RATE_LIMITED',
    'INTERNAL',
    'UNAVAILABLE',
  ];
  return [...new Set(codes)];
}

const HEADERS_OF: Readonly<Record<number, Record<string, string>>> = {
  401: { 'WWW-Authenticate': 'What is needed' },
  429: { 'Retry-After': 'Seconds to wait' },
  503: { 'Retry-After': 'Seconds to wait' },
};

const headersOf = (headers: Readonly<Record<string, string>> = {}) =>
  Object.keys(headers).length === 0
    ? {}
    : {
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, description]) => [
            name,
            { description, schema: { type: 'string' } },
          ]),
        ),
      };

function responsesOf(operation: Operation, components: Components): Record<string, unknown> {
  const responses: Record<string, unknown> = {};
  for (const [status, { description, schema, contentType, also = [], headers }] of Object.entries(
    operation.responses,
  )) {
    const types =
      schema === undefined && contentType === undefined ? [] : [contentType ?? 'application/json'];
    const content = [
      ...types.map((type) => [type, schema === undefined ? {} : { schema: components.of(schema, 'output') }]),
      ...also.map((type) => [type, { schema: { type: 'string' } }]),
    ];
    responses[status] = {
      description,
      ...headersOf(headers),
      ...(content.length === 0 ? {} : { content: Object.fromEntries(content) }),
    };
  }
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codesOf(operation)) {
    const [status] = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const problem = { schema: components.of(problemDocumentSchema, 'output') };
  for (const [status, codes] of byStatus) {
    const own = responses[status] as { content?: object } | undefined;
    const content = { ...own?.content, 'application/problem+json': problem };
    const description = [...new Set(codes.map((code) => PROBLEMS[code][1]))].join('; ');
    const told = `${description} (${codes.join(', ')})`;
    responses[status] = { description: told, ...headersOf(HEADERS_OF[status]), ...own, content };
  }
  return responses;
}

function parametersOf(operation: Operation, components: Components): unknown[] {
  const { params, query, idempotent, path, example } = operation;
  const read = (schema: z.ZodType | undefined, place: 'path' | 'query') => {
    const json: JsonSchema = schema === undefined ? {} : components.inline(schema);
    const names = place === 'path' ? [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name) : [];
    const properties = (json.properties ?? {}) as Record<string, JsonSchema>;
    return [...new Set([...names, ...Object.keys(properties)])].map((name) => {
      const { description, ...schemaOf } = properties[name] ?? { type: 'string' };
      const value = (place === 'path' ? example?.params : example?.query)?.[name];
      const required = place === 'path' || ((json.required ?? []) as string[]).includes(name);
      return {
        name,
        in: place,
        required,
        ...(description === undefined ? {} : { description }),
        schema: schemaOf,
        ...(value === undefined ? {} : { example: value }),
      };
    });
  };
  const key = idempotent === true ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [];
  return [...read(params, 'path'), ...read(query, 'query'), ...key];
}

function operationOf(operation: Operation, components: Components): Record<string, unknown> {
  const { id, tag, summary, description, role, body, example } = operation;
  const parameters = parametersOf(operation, components);
  const exampleOf = example?.body === undefined ? {} : { example: example.body };
  const content = (type: string) => {
    const media = { schema: body === undefined ? {} : components.of(body.schema, 'input') };
    return [type, { ...media, ...exampleOf }] as const;
  };
  const isOptional = body !== undefined && body.raw !== true && body.schema.safeParse(undefined).success;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(role === null ? { security: [] } : { 'x-role': role }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !isOptional,
            ...(body.description === undefined ? {} : { description: body.description }),
            content: Object.fromEntries(bodyTypes(operation).map(content)),
          },
        }),
    responses: responsesOf(operation, components),
  };
}

const INTRODUCTION =
  'Judges the work of agents: runs and plans in, decisions and events out. Tokens are made with `sluice token add`; each operation says in `x-role` which role it needs, and each role includes those before it: read, submit, operate. Failures are problem+json with a stable `code`.';

/** The OpenAPI 3.1 document of these operations. */
export function openApi(operations: readonly Operation[]): Record<string, unknown> {
  const components = new Components(NAMED);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const item = paths[operation.path] ?? {};
    item[operation.method.toLowerCase()] = operationOf(operation, components);
    paths[operation.path] = item;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: VERSION,
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of `sluice token add`' },
      },
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description:
            'The same key of the same token is the same request, however often it is sent; another request under it is refused',
          schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
          example: '0f1c7c52-7d43-4f2e-9d5f-0b5a7f8e3c11',
        },
      },
      schemas: components.schemas,
    },
  };
}
