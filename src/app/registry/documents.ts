import type { Explanation } from '../../core/attachments/resolve.js';
import { isoTime } from '../../core/iso-time.js';
import type { Attachment } from '../../core/registry/model.js';

type Document = Record<string, unknown>;

/** An attachment as users see it. */
export function attachmentDocument(attachment: Attachment): Document {
  const { attachedAt, ...rest } = attachment;
  return { ...rest, attached_at: isoTime(attachedAt) };
}

/** Why an attachment applies or does not, as users see it. */
export function explanationDocument(explanation: Explanation): Document {
  const { attachment, mode, applies, reason, shadowedBy } = explanation;
  return { applies, reason, shadowed_by: shadowedBy, mode, attachment: attachmentDocument(attachment) };
}
