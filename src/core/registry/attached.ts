import { parseResource } from '../attachments/resource.js';
import { bindSlot } from '../attachments/slots.js';
import { chainOf, inputSchemaIfAny, slotsOf } from './closure.js';
import type { CodedProblem } from './codes.js';
import { schemaProblems } from './json-schema.js';
import type { Entries } from './lookup.js';
import type { Attachment, ResolvedTool, ValidationDocument } from './model.js';

/** Attachments of a validation that would no longer fit it as it would be. */
export function brokenAttachments(
  entries: Entries,
  { name }: ValidationDocument,
  attachments: readonly Attachment[],
): CodedProblem[] {
  const own = attachments.filter(({ validation }) => validation === name);
  const followed = chainOf(entries, name);
  if (own.length === 0 || !followed.ok) return [];
  return own.flatMap((attachment) => {
    const reason = misfit(followed, attachment);
    if (reason === undefined) return [];
    const { id, resource } = attachment;
    const message = `would break the attachment of ${name} to ${resource}: ${reason}; detach it first`;
    return [{ code: 'BREAKS_ATTACHMENT', path: '', message, found: id }];
  });
}

function misfit(resolved: ResolvedTool, attachment: Attachment): string | undefined {
  const schema = inputSchemaIfAny(resolved);
  const [first] = schema === undefined ? [] : schemaProblems(schema, attachment.arguments, '');
  if (first !== undefined) return `${first.path === '' ? 'arguments' : first.path} ${first.message}`;
  const slots = slotsOf(resolved);
  const { slot } = attachment;
  if (slot === null) return slots.length === 0 ? undefined : 'it is bound to no resource slot';
  if (!slots.some((each) => each.name === slot)) return `there is no resource slot ${slot} any more`;
  const resource = parseResource(attachment.resource);
  const binding = resource && bindSlot(slots, resource, slot);
  return binding === undefined || binding.ok ? undefined : binding.problems[0]?.message;
}
