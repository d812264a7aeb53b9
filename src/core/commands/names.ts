/** Every command of this version, without prefix and version (DESIGN 7: in). */
export const COMMAND_NAMES = [
  'evaluation.requested',
  'plan.created',
  'plan.submitted',
  'plan.strategized',
  'plan.executed',
  'plan.fixed',
  'plan.responded',
  'plan.apply.requested',
  'plan.cancel.requested',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];
