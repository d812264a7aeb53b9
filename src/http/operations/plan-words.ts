import type { z } from 'zod';
import type { PlanOrder } from '../../app/intake/plan-requests.js';
import {
  applySchema,
  cancelSchema,
  executedSchema,
  fixedSchema,
  respondedSchema,
  strategizedSchema,
} from '../schemas/plans.js';

/** A command to a plan that exists, as an operation. */
export interface PlanWords {
  id: string;
  /** Of the command, as on buses. */
  name: PlanOrder['name'];
  /** Last part of the path. */
  step: string;
  summary: string;
  description?: string;
  schema: z.ZodType;
  /** The plan of the example, which must be in a phase that takes the command. */
  plan: string;
  example: unknown;
}

const SNAPSHOT = { 'example/one': { good: true } };

/** Every command to a plan that exists. */
export const PLAN_WORDS: readonly PlanWords[] = [
  {
    id: 'strategizedPlan',
    name: 'plan.strategized',
    step: 'strategized',
    summary: 'The strategy is made, or revised',
    schema: strategizedSchema,
    plan: 'example-strategize',
    example: {},
  },
  {
    id: 'executedPlan',
    name: 'plan.executed',
    step: 'executed',
    summary: 'The strategy is executed: its checks begin',
    schema: executedSchema,
    plan: 'example-execute',
    example: { snapshots: SNAPSHOT },
  },
  {
    id: 'fixPlan',
    name: 'plan.fixed',
    step: 'fixes',
    summary: 'What failed is mended: it is judged first',
    schema: fixedSchema,
    plan: 'example-fix',
    example: { snapshots: SNAPSHOT },
  },
  {
    id: 'respondToPlan',
    name: 'plan.responded',
    step: 'responses',
    summary: 'A person’s answer to an escalation',
    schema: respondedSchema,
    plan: 'example-escalated',
    example: { answer: 'retry', guidance: 'Ask the owner first' },
  },
  {
    id: 'applyPlan',
    name: 'plan.apply.requested',
    step: 'apply',
    summary: 'Applies exactly what the gate opened on',
    description:
      'Answers 202 and applies nothing when the attachments have changed since the gate opened: everything is validated again then.',
    schema: applySchema,
    plan: 'example-ready',
    example: { snapshots: SNAPSHOT },
  },
  {
    id: 'cancelPlan',
    name: 'plan.cancel.requested',
    step: 'cancel',
    summary: 'Gives the plan up',
    schema: cancelSchema,
    plan: 'example-cancel',
    example: { reason: 'not needed any more' },
  },
];
