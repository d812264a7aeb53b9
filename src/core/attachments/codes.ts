/**
 * Why attaching or detaching is refused; one stable code for each reason (DESIGN 4.5, 4.10). What is
 * wrong with single arguments has the VALUE_ codes of the registry.
 */
export const ATTACHMENT_CODES = {
  BAD_RESOURCE: 'The resource is named against the grammar of resource names.',
  BAD_PROJECT: 'The project is named against the grammar of project names.',
  BAD_PLAN: 'The plan is named against the grammar of plan ids.',
  BOTH_SCOPES: 'Project and plan are both given; an attachment has one scope.',
  UNKNOWN_VALIDATION: 'No validation of this name is registered.',
  NOT_A_VALIDATION: 'The name is that of a plain tool or of a skill; only validations can be attached.',
  UNKNOWN_SKILL: 'No skill of this name is registered.',
  NOT_A_SKILL: 'The name is that of a tool or of a validation, not of a skill.',
  SKILL_WITHOUT_VALIDATIONS: 'The skill names no validation, so there is nothing to attach.',
  BAD_ARGUMENTS: 'The arguments are no JSON object, or larger or deeper than an attachment may carry.',
  NO_SLOT_FITS: 'No resource slot of the validation takes a resource of this type.',
  SLOT_AMBIGUOUS: 'Several resource slots fit, and none is named.',
  UNKNOWN_SLOT: 'The validation has no resource slot of this name.',
  SLOT_TYPE: 'The named resource slot takes resources of another type.',
  SLOT_UNBOUND: 'A required resource slot would stay without a resource.',
  UNKNOWN_ATTACHMENT: 'No attachment has this id.',
} as const;
export type AttachmentCode = keyof typeof ATTACHMENT_CODES;
