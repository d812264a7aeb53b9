import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EXECUTOR_FLAGS } from '../workers/executor.js';

/** A process that takes part in a measurement. */
export interface Peer {
  stop(): Promise<void>;
}

export type PeerKind = 'raw' | 'executor';

/** Starts bench/child.ts as `kind` and waits until it is ready. */
export async function spawnPeer(kind: PeerKind, ...args: string[]): Promise<Peer> {
  const script = fileURLToPath(new URL('./child.ts', import.meta.url));
  const child = fork(script, [kind, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [
      ...process.execArgv,
      ...EXECUTOR_FLAGS,
      ...(process.env.PROF ? ['--cpu-prof', `--cpu-prof-dir=${process.env.PROF}`] : []),
    ],
  });
  const failed = once(child, 'exit').then(() => Promise.reject(new Error(`the ${kind} process ended`)));
  await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => {});
  return {
    async stop() {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}
