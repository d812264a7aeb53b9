import { type CallOptions, type ChangeOptions, segment, type Transport } from './transport.js';
import type {
  ApplyInput,
  CancelInput,
  ExecutedInput,
  FixInput,
  NewPlanInput,
  PlanAnswer,
  PlanDocument,
  PlanStatus,
  Plans,
  ResponseInput,
  StrategizedInput,
} from './types.js';

/** Plans: commands to them, and what became of them. */
export interface PlanClient {
  /** Creates a plan (`resources`), or submits the finished work of one (`snapshots`). */
  createPlan(plan: NewPlanInput, options?: ChangeOptions): Promise<PlanAnswer>;
  /** The newest first. */
  listPlans(
    filter?: { phase?: PlanDocument['phase']; project?: string; limit?: number },
    options?: CallOptions,
  ): Promise<Plans>;
  /** A plan with its timeline, evaluations, and the first and last result of each check. */
  getPlan(plan: string, options?: CallOptions): Promise<PlanStatus>;
  /** The strategy is made, or revised. */
  strategizedPlan(plan: string, given?: StrategizedInput, options?: ChangeOptions): Promise<PlanAnswer>;
  /** The strategy is executed: its checks begin. */
  executedPlan(plan: string, given: ExecutedInput, options?: ChangeOptions): Promise<PlanAnswer>;
  /** What failed is mended: it is judged first. */
  fixPlan(plan: string, given: FixInput, options?: ChangeOptions): Promise<PlanAnswer>;
  /** A person's answer to an escalation. */
  respondToPlan(plan: string, given: ResponseInput, options?: ChangeOptions): Promise<PlanAnswer>;
  /** Applies exactly what the gate opened on. */
  applyPlan(plan: string, given: ApplyInput, options?: ChangeOptions): Promise<PlanAnswer>;
  cancelPlan(plan: string, given?: CancelInput, options?: ChangeOptions): Promise<PlanAnswer>;
}

export function planClient(transport: Transport): PlanClient {
  const command = (step: string, plan: string, json: unknown, options?: ChangeOptions) =>
    transport.change<PlanAnswer>('POST', `/v1/plans/${segment(plan)}/${step}`, json, options);
  return {
    createPlan: (plan, options) => transport.change('POST', '/v1/plans', plan, options),
    listPlans: (filter, options) => transport.read('/v1/plans', filter, options),
    getPlan: (plan, options) => transport.read(`/v1/plans/${segment(plan)}`, undefined, options),
    strategizedPlan: (plan, given = {}, options) => command('strategized', plan, given, options),
    executedPlan: (plan, given, options) => command('executed', plan, given, options),
    fixPlan: (plan, given, options) => command('fixes', plan, given, options),
    respondToPlan: (plan, given, options) => command('responses', plan, given, options),
    applyPlan: (plan, given, options) => command('apply', plan, given, options),
    cancelPlan: (plan, given = {}, options) => command('cancel', plan, given, options),
  };
}
