import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { PlanRequest } from '../../src/app/plan/requests.js';
import type { AttachRequest } from '../../src/core/attachments/attach.js';
import type { PlanState } from '../../src/core/plan/model.js';
import type { RoleName } from '../../src/ports/store.js';
import { bundledProgram } from './program.js';

/** A step of a process: the n-th call of a method of its store, queue or sink. */
export interface Kill {
  at:
    | 'step'
    | 'enqueue'
    | 'record'
    | 'raiseGeneration'
    | 'claim'
    | 'holdBack'
    | 'acknowledge'
    | 'deliver'
    | 'letGo';
  /** `amid`: the results of a decision are staged, the step is not taken. */
  when: 'before' | 'amid' | 'after';
  nth: number;
}

/** What a process of plan-process.ts is told. */
export interface PlanProcessSettings {
  settings: Record<string, Record<string, unknown> | string>;
  url: string;
  /** Absent: it only answers requests. */
  role?: RoleName;
  /** Where its dispatcher brings events. */
  sink?: string;
  kill?: Kill;
}

export type PlanWish =
  | { run: PlanRequest }
  | { register: Record<string, unknown>[] }
  | { attach: AttachRequest };

export type PlanReply =
  | { ok: true; plan?: PlanState; repeated?: boolean; row?: string }
  | { ok: false; code: string; codes: string[]; plan?: PlanState };

/** A process of its own, which takes requests. */
export interface PlanProcess {
  child: ChildProcess;
  /** Resolves with its exit code and signal, whenever it ends. */
  gone: Promise<[code: number | null, signal: string | null]>;
  /** Never settles when the process ends first. */
  ask(wish: PlanWish): Promise<PlanReply>;
  /** Ends it, if it is still there, and waits for that. */
  stop(): Promise<void>;
}

/** Starts such a process; resolves once it is up, or has ended before that. */
export async function startPlanProcess(told: PlanProcessSettings): Promise<PlanProcess> {
  const script = await bundledProgram(fileURLToPath(new URL('plan-process.ts', import.meta.url)));
  const env: NodeJS.ProcessEnv = { ...process.env, SLUICE_TEST_PLAN: JSON.stringify(told) };
  delete env.NODE_ENV;
  delete env.VITEST;
  const child = fork(script, [], { execArgv: [], env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const gone = once(child, 'exit').then(([code, signal]): [number | null, string | null] => [code, signal]);
  const waiting = new Map<number, (reply: PlanReply) => void>();
  await new Promise<void>((resolve) => {
    child.on('message', (message: 'up' | { n: number; reply: PlanReply }) => {
      if (message === 'up') resolve();
      else waiting.get(message.n)?.(message.reply);
    });
    void gone.then(() => resolve());
  });
  let asked = 0;
  return {
    child,
    gone,
    ask(wish) {
      const n = asked++;
      const reply = new Promise<PlanReply>((resolve) => waiting.set(n, resolve));
      child.send({ n, wish });
      return reply;
    },
    async stop() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
