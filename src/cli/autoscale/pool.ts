import type { ChildProcess } from 'node:child_process';
import type { Logger } from 'pino';
import { afterCrash, afterLife, type Crashes, NO_CRASHES } from '../../core/autoscale/crashes.js';
import { BEGIN, END_WHEN_IDLE, newsIn } from '../child-messages.js';
import { endChild } from '../end-child.js';

/** Milliseconds after the last beginning before another process is warmed up: what has begun needs the cores. */
const WARM_AFTER_MS = 1500;
/** Names of workers that are gone and may still stand in the roster. */
const NAMES_KEPT = 1000;

/** loading and ready: takes nothing; begun: told to take work; up: takes it; ending: takes no more. */
type State = 'loading' | 'ready' | 'begun' | 'up' | 'ending';

interface Member {
  child: ChildProcess;
  state: State;
  /** It is to take work as soon as it is ready. */
  wanted: boolean;
  startedAt: number;
  /** When it was found busy last. */
  busyAt: number;
}

export interface PoolSettings {
  /** Starts a worker process that waits for `BEGIN`. */
  spawn(): ChildProcess;
  /** Processes that are kept loaded for when they are wanted. */
  warm: number;
  max: number;
  /** Milliseconds that a worker may take to finish what it has in hand. */
  drainMs: number;
  log: Logger;
  /** Hears of workers that are up, and of those that ended. */
  onChange(): void;
}

/** Worker processes, as many as are wanted, and those that are kept warm for more. */
export class WorkerPool {
  readonly #settings: PoolSettings;
  readonly #members = new Set<Member>();
  readonly #names = new Set<string>();
  #wanted = 0;
  #crashes: Crashes = NO_CRASHES;
  #begunAt = Number.NEGATIVE_INFINITY;
  #stopping = false;
  #timer: NodeJS.Timeout | undefined;
  #settlesAt = Number.POSITIVE_INFINITY;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
  }

  /** Workers that take work. */
  get up(): number {
    return this.#count(({ state }) => state === 'up');
  }

  /** Workers that are about to. */
  get starting(): number {
    return this.#count(
      ({ state, wanted }) => state === 'begun' || (wanted && state !== 'up' && state !== 'ending'),
    );
  }

  /** Processes that take nothing yet. */
  get waiting(): number {
    return this.#count(({ state, wanted }) => !wanted && (state === 'loading' || state === 'ready'));
  }

  /** Whether a worker of the roster is, or was, one of these. */
  isOwn(id: string): boolean {
    return this.#names.has(id);
  }

  #count(is: (member: Member) => boolean): number {
    return [...this.#members].filter(is).length;
  }

  /** From here on `count` workers are wanted; too many end one by one, and only when they have nothing in hand. */
  resize(count: number): void {
    this.#wanted = count;
    this.#settle();
  }

  #settle(): void {
    if (this.#stopping) return;
    const now = Date.now();
    clearTimeout(this.#timer);
    this.#settlesAt = Number.POSITIVE_INFINITY;
    const lived = [...this.#members]
      .filter(({ state }) => state === 'up')
      .map(({ startedAt }) => now - startedAt);
    if (this.#crashes.row > 0 && now >= this.#crashes.notBefore)
      this.#crashes = afterLife(this.#crashes, Math.max(0, ...lived));
    const missing = this.#wanted - this.up - this.starting;
    if (missing > 0) this.#grow(missing, now);
    else this.#shrink(-missing);
    this.#keepWarm(now);
  }

  #grow(missing: number, now: number): void {
    const spare = [...this.#members].filter(
      ({ wanted, state }) => !wanted && (state === 'ready' || state === 'loading'),
    );
    spare.sort((a, b) => Number(b.state === 'ready') - Number(a.state === 'ready'));
    const chosen = spare.slice(0, missing);
    for (const member of chosen) this.#begin(member);
    const rest = missing - chosen.length;
    if (rest > 0 && now < this.#crashes.notBefore) this.#later(this.#crashes.notBefore);
    else for (let n = 0; n < rest; n++) this.#begin(this.#spawn());
  }

  #begin(member: Member): void {
    member.wanted = true;
    this.#begunAt = Date.now();
    if (member.state !== 'ready') return;
    member.state = 'begun';
    member.startedAt = this.#begunAt;
    tell(member.child, BEGIN);
  }

  #shrink(surplus: number): void {
    const members = [...this.#members];
    // Those that have not begun need not.
    const early = members.filter(({ wanted, state }) => wanted && state === 'loading').slice(0, surplus);
    for (const member of early) member.wanted = false;
    const idlest = members
      .filter(({ state }) => state === 'up')
      .sort((a, b) => a.busyAt - b.busyAt || b.startedAt - a.startedAt);
    // The last one goes once another is loaded, so that what comes next does not wait for that.
    const left = this.#wanted === 0 && !this.#isReplaced() ? 1 : 0;
    for (const { child } of idlest.slice(0, Math.max(0, surplus - early.length - left)))
      tell(child, END_WHEN_IDLE);
  }

  /** Whether a loaded process waits; where processes keep ending, or none is kept warm, nobody waits for one. */
  #isReplaced(): boolean {
    if (this.#settings.warm === 0 || this.#crashes.row > 0) return true;
    return this.#count(({ state }) => state === 'ready') > 0;
  }

  #keepWarm(now: number): void {
    const { warm, max } = this.#settings;
    const wanted = Math.min(warm, Math.max(0, max - this.#wanted));
    const missing = wanted - this.waiting;
    if (missing > 0) {
      const at = Math.max(this.#begunAt + WARM_AFTER_MS, this.#crashes.notBefore);
      if (now < at) this.#later(at);
      else for (let n = 0; n < missing; n++) this.#spawn();
      return;
    }
    const spare = [...this.#members].filter(
      ({ wanted: is, state }) => !is && (state === 'ready' || state === 'loading'),
    );
    for (const member of spare.slice(0, -missing)) void this.#end(member);
  }

  /** Looks again at that time, or before. */
  #later(at: number): void {
    if (at >= this.#settlesAt) return;
    clearTimeout(this.#timer);
    this.#settlesAt = at;
    this.#timer = setTimeout(() => this.#settle(), Math.max(0, at - Date.now()));
  }

  #spawn(): Member {
    const child = this.#settings.spawn();
    const member: Member = { child, state: 'loading', wanted: false, startedAt: Date.now(), busyAt: 0 };
    this.#members.add(member);
    child.on('message', (message) => this.#hear(member, message));
    let ended = false;
    const onEnd = (reason: string) => {
      if (ended) return;
      ended = true;
      this.#members.delete(member);
      if (member.state !== 'ending' && !this.#stopping) this.#noteCrash(member, reason);
      this.#settle();
      this.#settings.onChange();
    };
    child.once('error', (error) => onEnd(error.message));
    child.once('exit', (code, signal) => onEnd(signal ?? `exit ${code}`));
    return member;
  }

  #hear(member: Member, message: unknown): void {
    const news = newsIn(message);
    if (news === undefined || member.state === 'ending') return;
    if (news.state === 'ready') {
      member.state = 'ready';
      if (member.wanted) this.#begin(member);
    }
    if (news.state === 'up') {
      member.state = 'up';
      this.#names.add(news.id);
      for (const name of this.#names) if (this.#names.size > NAMES_KEPT) this.#names.delete(name);
    }
    if (news.state === 'busy') member.busyAt = Date.now();
    if (news.state === 'ending') member.state = 'ending';
    if (news.state !== 'busy') this.#settings.onChange();
  }

  #noteCrash({ child, startedAt }: Member, reason: string): void {
    const { log } = this.#settings;
    const now = Date.now();
    const { crashes, news } = afterCrash(this.#crashes, now - startedAt, now);
    this.#crashes = crashes;
    const about = { pid: child.pid, reason, pause_ms: crashes.notBefore - now };
    if (news === 'loop')
      log.error(about, 'worker processes keep ending; others are started ever more rarely');
    else if (news === 'first') log.warn(about, 'a worker process has ended by itself');
    else log.debug(about, 'a worker process has ended again');
  }

  async #end(member: Member): Promise<void> {
    member.state = 'ending';
    await endChild(member.child, this.#settings.drainMs);
  }

  /** Drains all of them. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    await Promise.all([...this.#members].map((member) => this.#end(member)));
  }
}

function tell(child: ChildProcess, message: string): void {
  if (child.connected) child.send(message, () => {});
}
