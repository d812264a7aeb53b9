import { z } from 'zod';
import { attachmentDocument, explanationDocument } from '../../app/registry/documents.js';
import type { AttachRequest, AttachSkillRequest } from '../../core/attachments/attach.js';
import { resourceProblem } from '../../core/attachments/resource.js';
import { SluiceError, show } from '../../core/problem.js';
import type { HttpDeps } from '../deps.js';
import { type Operation, operation } from '../operation.js';
import { pageOf, pageQuery } from '../pages.js';
import {
  attachedSchema,
  attachmentsSchema,
  attachSchema,
  detachedSchema,
  explanationSchema,
} from '../schemas/registry.js';

const listQuery = z.strictObject({
  ...pageQuery,
  resource: z.string().min(1).optional().describe('Only of this resource'),
  validation: z.string().min(1).optional().describe('Only of this validation'),
});

function listOf(deps: HttpDeps): Operation {
  return operation<unknown, z.output<typeof listQuery>, unknown>({
    id: 'listAttachments',
    method: 'GET',
    path: '/v1/attachments',
    tag: 'attachments',
    summary: 'Attachments, the oldest first',
    role: 'read',
    query: listQuery,
    responses: { 200: { description: 'A page of attachments', schema: attachmentsSchema } },
    example: { query: { validation: 'local/example' } },
    async run({ query }) {
      const { resource, validation } = query;
      const all = await deps.registry.attachments({
        ...(resource === undefined ? {} : { resource }),
        ...(validation === undefined ? {} : { validation }),
      });
      const { items, cursor } = pageOf(all, ({ id }) => id, query);
      return { status: 200, body: { attachments: items.map(attachmentDocument), cursor } };
    },
  });
}

type Attach = z.output<typeof attachSchema>;

/** Attaches a validation or every one of a skill. Throws INVALID_REQUEST or INVALID_ATTACHMENT. */
async function attach(deps: HttpDeps, body: Attach, actor: string) {
  const { validation, skill, ...asked } = body;
  if ((validation === undefined) === (skill === undefined)) {
    const message = skill === undefined ? 'is missing; give validation or skill' : 'cannot go with skill';
    throw new SluiceError('INVALID_REQUEST', '1 problem; nothing was attached.', [
      { path: 'validation', message },
    ]);
  }
  if (skill !== undefined) {
    const request = { ...asked, skill } as AttachSkillRequest;
    const { attachments, existing, passedOver } = await deps.registry.attachSkill(request, actor);
    return { attachments, existing, passed_over: passedOver };
  }
  const request = { ...asked, validation } as AttachRequest;
  const { attachment, existing } = await deps.registry.attachOnce(request, actor);
  return { attachments: [attachment], existing: existing ? [attachment.id] : [], passed_over: [] };
}

function attachOf(deps: HttpDeps): Operation {
  return operation<unknown, unknown, Attach>({
    id: 'attach',
    method: 'POST',
    path: '/v1/attachments',
    tag: 'attachments',
    summary: 'Attaches a validation, or all of a skill, to a resource',
    description:
      'Directly, or for one project or one plan. What is attached in the same words already is answered as it stands, so that asking again does no harm.',
    role: 'operate',
    body: { schema: attachSchema },
    responses: { 200: { description: 'The attachments as they stand', schema: attachedSchema } },
    problems: ['INVALID_REQUEST', 'INVALID_ATTACHMENT'],
    example: { body: { resource: 'example/attached', validation: 'local/example' } },
    async run({ body, caller }) {
      const { attachments, ...rest } = await attach(deps, body, caller.name);
      return { status: 200, body: { attachments: attachments.map(attachmentDocument), ...rest } };
    },
  });
}

const detachParams = z.strictObject({ attachment: z.string().min(1).describe('Id of the attachment') });

function detachOf(deps: HttpDeps): Operation {
  return operation<z.output<typeof detachParams>, unknown, unknown>({
    id: 'detach',
    method: 'DELETE',
    path: '/v1/attachments/{attachment}',
    tag: 'attachments',
    summary: 'Takes an attachment off',
    role: 'operate',
    params: detachParams,
    responses: { 200: { description: 'It is gone', schema: detachedSchema } },
    problems: ['NOT_FOUND'],
    example: { params: { attachment: '01EXAMPLEATTACHMENT0000000' } },
    async run({ params }) {
      await deps.registry.detach(params.attachment);
      return { status: 200, body: { detached: params.attachment } };
    },
  });
}

const explainParams = z.strictObject({
  resource: z.string().min(1).describe('Name of the resource; its slashes are written %2F'),
});
const explainQuery = z.strictObject({
  project: z.string().min(1).optional().describe('Project through which the resource is reached'),
  plan: z.string().min(1).optional().describe('Plan; one that exists is reached through its own project'),
});

function explainOf(deps: HttpDeps): Operation {
  return operation<z.output<typeof explainParams>, z.output<typeof explainQuery>, unknown>({
    id: 'explainResource',
    method: 'GET',
    path: '/v1/resources/{resource}/explanation',
    tag: 'attachments',
    summary: 'Every attachment of a resource, with why it applies or does not',
    role: 'read',
    params: explainParams,
    query: explainQuery,
    responses: { 200: { description: 'In the order in which they are checked', schema: explanationSchema } },
    problems: ['INVALID_REQUEST'],
    example: { params: { resource: 'example/one' } },
    async run({ params: { resource }, query: { project: given, plan } }) {
      const message = resourceProblem(resource);
      if (message !== undefined)
        throw new SluiceError('INVALID_REQUEST', '1 problem; nothing was read.', [
          { code: 'BAD_RESOURCE', path: 'resource', message, found: show(resource) },
        ]);
      const known = plan === undefined ? undefined : await deps.engine.store.plans.plan(plan);
      const project = given ?? known?.project ?? null;
      const explanations = await deps.registry.explain(resource, project, plan ?? null);
      const attachments = explanations.map(explanationDocument);
      return { status: 200, body: { resource, project, plan: plan ?? null, attachments } };
    },
  });
}

/** Which validations gate which resources. */
export const attachmentOperations = (deps: HttpDeps): Operation[] => [
  listOf(deps),
  attachOf(deps),
  detachOf(deps),
  explainOf(deps),
];
