import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { type Config, configSchema } from '../../config/schema.js';
import { EvaluationReader } from '../../src/app/read.js';
import { type RunBatchDeps, runBatch } from '../../src/app/run-batch.js';
import type { Submission, SubmitSettings } from '../../src/app/submit.js';
import { type Engine, type FleetEngine, openFleet } from '../../src/compose.js';
import type { BatchRecord } from '../../src/core/batch.js';
import type { IndexedEvaluation } from '../../src/core/document.js';
import type { EvaluationOptions } from '../../src/core/manifest.js';
import type { Scenario } from '../../src/core/scenario/model.js';
import type { Blob, Store } from '../../src/ports/store.js';
import { startAggregator } from '../../workers/aggregator.js';
import { startExecutor } from '../../workers/executor.js';
import type { Role } from '../../workers/lifecycle.js';
import { startSweeper } from '../../workers/sweeper.js';
import { blobOf, DIRECT, openingOf } from './evidence.js';
import { bundledProgram } from './program.js';

export const silent = pino({ level: 'silent' });

/** The default settings with these in their place, section by section. */
export function configWith(settings: Record<string, Record<string, unknown> | string | number> = {}): Config {
  return configSchema.parse({ fleet: `t${randomBytes(5).toString('hex')}`, ...settings });
}

/** Settings under which dead workers are noticed soon. */
export const HASTY = {
  worker: { lock: '800ms', stalled_interval: '250ms', poisonous_after: 2 },
  sweeper: { every: '250ms', check_after: '700ms' },
};

export interface TestFleet {
  engine: FleetEngine;
  roles: Role[];
  close(): Promise<void>;
}

const starters = { worker: startExecutor, aggregator: startAggregator, sweeper: startSweeper };

/** A fleet of its own with these roles in this process. */
export async function openTestFleet(
  url: string,
  config: Config,
  roles: readonly (keyof typeof starters)[] = ['worker', 'aggregator'],
): Promise<TestFleet> {
  const engine = await openFleet(config, url, silent);
  const started: Role[] = [];
  for (const role of roles) started.push(await starters[role](engine));
  return {
    engine,
    roles: started,
    async close() {
      await Promise.all(started.map((role) => role.stop()));
      await engine.close();
    },
  };
}

export interface BatchInput {
  id: string;
  scenarios: readonly Scenario[];
  submissions: readonly Submission[];
  options?: EvaluationOptions;
  bundles?: readonly Blob[];
}

export function submitSettings(config: Config, more: Partial<SubmitSettings> = {}): SubmitSettings {
  return {
    fleet: config.fleet,
    packing: 'auto',
    workers: 1,
    deadlineMs: config.evaluation.deadline,
    checkAfterMs: config.sweeper.check_after,
    ...more,
  };
}

/** Judges a batch to its end, or until the signal fires. */
export async function judgeBatch(
  engine: Pick<Engine, 'config'> & RunBatchDeps,
  input: BatchInput,
  more: Partial<SubmitSettings> = {},
  signal: AbortSignal = AbortSignal.timeout(120_000),
): Promise<BatchRecord> {
  const { id, scenarios, submissions, options = DIRECT, bundles = [] } = input;
  const blobs = [...scenarios.map(blobOf), ...bundles];
  const settings = submitSettings(engine.config, more);
  return runBatch(engine, settings, openingOf(id, scenarios, options), blobs, submissions, signal);
}

export async function evaluationsOf(store: Store, batch: string): Promise<IndexedEvaluation[]> {
  const found: IndexedEvaluation[] = [];
  for await (const evaluation of new EvaluationReader(store).inInputOrder(batch)) found.push(evaluation);
  return found;
}

/** What must be the same whichever engine judged: not times, tries and names of workers. */
export function comparable(evaluations: readonly IndexedEvaluation[]) {
  return evaluations.map(({ results, ...evaluation }) => ({
    ...evaluation,
    results: results.map(({ duration_ms, tries, worker, data, ...result }) => {
      const { duration_ms: _ms, ...rest } = data;
      return { ...result, data: rest, ran: worker !== null };
    }),
  }));
}

export interface CloudEventJson {
  id: string;
  type: string;
  subject: string;
  data: Record<string, unknown>;
  [attribute: string]: unknown;
}

/** Every event that the outbox keeps. */
export async function outboxOf(store: Store): Promise<CloudEventJson[]> {
  const events: CloudEventJson[] = [];
  let cursor = '';
  for (;;) {
    const page = await store.outbox.events(cursor, 1000, 0);
    events.push(...page.map(({ event }) => JSON.parse(event.json) as CloudEventJson));
    const last = page.at(-1);
    if (last === undefined) return events;
    cursor = last.position;
  }
}

/** Short types of each evaluation's events, in order. */
export function eventsByEvaluation(events: readonly CloudEventJson[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { type, data } of events) {
    if (typeof data.evaluation !== 'string') continue;
    const own = found[data.evaluation] ?? [];
    own.push(type.replace(/^dev\.sluice\.|\.v1$/g, ''));
    found[data.evaluation] = own;
  }
  return found;
}

/** What a process of role-process.ts is told. */
export interface RoleProcessSettings {
  settings: Record<string, Record<string, unknown> | string | number>;
  url: string;
  roles: (keyof typeof starters)[];
}

/** Starts a process with these roles; resolves once they are up. */
export async function startRoleProcess(told: RoleProcessSettings): Promise<ChildProcess> {
  const script = await bundledProgram(fileURLToPath(new URL('role-process.ts', import.meta.url)));
  const env: NodeJS.ProcessEnv = { ...process.env, SLUICE_TEST_ROLE: JSON.stringify(told) };
  delete env.NODE_ENV;
  delete env.VITEST;
  const child = fork(script, [], { execArgv: [], env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const early = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the process ended before it was up: ${code ?? signal}`);
  });
  early.catch(() => {});
  await Promise.race([once(child, 'message'), early]);
  return child;
}

/** Keeps a process with these roles alive, whatever ends it, until it is stopped. */
export async function keepAlive(
  told: RoleProcessSettings,
): Promise<{ current(): ChildProcess; deaths(): number; stop(): Promise<void> }> {
  let open = true;
  let deaths = 0;
  let child = await startRoleProcess(told);
  const guard = (async () => {
    while (open) {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      if (!open) return;
      deaths += 1;
      const next = await startRoleProcess(told).catch(() => undefined);
      if (next !== undefined) child = next;
    }
  })();
  return {
    current: () => child,
    deaths: () => deaths,
    async stop() {
      open = false;
      child.kill('SIGKILL');
      await guard;
      child.kill('SIGKILL');
    },
  };
}
