import { readFileSync } from 'node:fs';

/** Of user `nobody` on every Linux. */
const NOBODY = 65534;
/** Numbers that no distribution gives away; each run of this process has one of its own. */
const FIRST = 1_900_000_000;
const COUNT = 240_000_000;
/** Runs at a time of one worker, as far as numbers are apart. */
const SLOTS = 64;

const taken = new Set<number>();

/** Whether this process is root, so that its sandboxes have to be somebody else. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

let mapped: boolean | undefined;

/** Within a container of a user, only some numbers exist. */
function hasLargeNumbers(): boolean {
  mapped ??= (() => {
    try {
      const ranges = readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n');
      return ranges.some((range) => {
        const [inside = 0, , length = 0] = range.trim().split(/\s+/).map(Number);
        return inside <= FIRST && inside + length >= FIRST + COUNT;
      });
    } catch {
      return false;
    }
  })();
  return mapped;
}

export interface SandboxUser {
  /** Number of user and group, never 0. */
  id: number;
  release(): void;
}

/**
 * Who a run is. Under root it is a user of its own, so that the limit of processes counts it alone
 * and it reads only what everybody may; otherwise it is `nobody` within its sandbox, and the worker's
 * user for the host.
 */
export function sandboxUser(): SandboxUser {
  if (!isRoot() || !hasLargeNumbers()) return { id: NOBODY, release() {} };
  let slot = 0;
  while (taken.has(slot)) slot++;
  taken.add(slot);
  return { id: FIRST + ((process.pid * SLOTS + slot) % COUNT), release: () => taken.delete(slot) };
}
