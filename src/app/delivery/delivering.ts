import { backoffMs } from '../../core/backoff.js';
import { roundsOf, subjectOf } from '../../core/delivery-order.js';
import type { DeliveryStep, DeliveryTask, Pace } from '../../ports/delivery.js';
import type { OutboxEntry } from '../../ports/store.js';
import { type Attempt, attempt, type Failure } from './attempt.js';
import { bury, type GivenUp } from './bury.js';
import { pageSize } from './claim.js';
import type { SinkGate, Turn } from './gate.js';
import type { DeliverDeps, SinkReader } from './reader.js';

/** What a sink was away for is put behind what waits, so that the next one to be tried is another. */
const BEHIND_MS = 100;

/** One pass over a task: what is left of it, and why. */
class Pass {
  readonly left = new Set<string>();
  readonly refused = new Map<string, Failure>();
  readonly away: string[] = [];
  readonly tries: Record<string, number>;
  readonly awayAt: Record<string, number>;
  halted = false;
  stopped = false;

  constructor(task: DeliveryTask, entries: readonly OutboxEntry[]) {
    this.tries = { ...task.tries };
    this.awayAt = { ...task.awayAt };
    for (const { position } of entries) this.left.add(position);
  }
}

/** Brings tasks to a sink: in parts, with what fails sorted by why it did. */
export class Delivering {
  readonly #deps: DeliverDeps;
  readonly #reader: SinkReader;
  readonly #gate: SinkGate;

  constructor(deps: DeliverDeps, reader: SinkReader, gate: SinkGate) {
    this.#deps = deps;
    this.#reader = reader;
    this.#gate = gate;
  }

  async deliver(task: DeliveryTask, signal: AbortSignal, pace: Pace): Promise<DeliveryStep> {
    let entries = await this.#entriesOf(task);
    for (;;) {
      if (entries.length === 0) return { kind: 'done' };
      const oldest = Math.min(...entries.map(({ at }) => at));
      const turn = await this.#gate.enter(oldest + this.#reader.giveUpAfterMs, signal);
      if (turn === 'stopped') return { kind: 'stopped', task: this.#rest(task, entries) };
      if (turn === 'overdue') {
        entries = await this.#giveUpOverdue(task, entries);
        continue;
      }
      const pass = new Pass(task, entries);
      try {
        await this.#pass(pass, entries, turn, signal, pace);
      } finally {
        turn.end();
      }
      return this.#next(pass, entries);
    }
  }

  /** The entries of a task in its order; what is kept no more has been delivered by another. */
  async #entriesOf({ positions }: DeliveryTask): Promise<OutboxEntry[]> {
    const found = new Map<string, OutboxEntry>();
    for (const entry of await this.#deps.outbox.eventsAt(positions)) found.set(entry.position, entry);
    const lost = positions.filter((position) => !found.has(position));
    if (lost.length > 0) await this.#deps.outbox.letGo(this.#reader.name, lost);
    return positions.flatMap((position) => found.get(position) ?? []);
  }

  async #giveUpOverdue(task: DeliveryTask, entries: readonly OutboxEntry[]): Promise<OutboxEntry[]> {
    const { state, reason } = this.#gate.circuit;
    const before = this.#deps.clock.now() - this.#reader.giveUpAfterMs;
    const code = state === 'disabled' ? 'gone' : 'away';
    const overdue = entries.filter(({ at }) => at <= before);
    const given = overdue.map((entry) => ({
      entry,
      code,
      reason: reason ?? 'the sink is away',
      response: this.#gate.lastResponse,
      tries: task.tries?.[entry.position] ?? 0,
    }));
    await bury(this.#deps, this.#reader, given);
    return entries.filter(({ at }) => at > before);
  }

  async #pass(
    pass: Pass,
    entries: readonly OutboxEntry[],
    turn: Turn,
    signal: AbortSignal,
    pace: Pace,
  ): Promise<void> {
    const inOrder = this.#reader.order === 'subject';
    const subject = ({ event }: OutboxEntry) => subjectOf(event);
    const most = pageSize(this.#reader);
    // After an outage one event goes first, then twice as many each time: what a sink fails on is soon alone.
    let size = turn.probe || entries.some(({ position }) => position in pass.awayAt) ? 1 : most;
    const blocked = new Set<string>();
    for (const round of roundsOf(entries, inOrder ? subject : undefined)) {
      const free = inOrder ? round.filter((entry) => !blocked.has(subject(entry))) : round;
      for (let from = 0; from < free.length; size = Math.min(most, size * 2)) {
        const part = free.slice(from, from + size);
        from += part.length;
        await this.#part(pass, part, turn, signal, pace);
        if (pass.halted || pass.stopped) return;
      }
      for (const entry of free) if (inOrder && pass.left.has(entry.position)) blocked.add(subject(entry));
    }
  }

  async #part(
    pass: Pass,
    part: readonly OutboxEntry[],
    turn: Turn,
    signal: AbortSignal,
    pace: Pace,
  ): Promise<void> {
    const events = part.map(({ event }) => event);
    const result = await attempt(this.#reader, events, signal, pace);
    if (result.stopped) {
      pass.stopped = true;
      return;
    }
    this.#suspect(pass, part, turn, result);
    const now = this.#deps.clock.now();
    const arrived: string[] = [];
    const given: GivenUp[] = [];
    for (const entry of part) {
      const { position } = entry;
      const failure = result.failures.get(entry.event.id);
      if (failure === undefined) arrived.push(position);
      else if (failure.kind === 'refused') {
        const tries = (pass.tries[position] ?? 0) + 1;
        pass.tries[position] = tries;
        if (failure.final || tries >= this.#reader.tries) given.push({ entry, ...failure, tries });
        else pass.refused.set(position, failure);
      } else {
        pass.away.push(position);
        if (failure.kind === 'away') pass.awayAt[position] = now;
        this.#gate.lastResponse = failure.response;
        pass.halted = true;
      }
    }
    for (const position of arrived) pass.left.delete(position);
    const { name, describe } = this.#reader;
    const retried = part.length - arrived.length - given.length;
    this.#deps.meter?.deliveries(
      { name, kind: describe.kind },
      { delivered: arrived.length, retried, dead: 0 },
    );
    await this.#deps.outbox.letGo(this.#reader.name, arrived);
    await bury(this.#deps, this.#reader, given);
    for (const { entry } of given) pass.left.delete(entry.position);
    if (result.sign !== undefined) turn.sign(result.sign);
  }

  /**
   * A sink that fails on one event alone, and took others since it last did, is not away: it refuses
   * that event. Else one event that crashes its receiver would hold up all others.
   */
  #suspect(pass: Pass, part: readonly OutboxEntry[], turn: Turn, result: Attempt): void {
    const [entry, another] = part;
    if (entry === undefined || another !== undefined || turn.probe || result.sign?.kind !== 'away') return;
    const awayAt = pass.awayAt[entry.position];
    const failure = result.failures.get(entry.event.id);
    if (awayAt === undefined || failure === undefined || this.#gate.circuit.tookAt <= awayAt) return;
    result.failures.set(entry.event.id, { ...failure, kind: 'refused', code: 'refused' });
    result.sign = undefined;
  }

  /** What is left, in order, with those last that the sink was away for. */
  #rest(pass: Pick<Pass, 'tries' | 'awayAt'> | DeliveryTask, entries: readonly OutboxEntry[]): DeliveryTask {
    const positions = entries.map(({ position }) => position);
    const ofThese = (all: Record<string, number> | undefined) => {
      const own = positions.flatMap((position) =>
        all?.[position] === undefined ? [] : [[position, all[position]]],
      );
      return own.length === 0 ? undefined : (Object.fromEntries(own) as Record<string, number>);
    };
    const tries = ofThese(pass.tries);
    const awayAt = ofThese(pass.awayAt);
    return { positions, ...(tries && { tries }), ...(awayAt && { awayAt }) };
  }

  #next(pass: Pass, entries: readonly OutboxEntry[]): DeliveryStep {
    const left = entries.filter(({ position }) => pass.left.has(position));
    if (left.length === 0) return { kind: 'done' };
    if (pass.stopped) return { kind: 'stopped', task: this.#rest(pass, left) };
    if (this.#reader.order === 'subject') {
      const behind = new Set(
        left.filter(({ position }) => position === pass.away[0]).map(({ event }) => subjectOf(event)),
      );
      const last = (entry: OutboxEntry) => behind.has(subjectOf(entry.event));
      const task = this.#rest(pass, [...left.filter((entry) => !last(entry)), ...left.filter(last)]);
      return { kind: 'again', tasks: [{ task, afterMs: pass.halted ? 0 : this.#backoff(pass, left) }] };
    }
    const refused = left.filter(({ position }) => pass.refused.has(position));
    const others = left.filter(({ position }) => !pass.refused.has(position));
    const first = others.filter(({ position }) => position !== pass.away[0]);
    const ordered = [...first, ...others.filter(({ position }) => position === pass.away[0])];
    const tasks = [
      { task: this.#rest(pass, ordered), afterMs: BEHIND_MS },
      { task: this.#rest(pass, refused), afterMs: this.#backoff(pass, refused) },
    ];
    return { kind: 'again', tasks: tasks.filter(({ task }) => task.positions.length > 0) };
  }

  #backoff(pass: Pass, entries: readonly OutboxEntry[]): number {
    const failed = entries.filter(({ position }) => pass.refused.has(position));
    const tries = Math.max(1, ...failed.map(({ position }) => pass.tries[position] ?? 1));
    const asked = Math.max(0, ...failed.map(({ position }) => pass.refused.get(position)?.retryAfterMs ?? 0));
    const { random = Math.random } = this.#deps;
    return backoffMs(tries, random(), this.#reader.longestWaitMs, asked);
  }
}
