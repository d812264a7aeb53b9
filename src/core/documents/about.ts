import type { CommandName } from '../commands/names.js';
import type { EventName } from '../events.js';

/** When each event is sent, in one sentence. */
export const eventAbout: Record<EventName, string> = {
  'evaluation.accepted': 'An evaluation is stored; exactly one decision will follow.',
  'evaluation.unserved': 'Checks of an evaluation wait for a runner that no living worker has.',
  'evaluation.passed': 'An evaluation is decided: its gates are open.',
  'evaluation.failed': 'An evaluation is decided: a gate is shut, by a failure or by an error.',
  'advisory.raised': 'Informational validations failed or errored; they block nothing.',
  'validation.failed': 'One check failed; only with `events.per_check`.',
  'validation.errored': 'One check could not be judged; only with `events.per_check`.',
  'batch.progressed': 'Another tenth of a batch is decided.',
  'batch.completed': 'Every evaluation of a batch is decided.',
  'delivery.dead': 'An event could not be brought to a sink and was set aside as a dead letter.',
  'delivery.disabled':
    'A sink said that it is not there any more; nothing is sent to it until it is enabled.',
  'command.refused':
    'A message of a source is no command, or was refused, and was set aside as a dead letter.',
  'plan.gate.passed': 'Every required validation of a plan passed: these snapshots may be applied.',
  'plan.retry.requested': 'A plan failed its validations: fix the work and hand in new snapshots.',
  'plan.revision.requested': 'The fixes are used up: begin anew with another strategy.',
  'plan.escalated': 'The revisions are used up, or nobody went on: a person must answer.',
  'plan.failed': 'A plan has failed for good.',
  'plan.applied': 'The snapshots of a plan go into the world.',
  'plan.cancelled': 'A plan was given up.',
  'plan.phase.changed': 'A plan came into another phase, or began the same one again.',
};

/** What each command asks for, in one sentence. */
export const commandAbout: Record<CommandName, string> = {
  'evaluation.requested': 'Judge one run by one scenario.',
  'plan.created': 'A plan begins; its strategy is still to be made.',
  'plan.submitted': 'A plan comes with its work done, and is judged at once.',
  'plan.strategized': 'The strategy of a plan is made; it is executed next.',
  'plan.executed': 'The work of a plan is done, and is judged.',
  'plan.fixed': 'What had failed is mended, and is judged.',
  'plan.responded': 'A person answers to an escalation.',
  'plan.apply.requested': 'What was validated is to be applied.',
  'plan.cancel.requested': 'A plan is given up.',
};
