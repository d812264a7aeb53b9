import type { Chunk } from '../../../../src/core/manifest.js';
import { judgePlan } from '../../../../src/core/plan/gate.js';
import { planChunk } from '../../../../src/core/plan/manifest.js';
import {
  type Applicable,
  type PlanCommand,
  type PlanPolicy,
  type PlanState,
  TERMINAL_PHASES,
  type Transition,
} from '../../../../src/core/plan/model.js';
import { transition } from '../../../../src/core/plan/transition.js';
import type { CheckResult, Outcome } from '../../../../src/core/result.js';
import { result } from '../build.js';
import { check, type Input, NOW, newPlan, POLICY } from './build.js';
import { Draw } from './draw.js';
import { holdRules, type Judged, must } from './rules.js';

const RESOURCES = ['a/one', 'b/two'];

/**
 * A plan, its registry and its evaluations without any store: takes random commands as the service
 * takes them, with command ids, and holds every transition against the rules of the lifecycle.
 */
export class Simulation {
  #state: PlanState | undefined;
  #now = NOW;
  #applicable: Applicable;
  #pending: Chunk | undefined;
  #commands = 0;
  readonly #policy: PlanPolicy;
  /** By command id: what was taken, and where it led. */
  readonly #taken = new Map<number, { input: Input; revision: number }>();
  readonly #log: { id: number; command: PlanCommand }[] = [];
  readonly #judged = new Map<string, Judged>();
  readonly #visit: (row: string) => void;
  /** How often the checks of this plan fail or err, in 16. */
  readonly #trouble: { fail: number; error: number };

  constructor(seed: number, visit: (row: string) => void) {
    const draw = new Draw(seed);
    this.#visit = visit;
    this.#policy = {
      ...POLICY,
      fixes: draw.below(4),
      revisions: draw.below(3),
      escalations: draw.below(3),
      errorRetries: draw.below(3),
      requireValidations: draw.once(4),
    };
    this.#trouble = { fail: draw.of([0, 1, 5, 12]), error: draw.of([0, 1, 4, 12]) };
    this.#applicable = this.#attachments(draw);
  }

  #attachments(draw: Draw): Applicable {
    const checks = RESOURCES.flatMap((resource) =>
      Array.from({ length: draw.of([0, 1, 2, 2]) }, (_, n) =>
        check(`${resource}-${n}`, {
          resource,
          version: `version ${draw.of([1, 1, 1, 2])}`,
          mode: draw.once(4) ? 'informational' : 'required',
          retryLimit: draw.of([null, null, null, 1]),
        }),
      ),
    );
    const unvalidated = RESOURCES.filter((name) => checks.every(({ resource }) => resource !== name));
    return { checks, unvalidated };
  }

  #snapshots(draw: Draw): Record<string, string> {
    const given = Object.fromEntries(RESOURCES.map((name) => [name, `digest ${draw.below(3)}`]));
    if (draw.once(16)) delete given['a/one'];
    return given;
  }

  /** One random step: time passes, attachments change, a decision arrives, or a command is given. */
  command(choice: number): void {
    const draw = new Draw(choice);
    this.#now += draw.of([0, 0, 1, 700]);
    if (draw.once(24)) this.#applicable = this.#attachments(draw);
    if (draw.once(16)) this.#repeat(draw);
    const likely = draw.once(6) ? undefined : this.#likely(draw);
    this.#give(likely ?? this.#any(draw), draw);
  }

  /** What the phase waits for. */
  #likely(draw: Draw): Input | undefined {
    const snapshots = this.#snapshots(draw);
    switch (this.#state?.phase) {
      case undefined:
        return this.#birth(draw);
      case 'strategize':
        return { type: 'strategized' };
      case 'execute':
        return { type: 'executed', snapshots };
      case 'validate':
        return this.#decision(draw);
      case 'fix':
        return { type: 'fix', snapshots };
      case 'ready':
        return draw.once(3) ? this.#apply(draw) : { type: 'executed', snapshots };
      case 'escalated':
        return { type: 'respond', answer: draw.once(5) ? 'abort' : 'retry', guidance: 'g' };
      default:
        return undefined;
    }
  }

  #birth(draw: Draw): Input {
    const plan = newPlan({ resources: RESOURCES }, this.#policy);
    return draw.once(2)
      ? { type: 'create', plan }
      : { type: 'submit', plan, snapshots: this.#snapshots(draw) };
  }

  #apply(draw: Draw): Input {
    const digests = draw.once(4) ? this.#snapshots(draw) : { ...this.#state?.snapshots };
    return { type: 'apply', digests };
  }

  #any(draw: Draw): Input {
    const snapshots = this.#snapshots(draw);
    return draw.of<() => Input>([
      () => this.#birth(draw),
      () => ({ type: 'strategized' }),
      () => ({ type: 'executed', snapshots }),
      () => ({ type: 'fix', snapshots }),
      () => ({ type: 'respond', answer: draw.of(['retry', 'abort']), guidance: null }),
      () => this.#apply(draw),
      () => (draw.once(3) ? { type: 'cancel', reason: null } : { type: 'strategized' }),
      () => this.#deadline(draw.once(2)),
      () => this.#stale(draw) ?? { type: 'strategized' },
    ])();
  }

  #deadline(late: boolean): Input {
    const { deadline } = this.#state ?? {};
    if (late && deadline) this.#now = Math.max(this.#now, deadline);
    return { type: 'deadline', diagnosis: null };
  }

  /** A decision that came before. */
  #stale(draw: Draw): Input | undefined {
    const judged = [...this.#judged.values()];
    if (judged.length === 0) return undefined;
    const { chunk, results } = draw.of(judged);
    return { type: 'decided', verdict: judgePlan(chunk, results, this.#earlier(chunk)).verdict };
  }

  #earlier(chunk: Chunk) {
    const before = this.#judged.get(chunk.plan?.earlier ?? '');
    if (before === undefined) return null;
    return { passed: before.passed, checks: before.chunk.plan?.checks ?? [], results: before.results };
  }

  /** What random results make of the evaluation that the plan waits for. */
  #decision(draw: Draw): Input {
    const chunk = this.#pending;
    must(chunk?.plan !== undefined, 'a plan that validates waits for an evaluation');
    const results = chunk.plan.checks.map(() => this.#result(draw));
    const { verdict } = judgePlan(chunk, results, this.#earlier(chunk));
    this.#judged.set(chunk.id, { chunk, passed: verdict.passed, results });
    return { type: 'decided', verdict };
  }

  #result(draw: Draw): CheckResult {
    const { fail, error } = this.#trouble;
    const drawn = draw.below(16);
    const outcome: Outcome = drawn < fail ? 'fail' : drawn < fail + error ? 'error' : 'pass';
    return result(outcome, draw.once(16) ? { retryable: false } : {});
  }

  /** The same command id again: as the store does, it is answered without asking the lifecycle. */
  #repeat(draw: Draw): void {
    if (this.#taken.size === 0) return;
    const before = this.#state;
    const id = draw.of([...this.#taken.keys()]);
    const { input, revision } = this.#taken.get(id) as { input: Input; revision: number };
    this.#give(input, draw, id);
    must(this.#state === before, 'a repeated command changes nothing');
    must(revision <= (before?.revision ?? 0), 'a repeated command is answered with where it led');
  }

  #give(input: Input, draw: Draw, id = this.#commands++): void {
    if (this.#taken.has(id)) return;
    const command = { now: this.#now, actor: 'a', applicable: this.#applicable, ...input } as PlanCommand;
    const before = this.#state;
    const looked = draw.once(64);
    const given = looked ? JSON.stringify([before, command]) : '';
    const answer = transition(before, command);
    if (looked) {
      const again = JSON.stringify(transition(before, command));
      must(again === JSON.stringify(answer), 'the same input gives the same transition');
      must(JSON.stringify([before, command]) === given, 'a transition changes neither state nor command');
    }
    this.#visit(answer.row);
    this.#log.push({ id, command });
    if (!answer.ok) return;
    this.#taken.set(id, { input, revision: answer.state.revision });
    this.#state = answer.state;
    this.#follow(answer);
    holdRules(before, answer.state, command, this.#judged);
  }

  #follow({ state, effects }: Extract<Transition, { ok: true }>): void {
    const asked = effects.filter((effect) => effect.type === 'evaluate');
    must(asked.length === (state.awaits === null ? 0 : 1), 'a plan that waits has asked for one evaluation');
    const [effect] = asked;
    const cancelled = effects.find((each) => each.type === 'cancel');
    if (cancelled?.type === 'cancel')
      must(cancelled.evaluation === this.#pending?.id, 'only what is awaited is cancelled');
    this.#pending = effect === undefined ? undefined : planChunk(state, effect, this.#now);
    if (effect !== undefined) {
      must(effect.evaluation === state.awaits?.evaluation, 'the plan waits for what it asked for');
      must(!this.#judged.has(effect.evaluation), 'every evaluation has an id of its own');
    }
  }

  /** The same commands from the beginning, each of them twice: they lead to where they led. */
  #replay(): void {
    const taken = new Set<number>();
    let state: PlanState | undefined;
    for (const { id, command } of this.#log.flatMap((each) => [each, each])) {
      if (taken.has(id)) continue;
      const answer = transition(state, command);
      if (!answer.ok) continue;
      taken.add(id);
      state = answer.state;
    }
    must(JSON.stringify(state) === JSON.stringify(this.#state), 'a replay changes nothing');
  }

  /** No more commands: what runs is decided, and deadlines fire, until nothing is left to happen. Then all of it again. */
  settle(): void {
    if (this.#state === undefined) this.#give(this.#birth(new Draw(0)), new Draw(1));
    for (let n = 0; n < 100; n += 1) {
      const { phase, deadline } = this.end();
      const draw = new Draw(n * 2_654_435_761);
      if (phase === 'validate') this.#give(this.#decision(draw), draw);
      else if (deadline !== null) this.#give(this.#deadline(true), draw);
      else {
        if (this.#commands % 4 === 0) this.#replay();
        return;
      }
    }
    throw new Error('the plan never ends');
  }

  /** An ended plan gets a few commands more, of which none may move it. */
  ended(choice: number): boolean {
    return this.#state !== undefined && TERMINAL_PHASES.has(this.#state.phase) && choice % 4 === 0;
  }

  end(): PlanState {
    must(this.#state !== undefined, 'there is a plan');
    return this.#state;
  }
}
