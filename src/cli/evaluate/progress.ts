import { SingleBar } from 'cli-progress';
import { say } from '../output.js';

const LINE_EVERY_MS = 5000;
const STILL_EVERY_MS = 30_000;

export interface Progress {
  advance(count: number): void;
  /** Whether Redis is away: nothing can be said about the time that is left. */
  wait(away: boolean): void;
  stop(): void;
}

/** How far a batch is. `already`: evaluations that an earlier call had decided; they say nothing about speed. */
export interface Standing {
  done: number;
  total: number;
  already: number;
  /** Milliseconds since this call began to judge. */
  elapsedMs: number;
  away: boolean;
}

/** `240/s, 16 s left`. */
export function paceOf({ done, total, already, elapsedMs, away }: Standing): string {
  if (away) return 'waiting for Redis';
  const fresh = Math.max(0, done - already);
  const rate = elapsedMs > 0 ? (fresh * 1000) / elapsedMs : 0;
  if (rate === 0) return 'nothing decided yet';
  return `${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s, ${Math.ceil((total - done) / rate)} s left`;
}

/** `judged 1200 of 5000 (240/s, 16 s left)`. */
export function progressLine(standing: Standing): string {
  return `judged ${standing.done} of ${standing.total} (${paceOf(standing)})`;
}

/** Which lines are worth printing: those that say something new, and one each half minute. */
export class LineFilter {
  #done = 0;
  #told: number;

  constructor(now: number) {
    this.#told = now;
  }

  /** Whether to print a line now. Time is an argument, in milliseconds. */
  wants(now: number, { done, away }: Pick<Standing, 'done' | 'away'>): boolean {
    if (away || (done === this.#done && now - this.#told < STILL_EVERY_MS)) return false;
    this.#done = done;
    this.#told = now;
    return true;
  }
}

function track(total: number, already: number) {
  const started = Date.now();
  const state = { done: 0, away: false };
  const standing = (): Standing => ({ ...state, total, already, elapsedMs: Date.now() - started });
  return { state, standing };
}

function bar(total: number, already: number): Progress {
  const single = new SingleBar({
    format: 'judging {bar} {value}/{total} | {pace}',
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
  });
  const { state, standing } = track(total, already);
  const show = () => single.update(Math.min(state.done, total), { pace: paceOf(standing()) });
  single.start(total, 0, { pace: paceOf(standing()) });
  return {
    advance(count) {
      state.done += count;
      show();
    },
    wait(away) {
      state.away = away;
      show();
    },
    stop: () => single.stop(),
  };
}

function lines(total: number, already: number): Progress {
  const { state, standing } = track(total, already);
  const filter = new LineFilter(Date.now());
  const timer = setInterval(() => {
    if (filter.wants(Date.now(), state)) say(progressLine(standing()));
  }, LINE_EVERY_MS);
  timer.unref();
  return {
    advance(count) {
      state.done += count;
    },
    wait(away) {
      state.away = away;
    },
    stop: () => clearInterval(timer),
  };
}

const silent: Progress = { advance() {}, wait() {}, stop() {} };

/**
 * A bar on a terminal, else a line every five seconds in which something was decided; nothing with
 * `--json` away from a terminal (DESIGN 8).
 */
export function openProgress(total: number, already: number, json: boolean): Progress {
  if (process.stderr.isTTY) return bar(total, already);
  return json ? silent : lines(total, already);
}
