import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Milliseconds beyond its drain that a worker process gets to end. */
const GRACE_MS = 3000;

/** SIGTERM to a worker process, and SIGKILL when it has not drained in time; resolves when it is gone. */
export async function endChild(child: ChildProcess, drainMs: number): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), drainMs + GRACE_MS);
  await gone;
  clearTimeout(timer);
}
