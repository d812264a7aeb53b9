import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Files of bench/children. */
export type ChildKind =
  | 'executor'
  | 'aggregator'
  | 'producer'
  | 'raw-checks'
  | 'inline'
  | 'pings'
  | 'promptfoo'
  | 'graphile';

/** A process that takes part in a measurement. */
export interface Child {
  pid: number;
  /** Sends a question and resolves with the answer; rejects when the process ends or it fails there. */
  ask<T>(question?: unknown): Promise<T>;
  /** Resolves when it is gone. */
  stop(): Promise<void>;
}

/** Milliseconds that a child has between SIGTERM and SIGKILL. */
const GRACE_MS = 15_000;

/** SIGTERM, and SIGKILL after the grace; resolves when it is gone. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  child.kill('SIGTERM');
  await gone;
  clearTimeout(timer);
}

type Reply = { n: number; answer: unknown } | { n: number; error: string };

/** Starts bench/children/<kind>.ts and waits until it is ready. */
export async function startChild<T extends object>(
  kind: ChildKind,
  what: T,
  { flags = [] }: { flags?: string[] } = {},
): Promise<Child> {
  const script = fileURLToPath(new URL(`../children/${kind}.ts`, import.meta.url));
  const profile = process.env.PROF;
  const child = fork(script, [JSON.stringify(what)], {
    stdio: ['ignore', 2, 2, 'ipc'],
    execArgv: [
      ...process.execArgv,
      ...flags,
      ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []),
    ],
  });
  const gone = once(child, 'exit').then(() => Promise.reject(new Error(`the process ${kind} has ended`)));
  gone.catch(() => {});
  const waiting = new Map<number, (reply: Reply) => void>();
  await Promise.race([once(child, 'message'), gone]);
  child.on('message', (reply: Reply) => waiting.get(reply.n)?.(reply));
  let asked = 0;
  return {
    pid: child.pid ?? 0,
    async ask<A>(question: unknown = {}): Promise<A> {
      const n = asked++;
      const replied = new Promise<Reply>((resolve) => waiting.set(n, resolve));
      child.send({ n, question });
      const reply = await Promise.race([replied, gone]);
      waiting.delete(n);
      if ('error' in reply) throw new Error(`${kind}: ${reply.error}`);
      return reply.answer as A;
    },
    stop: () => endProcess(child),
  };
}
