import { z } from 'zod';
import { builtInEntries } from '../../core/registry/built-in.js';
import type { Kind, RegistryEntry } from '../../core/registry/model.js';
import { documentView } from '../../core/registry/view.js';
import type { HttpDeps } from '../deps.js';
import { type Operation, operation } from '../operation.js';
import { pageOf, pageQuery } from '../pages.js';
import { flag } from '../schemas/common.js';
import {
  documentSchema,
  documentsSchema,
  givenDocumentsSchema,
  registeredSchema,
  removedSchema,
} from '../schemas/registry.js';

const paramsSchema = z.strictObject({
  namespace: z.string().min(1).describe('What stands before the / of its name, such as local'),
  name: z.string().min(1).describe('What stands behind it'),
});
type Params = z.output<typeof paramsSchema>;

const querySchema = z.strictObject({
  ...pageQuery,
  built_in: flag.optional().describe('Also what comes with Sluice'),
});
type Query = z.output<typeof querySchema>;

const nameOf = ({ namespace, name }: Params): string => `${namespace}/${name}`;

/** A document without its attachments, of which a list says nothing. */
function listed(entry: RegistryEntry): Record<string, unknown> {
  const { 'x-attachments': _, ...view } = documentView(entry, []);
  return view;
}

interface Words {
  kind: Kind;
  /** `Tool`, as it stands in ids of operations. */
  title: string;
  example: string;
}

function listOf(deps: HttpDeps, { kind, title }: Words): Operation {
  return operation<unknown, Query, unknown>({
    id: `list${title}s`,
    method: 'GET',
    path: `/v1/${kind}s`,
    tag: 'registry',
    summary: `The ${kind}s that are registered`,
    role: 'read',
    query: querySchema,
    responses: { 200: { description: `A page of ${kind}s, by name`, schema: documentsSchema } },
    example: { query: { limit: '10' } },
    async run({ query }) {
      const registered = await deps.registry.entries(kind);
      const more =
        query.built_in === true
          ? [...builtInEntries.values()].filter(({ document }) => document.kind === kind)
          : [];
      const entries = [...registered, ...more].sort((a, b) => (a.document.name < b.document.name ? -1 : 1));
      const { items, cursor } = pageOf(entries, ({ document }) => document.name, query);
      return { status: 200, body: { documents: items.map(listed), cursor } };
    },
  });
}

function showOf(deps: HttpDeps, { kind, title, example }: Words): Operation {
  const [namespace = '', name = ''] = example.split('/');
  return operation<Params, unknown, unknown>({
    id: `get${title}`,
    method: 'GET',
    path: `/v1/${kind}s/{namespace}/{name}`,
    tag: 'registry',
    summary: `A ${kind} as it is registered${kind === 'validation' ? ', with its attachments' : ''}`,
    description:
      'The document can be registered again as it is: what was noted of it stands under keys that begin with x-.',
    role: 'read',
    params: paramsSchema,
    responses: { 200: { description: `The ${kind}`, schema: documentSchema } },
    problems: ['NOT_FOUND'],
    example: { params: { namespace, name } },
    async run({ params }) {
      const { entry, attachments } = await deps.registry.entry(kind, nameOf(params));
      return { status: 200, body: documentView(entry, attachments) };
    },
  });
}

function removeOf(deps: HttpDeps, { kind, title, example }: Words): Operation {
  const [namespace = '', name = ''] = example.split('/');
  return operation<Params, unknown, unknown>({
    id: `remove${title}`,
    method: 'DELETE',
    path: `/v1/${kind}s/{namespace}/{name}`,
    tag: 'registry',
    summary: `Removes a ${kind}${kind === 'validation' ? ', and its attachments with it' : ''}`,
    description: 'What a validation wraps, a graph calls or a skill lists stays.',
    role: 'operate',
    params: paramsSchema,
    responses: { 200: { description: 'It is gone', schema: removedSchema } },
    problems: ['NOT_FOUND', 'IN_USE'],
    example: { params: { namespace, name } },
    async run({ params }) {
      const full = nameOf(params);
      const { attachments } = await deps.registry.remove(kind, full);
      return { status: 200, body: { removed: { kind, name: full }, attachments } };
    },
  });
}

function registerOf(deps: HttpDeps): Operation {
  return operation<unknown, unknown, z.output<typeof givenDocumentsSchema>>({
    id: 'registerDocuments',
    method: 'POST',
    path: '/v1/documents',
    tag: 'registry',
    summary: 'Registers tools, validations and skills together: all of them, or none',
    description:
      'Documents may name each other in any order. One that stands as it is already is left unchanged, so that sending it again does no harm.',
    role: 'operate',
    body: { schema: givenDocumentsSchema },
    responses: { 200: { description: 'What became of each document', schema: registeredSchema } },
    problems: ['INVALID_DOCUMENT'],
    example: {
      body: [
        {
          kind: 'validation',
          name: 'acme/has-owner',
          description: 'The snapshot names an owner',
          code: '({ subject }) => ({ passed: typeof subject.owner === "string", message: "owner" })',
        },
      ],
    },
    async run({ body, caller }) {
      const documents = Array.isArray(body) ? body : [body];
      const given = documents.map((value) => ({ kind: value.kind, value }));
      const registered = await deps.registry.register(given, caller.name);
      return { status: 200, body: { registered } };
    },
  });
}

const WORDS: readonly Words[] = [
  { kind: 'tool', title: 'Tool', example: 'local/example-tool' },
  { kind: 'validation', title: 'Validation', example: 'local/example' },
  { kind: 'skill', title: 'Skill', example: 'local/example-skill' },
];

/** Tools, validations and skills. */
export function registryOperations(deps: HttpDeps): Operation[] {
  return [
    ...WORDS.flatMap((words) => [listOf(deps, words), showOf(deps, words)]),
    registerOf(deps),
    ...WORDS.map((words) => removeOf(deps, words)),
  ];
}
