import { readFileSync } from 'node:fs';

/** Bytes of memory that a process has now (Linux); 0 when it is gone. */
export function residentBytes(pid: number): number {
  try {
    const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(found?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

export const mib = (bytes: number): number => Math.round(bytes / 2 ** 20);

/** Notes the memory of processes, as long as it is not stopped. */
export class MemoryWatch<Name extends string> {
  readonly #pids: Record<Name, number>;
  readonly #timer: NodeJS.Timeout;
  readonly #noted: Record<Name, number[]>;

  constructor(pids: Record<Name, number>, everyMs = 100) {
    this.#pids = pids;
    this.#noted = Object.fromEntries(Object.keys(pids).map((name) => [name, []])) as unknown as Record<
      Name,
      number[]
    >;
    this.#timer = setInterval(() => this.#note(), everyMs);
    this.#note();
  }

  #note(): void {
    for (const name of Object.keys(this.#pids) as Name[]) {
      const bytes = residentBytes(this.#pids[name]);
      if (bytes > 0) this.#noted[name].push(bytes);
    }
  }

  /** Ends it; bytes by process, in the order in which they were noted. */
  stop(): Record<Name, number[]> {
    clearInterval(this.#timer);
    this.#note();
    return this.#noted;
  }
}

export const peak = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);
