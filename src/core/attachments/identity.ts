import { canonicalJson } from '../json.js';
import type { Attachment } from '../registry/model.js';

/**
 * What two attachments must share for one to stand in for the other: resource, validation and
 * arguments (DESIGN 4.6). The slot belongs to the arguments: the same resource in another slot is
 * another question, and none may silence the other.
 */
export function attachmentIdentity(
  attachment: Pick<Attachment, 'resource' | 'validation' | 'arguments' | 'slot'>,
): string {
  const { resource, validation, slot } = attachment;
  return canonicalJson([resource, validation, slot, attachment.arguments]);
}

/** Order by code unit, the same in every locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
