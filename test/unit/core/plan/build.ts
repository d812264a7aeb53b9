import type { Chunk } from '../../../../src/core/manifest.js';
import { judgePlan } from '../../../../src/core/plan/gate.js';
import { planChunk } from '../../../../src/core/plan/manifest.js';
import type {
  Applicable,
  NewPlan,
  Phase,
  PlanCheck,
  PlanCommand,
  PlanEffect,
  PlanManifest,
  PlanPolicy,
  PlanState,
  PlanVerdict,
  Transition,
} from '../../../../src/core/plan/model.js';
import { transition } from '../../../../src/core/plan/transition.js';
import type { CheckResult, Outcome } from '../../../../src/core/result.js';
import { result } from '../build.js';

export const NOW = 1_700_000_000_000;
export const ACTOR = 'agent';

export const POLICY: PlanPolicy = {
  fixes: 3,
  revisions: 3,
  escalations: 1,
  errorRetries: 2,
  requireValidations: false,
  deadlines: { strategize: 1000, execute: 2000, fix: 3000, escalated: 4000 },
  evaluationDeadline: 500,
  retention: 10_000,
};

export function check(attachment: string, extra: Partial<PlanCheck> = {}): PlanCheck {
  return {
    attachment,
    resource: 'repo/app',
    scope: 'direct',
    target: null,
    slot: null,
    arguments: {},
    validation: `local/${attachment}`,
    version: `version of ${attachment}`,
    mode: 'required',
    retryLimit: null,
    confirm: 0,
    runner: 'pure',
    subject: '',
    ...extra,
  };
}

export const advice = (attachment: string, extra: Partial<PlanCheck> = {}): PlanCheck =>
  check(attachment, { mode: 'informational', ...extra });

export const applying = (...checks: PlanCheck[]): Applicable => ({ checks, unvalidated: [] });
/** Two required checks and an informational one, on the plan's only resource. */
export const USUAL = applying(check('lint'), check('tests'), advice('style'));

export const SNAPSHOTS = { 'repo/app': 'digest 1' };
export const FIXED = { 'repo/app': 'digest 2' };

export function newPlan(extra: Partial<NewPlan> = {}, policy: Partial<PlanPolicy> = {}): NewPlan {
  return { id: 'p', project: 'shop', resources: ['repo/app'], policy: { ...POLICY, ...policy }, ...extra };
}

type Without<T> = T extends unknown ? Omit<T, 'now' | 'actor' | 'applicable'> : never;
/** A command without what all of them carry. */
export type Input = Without<PlanCommand>;

export function send(
  state: PlanState | undefined,
  input: Input,
  extra: Partial<Pick<PlanCommand, 'now' | 'actor' | 'applicable'>> = {},
): Transition {
  const command = { now: NOW, actor: ACTOR, applicable: USUAL, ...extra, ...input } as PlanCommand;
  return transition(deepFreeze(state), deepFreeze(command));
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const each of Object.values(value)) deepFreeze(each);
  }
  return value;
}

type Taken = Extract<Transition, { ok: true }>;

export function took(answer: Transition): Taken {
  if (!answer.ok) throw new Error(`${answer.row}: ${answer.refusal.message}`);
  return answer;
}

/** Outcomes by attachment; what is not named passes. */
export type Outcomes = Record<string, Outcome | CheckResult>;

const resultOf = (outcome: Outcome | CheckResult): CheckResult =>
  typeof outcome === 'string' ? result(outcome) : outcome;

export const evaluateOf = (effects: readonly PlanEffect[]) =>
  effects.find((effect) => effect.type === 'evaluate');

/** A chunk that evaluates a plan with these checks, on the usual snapshots unless they say otherwise. */
export function chunkWith(checks: PlanCheck[], manifest: Partial<PlanManifest> = {}): Chunk {
  const effect: Extract<PlanEffect, { type: 'evaluate' }> = {
    type: 'evaluate',
    evaluation: 'e1',
    attempt: 1,
    stage: 'all',
    checks: checks.map((one) => ({ ...one, subject: one.subject || 'digest 1' })),
    rest: [],
    earlier: null,
    unvalidated: [],
  };
  const chunk = planChunk(submitted().state, effect, NOW);
  return { ...chunk, plan: { ...(chunk.plan as PlanManifest), ...manifest } };
}

/** A plan on its way, with the evaluations that it asked for. */
export class Life {
  state: PlanState | undefined;
  last: Taken | undefined;
  readonly rows: string[] = [];
  readonly #judged = new Map<string, { passed: boolean; checks: PlanCheck[]; results: CheckResult[] }>();
  #waiting: Chunk | undefined;

  constructor(public applicable: Applicable = USUAL) {}

  send(input: Input, extra: { now?: number; actor?: string } = {}): this {
    this.last = took(send(this.state, input, { applicable: this.applicable, ...extra }));
    this.state = this.last.state;
    this.rows.push(this.last.row);
    const effect = evaluateOf(this.last.effects);
    if (effect !== undefined) this.#waiting = planChunk(this.state, effect, NOW);
    return this;
  }

  /** The evaluation that the plan waits for. */
  get chunk(): Chunk {
    if (this.#waiting === undefined) throw new Error('nothing was asked for');
    return this.#waiting;
  }

  verdict(outcomes: Outcomes): PlanVerdict {
    const { chunk } = this;
    const checks = chunk.plan?.checks ?? [];
    const results = checks.map(({ attachment }) => resultOf(outcomes[attachment] ?? 'pass'));
    const earlier = this.#judged.get(chunk.plan?.earlier ?? '') ?? null;
    const { verdict } = judgePlan(chunk, results, earlier);
    this.#judged.set(chunk.id, { passed: verdict.passed, checks, results });
    return verdict;
  }

  /** Decides the evaluation that the plan waits for. */
  decide(outcomes: Outcomes = {}): this {
    return this.send({ type: 'decided', verdict: this.verdict(outcomes) });
  }

  fix(snapshots: Record<string, string> = FIXED): this {
    return this.send({ type: 'fix', snapshots });
  }

  now(): PlanState {
    if (this.state === undefined) throw new Error('there is no plan yet');
    return this.state;
  }

  /** Data of the last step's event of this name. */
  data(name: string): Record<string, unknown> {
    const effect = this.last?.effects.find((each) => each.type === 'emit' && each.name === name);
    if (effect?.type !== 'emit') throw new Error(`${name} was not emitted`);
    return effect.data;
  }
}

export function submitted(
  policy: Partial<PlanPolicy> = {},
  applicable?: Applicable,
): Life & { state: PlanState } {
  const life = new Life(applicable);
  life.send({ type: 'submit', plan: newPlan({}, policy), snapshots: SNAPSHOTS });
  return life as Life & { state: PlanState };
}

export function created(policy: Partial<PlanPolicy> = {}, applicable?: Applicable): Life {
  return new Life(applicable).send({ type: 'create', plan: newPlan({}, policy) });
}

/** A plan in each phase. */
export const IN_PHASE: Record<Phase, () => Life> = {
  strategize: () => created(),
  execute: () => created().send({ type: 'strategized' }),
  validate: () => submitted(),
  fix: () => submitted().decide({ lint: 'fail' }),
  ready: () => submitted().decide(),
  escalated: () => submitted({ fixes: 0, revisions: 0 }).decide({ lint: 'fail' }),
  applied: () => submitted().decide().send({ type: 'apply', digests: SNAPSHOTS }),
  failed: () => submitted({ fixes: 0, revisions: 0, escalations: 0 }).decide({ lint: 'fail' }),
  cancelled: () => created().send({ type: 'cancel', reason: null }),
};
