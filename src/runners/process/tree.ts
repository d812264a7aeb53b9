import { readdirSync, readFileSync } from 'node:fs';
import { MARK_NAME } from './owner.js';

const MARK = new RegExp(`(?:^|\\0)${MARK_NAME}=([^\\0]*)`);

/** Empty where it cannot be read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** What follows the name of a process, which may hold anything: state, parent and more. */
function statOf(pid: number | string): string[] {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2);
}

const stateOf = (pid: number) => statOf(pid)[0] ?? '';

/** Parent of each process of this host; empty where /proc tells nothing. */
function parents(): Map<number, number> {
  const found = new Map<number, number>();
  for (const pid of pids()) {
    const [, parent] = statOf(pid);
    if (parent !== undefined) found.set(Number(pid), Number(parent));
  }
  return found;
}

function pids(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** All below a process by generation: its children first. */
export function generationsOf(root: number): number[][] {
  const parentOf = parents();
  const generations: number[][] = [];
  for (let above = new Set([root]); above.size > 0; ) {
    const next = [...parentOf].filter(([, parent]) => above.has(parent)).map(([pid]) => pid);
    if (next.length > 0) generations.push(next);
    above = new Set(next);
  }
  return generations;
}

/** Mark of each process that has one and may be looked at. */
export function marks(among: readonly string[] = pids()): Map<number, string> {
  const found = new Map<number, string>();
  for (const pid of among) {
    const mark = MARK.exec(textOf(`/proc/${pid}/environ`))?.[1];
    if (mark !== undefined) found.set(Number(pid), mark);
  }
  return found;
}

/**
 * All of a run that still carries its mark. Pids count upwards, so that only those after its first
 * process are looked at, unless they began anew meanwhile.
 */
export function marked(mark: string, first: number): number[] {
  const newest = Number(textOf('/proc/loadavg').trim().split(' ').at(-1));
  const among = newest >= first ? pids().filter((pid) => Number(pid) >= first) : pids();
  return [...marks(among)].filter(([, each]) => each === mark).map(([pid]) => pid);
}

/** How long a signal may take to arrive. */
const STOP_MS = 50;

/** Stops a process so that it starts nothing more; it is as good as dead then. */
export function freeze(pid: number): void {
  send('SIGSTOP', [pid]);
  const until = performance.now() + STOP_MS;
  while (/^[RSD]$/.test(stateOf(pid)) && performance.now() < until);
}

/** Sends a signal to each of them; what is gone is passed over. Negative: a group. */
export function send(signal: NodeJS.Signals, ids: readonly number[]): void {
  for (const id of ids) {
    try {
      process.kill(id, signal);
    } catch {
      // Gone already.
    }
  }
}
