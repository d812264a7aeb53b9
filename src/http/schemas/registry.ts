import { z } from 'zod';
import { ATTACHMENT_SCOPES, KINDS, MODES } from '../../core/registry/model.js';
import { time } from './common.js';

const kind = z.enum(KINDS);

/** A document as a user would write it, with what was noted of it under keys that begin with `x-`. */
export const documentSchema = z.looseObject({
  kind,
  name: z.string(),
  description: z.string(),
  'x-registered': z
    .object({
      version: z.string().describe('SHA-256 of its canonical JSON'),
      registered_at: time,
      actor: z.string(),
      previous: z.array(z.string()).describe('Versions that it replaced, the newest first'),
    })
    .optional()
    .describe('Absent of what comes with Sluice'),
  'x-attachments': z.array(z.record(z.string(), z.unknown())).optional(),
});

/** Documents of one kind, a page of them. */
export const documentsSchema = z.object({
  documents: z.array(documentSchema).describe('By name'),
  cursor: z.string().nullable().describe('For the next page; null: there is none'),
});

const given = z
  .looseObject({ kind, name: z.string().describe('namespace/name, or a name in local/') })
  .describe('A tool, validation or skill; `sluice schema` prints the JSON Schema of each');

export const givenDocumentsSchema = z.union([z.array(given).min(1).max(1000), given], {
  error: 'expected a document with kind and name, or a list of them',
});

export const registeredSchema = z.object({
  registered: z.array(
    z.object({
      kind,
      name: z.string(),
      version: z.string(),
      status: z.enum(['added', 'replaced', 'unchanged']),
    }),
  ),
});

export const removedSchema = z.object({
  removed: z.object({ kind, name: z.string() }),
  attachments: z.array(z.string()).describe('Ids of the attachments that went with it'),
});

export const attachmentSchema = z.object({
  id: z.string(),
  validation: z.string(),
  resource: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  scope: z.enum(ATTACHMENT_SCOPES),
  target: z.string().nullable().describe('Project or plan; null: direct'),
  slot: z.string().nullable(),
  attached_at: time,
  actor: z.string(),
});

export const attachmentsSchema = z.object({
  attachments: z.array(attachmentSchema).describe('The oldest first'),
  cursor: z.string().nullable().describe('For the next page; null: there is none'),
});

export const attachSchema = z.strictObject({
  resource: z.string().describe('type/name, or name'),
  validation: z.string().optional().describe('Name of the validation'),
  skill: z.string().optional().describe('Or of a skill, all of whose validations are attached'),
  arguments: z.record(z.string(), z.json()).default({}),
  project: z.string().optional().describe('Only where the resource is reached through this project'),
  plan: z.string().optional().describe('Only for this plan'),
  slot: z.string().optional().describe('Slot that the resource is bound to, where two fit'),
});

export const attachedSchema = z.object({
  attachments: z.array(attachmentSchema),
  existing: z.array(z.string()).describe('Ids of those that were attached just so before'),
  passed_over: z.array(z.string()).describe('Plain tools of a skill: they gate nothing'),
});

export const detachedSchema = z.object({ detached: z.string() });

/** Every attachment of a resource, with why it applies or does not. */
export const explanationSchema = z.object({
  resource: z.string(),
  project: z.string().nullable(),
  plan: z.string().nullable(),
  attachments: z.array(
    z.object({
      applies: z.boolean(),
      reason: z.string(),
      shadowed_by: z.string().nullable(),
      mode: z.enum(MODES),
      attachment: attachmentSchema,
    }),
  ),
});
