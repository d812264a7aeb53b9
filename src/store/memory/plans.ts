import { type PlanState, TERMINAL_PHASES } from '../../core/plan/model.js';
import type { PlanFilter, PlanLogEntry, PlanStep, PlanStepAnswer, PlanStore } from '../../ports/plans.js';
import type { RegistryStore } from '../../ports/registry.js';
import type { MemoryPlan, MemoryState } from './state.js';

const stateOf = (plan: MemoryPlan): PlanState => JSON.parse(plan.state) as PlanState;

const isOver = (plan: MemoryPlan): boolean => plan.endsAt !== null && plan.endsAt <= Date.now();

/** Plans in memory. What ended is forgotten after its retention, as soon as plans are asked for. */
export class MemoryPlans implements PlanStore {
  readonly #state: MemoryState;
  readonly #registry: Pick<RegistryStore, 'read'>;

  constructor(state: MemoryState, registry: Pick<RegistryStore, 'read'>) {
    this.#state = state;
    this.#registry = registry;
  }

  async plan(id: string): Promise<PlanState | undefined> {
    const plan = this.#find(id);
    return plan && stateOf(plan);
  }

  async command(plan: string, id: string): Promise<{ revision: number; digest: string } | undefined> {
    const mark = this.#find(plan)?.commands.get(id);
    return mark && { ...mark };
  }

  async log(plan: string): Promise<PlanLogEntry[]> {
    return (this.#find(plan)?.log ?? []).map((line) => JSON.parse(line) as PlanLogEntry);
  }

  async plans({ phase, project, limit }: PlanFilter): Promise<PlanState[]> {
    this.#forgetEnded();
    return [...this.#state.plans.values()]
      .filter((plan) => !isOver(plan))
      .map(stateOf)
      .filter((state) => phase === undefined || state.phase === phase)
      .filter((state) => project === undefined || state.project === project)
      .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
      .slice(0, limit);
  }

  async due(now: number, limit: number): Promise<string[]> {
    return [...this.#state.plans]
      .flatMap(([id, { deadline }]) => (deadline !== null && deadline <= now ? [{ id, deadline }] : []))
      .sort((a, b) => a.deadline - b.deadline || (a.id < b.id ? -1 : 1))
      .slice(0, limit)
      .map(({ id }) => id);
  }

  async step(step: PlanStep): Promise<PlanStepAnswer> {
    const registry = (await this.#registry.read()).revision;
    const plan = this.#find(step.plan);
    const known = step.command === null ? undefined : plan?.commands.get(step.command.id);
    if (known !== undefined) return { done: false, reason: 'repeated', ...known };
    const isLate = step.before !== undefined && Date.now() >= step.before;
    if ((plan?.revision ?? 0) !== step.expected || (step.registry ?? registry) !== registry || isLate) {
      return { done: false, reason: 'stale', state: plan && stateOf(plan) };
    }
    if (step.decision !== null && !this.#isOpen(step.decision.chunk)) {
      return { done: false, reason: 'decided' };
    }
    const asks = step.accept !== null && step.decision === null;
    if (asks && this.#state.outbox.length >= this.#state.outboxCap) {
      return { done: false, reason: 'outbox_full' };
    }
    this.#decide(step);
    this.#accept(step);
    this.#move(step, plan);
    this.#state.append(step.events);
    this.#state.wake();
    return { done: true };
  }

  #isOpen(chunk: string): boolean {
    return this.#state.chunks.get(chunk)?.decisions.has(0) === false;
  }

  #decide({ decision }: PlanStep): void {
    const chunk = decision === null ? undefined : this.#state.chunks.get(decision.chunk);
    if (decision === null || chunk === undefined) return;
    const results = decision.results?.json ?? '{}';
    chunk.decisions.set(0, { position: 0, decision: decision.json, results });
    chunk.recorded = [];
  }

  #accept({ accept }: PlanStep): void {
    if (accept === null) return;
    const { chunk, blobs, checkAt } = accept;
    this.#state.hold(blobs);
    chunk.evaluations.forEach(({ id }, position) => {
      this.#state.places.set(id, { chunk: chunk.id, position });
    });
    const fresh = { chunk, generation: 1, checkAt, recorded: [], decisions: new Map(), held: [], told: 0 };
    this.#state.chunks.set(chunk.id, fresh);
  }

  #move({ plan: id, next, command, accept, retentionMs }: PlanStep, before: MemoryPlan | undefined): void {
    if (next === null) return;
    const { state, log } = next;
    const ended = TERMINAL_PHASES.has(state.phase);
    const plan: MemoryPlan = before ?? {
      state: '',
      revision: 0,
      deadline: null,
      commands: new Map(),
      log: [],
      chunks: [],
      endsAt: null,
    };
    plan.state = JSON.stringify(state);
    plan.revision = state.revision;
    plan.deadline = ended ? null : state.deadline;
    plan.endsAt = ended ? Date.now() + retentionMs : null;
    plan.log.push(JSON.stringify(log));
    if (accept !== null) plan.chunks.push(accept.chunk.id);
    if (command !== null) plan.commands.set(command.id, { revision: state.revision, digest: command.digest });
    this.#state.plans.set(id, plan);
    if (ended) this.#state.endedPlans.add(id);
  }

  #find(id: string): MemoryPlan | undefined {
    this.#forgetEnded();
    const plan = this.#state.plans.get(id);
    if (plan === undefined || !isOver(plan)) return plan;
    this.#forget(id, plan);
    return undefined;
  }

  /** In the order of ending: one that is kept longer holds up the others, but only the freeing of memory. */
  #forgetEnded(): void {
    for (const id of this.#state.endedPlans) {
      const plan = this.#state.plans.get(id);
      if (plan === undefined || !isOver(plan)) return;
      this.#forget(id, plan);
    }
  }

  #forget(id: string, plan: MemoryPlan): void {
    for (const chunkId of plan.chunks) {
      const chunk = this.#state.chunks.get(chunkId);
      for (const evaluation of chunk?.chunk.evaluations ?? []) this.#state.places.delete(evaluation.id);
      this.#state.chunks.delete(chunkId);
    }
    this.#state.plans.delete(id);
    this.#state.endedPlans.delete(id);
  }
}
