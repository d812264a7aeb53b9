import { readdirSync, readFileSync } from 'node:fs';

function statOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
}

/** Parent of each process of this host; empty where /proc tells nothing. */
function parents(): Map<number, number> {
  const found = new Map<number, number>();
  for (const pid of pids()) {
    const stat = statOf(pid);
    const parent = stat?.slice(stat.lastIndexOf(')') + 4).split(' ', 1)[0];
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

/** Processes whose environment holds this variable with this value. */
export function marked(name: string, value: string): number[] {
  const entry = `\0${name}=${value}\0`;
  return pids()
    .filter((pid) => {
      try {
        return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(entry);
      } catch {
        return false;
      }
    })
    .map(Number);
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
