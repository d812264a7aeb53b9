import type { Applicable, PlanCheck } from '../plan/model.js';
import { runnerOf } from '../registry/closure.js';
import { type Attachment, type AttachmentScope, MODES, type Mode, type Registry } from '../registry/model.js';
import { attachmentIdentity, compareText } from './identity.js';
import { modeOf, type Sealed, sealValidation, whyMissing } from './standing.js';

/** Where resources are reached: through a project, in a plan; null for neither. */
export interface Where {
  resources: readonly string[];
  project: string | null;
  plan: string | null;
}

/** Why an attachment applies to a resource, or what keeps it from applying. */
export interface Explanation {
  attachment: Attachment;
  mode: Mode;
  /** It is among what `resolveAttachments` answers. */
  applies: boolean;
  /** One sentence. */
  reason: string;
  /** Id of the attachment that stands in for it; null when none does. */
  shadowedBy: string | null;
}

const SPECIFICITY: Record<AttachmentScope, number> = { direct: 0, project: 1, plan: 2 };

function inScope(attachment: Attachment, where: Pick<Where, 'project' | 'plan'>): boolean {
  if (attachment.scope === 'direct') return true;
  return attachment.target !== null && attachment.target === where[attachment.scope];
}

/** Of two with one identity: the most specific scope wins, within a scope the oldest. */
function wins(a: Attachment, b: Attachment): boolean {
  const difference = SPECIFICITY[a.scope] - SPECIFICITY[b.scope];
  return difference === 0 ? compareText(a.id, b.id) < 0 : difference > 0;
}

/** By identity, the attachment that stands for all that share it. */
function winnersOf(attachments: readonly Attachment[]): Map<string, Attachment> {
  const winners = new Map<string, Attachment>();
  for (const attachment of attachments) {
    const identity = attachmentIdentity(attachment);
    const standing = winners.get(identity);
    if (standing === undefined || wins(attachment, standing)) winners.set(identity, attachment);
  }
  return winners;
}

/** By resource, mode (required first), validation, id (DESIGN 4.6). */
function ordered(registry: Registry, attachments: readonly Attachment[]): Attachment[] {
  const rank = (each: Attachment) => MODES.indexOf(modeOf(registry, each.validation));
  return attachments.toSorted(
    (a, b) =>
      compareText(a.resource, b.resource) ||
      rank(a) - rank(b) ||
      compareText(a.validation, b.validation) ||
      compareText(a.id, b.id),
  );
}

/**
 * The attachments that apply: direct ones of the resources, with those of the project and of the
 * plan. Of several with the same resource, validation and arguments one applies: that of the most
 * specific scope, within a scope the oldest (ADR, Attachment Scoping; DESIGN 4.6). The order of
 * what was attached does not matter.
 */
export function resolveAttachments(registry: Registry, where: Where): Attachment[] {
  const resources = new Set(where.resources);
  const reached = registry.attachments.filter(
    (attachment) => resources.has(attachment.resource) && inScope(attachment, where),
  );
  return ordered(registry, [...winnersOf(reached).values()]);
}

function outOfScope(attachment: Attachment, where: Pick<Where, 'project' | 'plan'>): string {
  const { scope, target } = attachment;
  const asked = scope === 'direct' ? null : where[scope];
  const only = scope === 'plan' ? `applies only in plan ${target}` : `applies only through project ${target}`;
  if (asked === null) return only;
  return scope === 'plan' ? `${only}, not in plan ${asked}` : `${only}, not through project ${asked}`;
}

function shadowed(attachment: Attachment, winner: Attachment): string {
  const why =
    winner.scope === attachment.scope
      ? `the ${winner.scope} scope has it already, and the oldest wins`
      : `the ${winner.scope} scope is more specific than the ${attachment.scope} scope`;
  return `shadowed by ${winner.id}, the same validation with the same arguments: ${why}`;
}

function inForce({ scope, target }: Attachment): string {
  if (scope === 'direct') return 'applies always: attached to the resource itself';
  return scope === 'plan' ? `applies in plan ${target}` : `applies through project ${target}`;
}

/** What is to be said of a validation that cannot be run any more. */
function remark(registry: Registry, validation: string, mode: Mode): string {
  const missing = whyMissing(registry, validation);
  if (missing === undefined) return '';
  const effect = mode === 'required' ? 'which keeps the gate shut' : 'so its check can only error';
  return `; ${missing}, ${effect}`;
}

/**
 * Every attachment on a resource, with why it applies, where alone it would, or what shadows it;
 * in the order in which they would be checked (DESIGN 4.6).
 */
export function explainResource(
  registry: Registry,
  resource: string,
  project: string | null,
  plan: string | null,
): Explanation[] {
  const where = { project, plan };
  const attached = registry.attachments.filter((attachment) => attachment.resource === resource);
  const winners = winnersOf(attached.filter((attachment) => inScope(attachment, where)));
  return ordered(registry, attached).map((attachment) => {
    const mode = modeOf(registry, attachment.validation);
    const note = remark(registry, attachment.validation, mode);
    if (!inScope(attachment, where)) {
      const reason = outOfScope(attachment, where) + note;
      return { attachment, mode, applies: false, reason, shadowedBy: null };
    }
    const winner = winners.get(attachmentIdentity(attachment)) ?? attachment;
    const applies = winner.id === attachment.id;
    const reason = (applies ? inForce(attachment) : shadowed(attachment, winner)) + note;
    return { attachment, mode, applies, reason, shadowedBy: applies ? null : winner.id };
  });
}

function checkOf(attachment: Attachment, sealed: Sealed, subject: string): PlanCheck {
  return {
    attachment: attachment.id,
    resource: attachment.resource,
    scope: attachment.scope,
    target: attachment.target,
    slot: attachment.slot,
    arguments: attachment.arguments,
    validation: attachment.validation,
    version: sealed.digest,
    mode: sealed.mode,
    retryLimit: sealed.retryLimit,
    confirm: sealed.confirm,
    runner: runnerOf(sealed.tool),
    subject,
  };
}

/**
 * One check for each attachment that applies, with the tools that they need, as JSON by digest.
 * `snapshots` holds digests by resource; a check whose resource has none has the subject `''`. An
 * attachment whose validation cannot be resolved any more stays a check, which can only error.
 */
export function applicableChecks(
  registry: Registry,
  where: Where,
  snapshots: Readonly<Record<string, string>> | null,
): Applicable & { tools: Map<string, string> } {
  const subjects = new Map(Object.entries(snapshots ?? {}));
  const tools = new Map<string, string>();
  const seals = new Map<string, Sealed>();
  const attachments = resolveAttachments(registry, where);
  const checks = attachments.map((attachment) => {
    const sealed = seals.get(attachment.validation) ?? sealValidation(registry, attachment.validation);
    seals.set(attachment.validation, sealed);
    tools.set(sealed.digest, sealed.json);
    return checkOf(attachment, sealed, subjects.get(attachment.resource) ?? '');
  });
  const validated = new Set(attachments.map((attachment) => attachment.resource));
  const unvalidated = [...new Set(where.resources)].filter((resource) => !validated.has(resource));
  return { checks, unvalidated: unvalidated.sort(compareText), tools };
}
