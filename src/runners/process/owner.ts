import { readlinkSync } from 'node:fs';

/** Containers that share a folder for temporary files, or see each other's processes, do not share pids. */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

const NAMESPACE = pidNamespace();

/** Whose runs they are: this process, and where its pid counts. */
export const OWNER = `${process.pid}.${NAMESPACE}`;

/** Private folders of runs have this and their owner in their name. */
export const FOLDER_PREFIX = 'sluice-run-';

/** Variable in the environment of all that a run starts: its owner and a number. */
export const MARK_NAME = 'SLUICE_RUN';

/** Whether a name or a mark after its prefix begins with an owner that is surely gone. */
export function isOrphan(text: string): boolean {
  const [, pid, namespace] = /^(\d+)\.(\d+)-/.exec(text) ?? [];
  return namespace === NAMESPACE && !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
