import { type Logger, pino } from 'pino';
import { ulid } from 'ulid';
import { loadConfig } from '../config/load.js';
import { blobsOf, openingOf, type ScenarioWithBundle } from './app/opening.js';
import { EvaluationReader } from './app/read.js';
import { runBatch } from './app/run-batch.js';
import type { Submission } from './app/submit.js';
import { type Engine, openFleet, openInline, plansOf, registryOf, toolCallerOf } from './compose.js';
import type { BatchRecord } from './core/batch.js';
import type { IndexedEvaluation } from './core/document.js';
import type { EventName } from './core/events.js';
import { type Problem, SluiceError, show } from './core/problem.js';
import { type RunRecord, runRecordSchema } from './core/run-record.js';
import { loadScenario, sealScenario } from './core/scenario/load.js';
import type { Scenario } from './core/scenario/model.js';
import { subjectOf } from './core/subject.js';
import { check } from './library/checked.js';
import { type PlanFleet, planFleet, type ToolCalls } from './library/plans.js';
import {
  type ErrorHandler,
  type EventHandler,
  type FleetEvent,
  Subscriptions,
} from './library/subscriptions.js';

export interface FleetOptions {
  /**
   * redis:// URL of a Redis whose workers and aggregator run elsewhere. Without it everything is judged
   * in this process, in memory: REDIS_URL, `redis:` of the settings and a private Redis are not looked for.
   */
  redis?: string;
  /** Name of the fleet on that Redis; default `sluice`. */
  fleet?: string;
  /** A configuration file. */
  config?: string;
  /**
   * Hears of handlers of `on` that throw (with the event), and of trouble in following events (without
   * one). Default: the log, on standard error.
   */
  onError?: ErrorHandler;
}

export interface JudgeOptions {
  /** The same id again goes on with the batch; default: a new ULID. */
  batch?: string;
  /** A vacuous pass counts as fail. */
  strict?: boolean;
  /** Gateway rules apply only to `gateway`. */
  from?: 'gateway' | 'message' | 'direct';
  /** Who asks; stands in decisions and events. */
  actor?: string;
  /** Stops submitting and waiting. */
  signal?: AbortSignal;
}

/** A batch that is judged. */
export interface JudgedBatch {
  batch: BatchRecord;
  /** In input order; read from the store as they are asked for. */
  evaluations(): AsyncIterable<IndexedEvaluation>;
}

/** A fleet to judge runs with, and to gate plans with. */
export interface Fleet extends PlanFleet {
  /** Judges runs against one scenario. Throws SluiceError INVALID_RUNS with every problem. */
  judge(scenario: ScenarioWithBundle, runs: Iterable<unknown>, options?: JudgeOptions): Promise<JudgedBatch>;
  /**
   * Calls the handler for each event of these names from now on, one after the other; returns what ends
   * that. A handler that throws is told to `onError`, and not called again for that event. Throws USAGE
   * for an event that does not exist. For what must not be missed use a sink.
   */
  on<N extends EventName>(event: N | readonly N[], handler: EventHandler<N>): () => void;
  close(): Promise<void>;
}

/** A scenario from an object such as scenario.json holds. Throws INVALID_SCENARIO with every problem. */
export function defineScenario(key: string, definition: Record<string, unknown>): Scenario {
  const loaded = loadScenario({ file: key, text: JSON.stringify(definition), defaultKey: key });
  if (loaded.ok) return sealScenario(loaded.scenario);
  throw new SluiceError(
    'INVALID_SCENARIO',
    `Scenario "${key}" has ${loaded.problems.length} problem(s).`,
    loaded.problems,
  );
}

function checkedRuns(runs: Iterable<unknown>): RunRecord[] {
  const records: RunRecord[] = [];
  const problems: Problem[] = [];
  const ids = new Set<string>();
  let position = 0;
  for (const run of runs) {
    const parsed = runRecordSchema.safeParse(run);
    for (const issue of parsed.error?.issues ?? []) {
      problems.push({
        path: [`runs[${position}]`, ...issue.path.map(String)].join('.'),
        message: issue.message,
      });
    }
    if (parsed.success && ids.has(parsed.data.id)) {
      problems.push({
        path: `runs[${position}].id`,
        message: 'a run with this id came before',
        found: show(parsed.data.id),
      });
    }
    if (parsed.success) {
      ids.add(parsed.data.id);
      records.push(parsed.data);
    }
    position += 1;
  }
  if (problems.length > 0)
    throw new SluiceError('INVALID_RUNS', `The runs have ${problems.length} problem(s).`, problems);
  if (records.length === 0) throw new SluiceError('INVALID_RUNS', 'There is no run to judge.');
  return records;
}

async function judge(
  engine: Engine,
  loaded: ScenarioWithBundle,
  given: Iterable<unknown>,
  options: JudgeOptions,
): Promise<JudgedBatch> {
  const { store, clock, config } = engine;
  const { scenario } = loaded;
  const runs = checkedRuns(given);
  const submissions = runs.map(
    (run, index): Submission => ({
      index,
      run: run.id,
      case: run.case ?? run.id,
      scenario,
      subject: subjectOf(run),
    }),
  );
  const settings = {
    fleet: config.fleet,
    packing: 'auto' as const,
    expected: runs.length,
    workers: 1,
    deadlineMs: config.evaluation.deadline,
    checkAfterMs: config.sweeper.check_after,
    ...(options.actor === undefined ? {} : { actor: options.actor }),
  };
  const rules = {
    strict: options.strict ?? false,
    from: options.from ?? 'direct',
    informationalErrors: config.evaluation.informational_errors,
    ...(config.evaluation.require_enforced ? { requireEnforced: true } : {}),
  } as const;
  const opening = openingOf(
    options.batch ?? ulid(),
    clock.now(),
    rules,
    [loaded],
    config.evaluation.retention,
  );
  const signal = options.signal ?? new AbortController().signal;
  const batch = await runBatch(engine, settings, opening, blobsOf([loaded]), submissions, signal);
  return { batch, evaluations: () => new EvaluationReader(store).inInputOrder(batch.id) };
}

/** Tells errors of handlers where they are wanted; what goes wrong there goes to the log. */
function reporter(log: Logger, wanted: ErrorHandler | undefined) {
  return async (error: Error, event?: FleetEvent): Promise<void> => {
    const message = event === undefined ? 'cannot follow events' : `a handler of ${event.name} failed`;
    if (wanted === undefined) return log.error({ err: error, subject: event?.subject }, message);
    try {
      await wanted(error, event);
    } catch (failure) {
      log.error({ err: failure, cause: error.message }, 'onError failed');
    }
  };
}

type Method = (...args: never[]) => Promise<unknown>;

/** The same methods, which refuse to be called once the fleet is closed: nothing would come of it. */
function whileOpen<T extends object>(methods: T, isClosed: () => boolean): T {
  const guarded = Object.entries(methods as Record<string, Method>).map(([name, method]) => [
    name,
    async (...args: never[]) => {
      if (isClosed()) throw new SluiceError('USAGE', `The fleet is closed; ${name} was not carried out.`);
      return method(...args);
    },
  ]);
  return Object.fromEntries(guarded) as T;
}

/**
 * Opens a fleet. With `redis`, roles that run elsewhere judge (`sluice up`, or `sluice worker` and
 * `sluice aggregator`); without, this process does, and nothing survives it. Throws
 * USAGE, REDIS_UNREACHABLE, REDIS_VERSION, REDIS_POLICY or INVALID_CONFIG.
 */
export async function createFleet(options: FleetOptions = {}): Promise<Fleet> {
  check('createFleet', options);
  const config = await loadConfig(options.config, { fleet: options.fleet });
  const log = pino({ level: 'warn' }, pino.destination(2));
  const engine =
    options.redis === undefined ? openInline(config, log) : await openFleet(config, options.redis, log);
  const subscriptions = new Subscriptions(engine.store.outbox, reporter(log, options.onError));
  let caller: ReturnType<typeof toolCallerOf> | undefined;
  const tools: ToolCalls = {
    async call(...given) {
      caller ??= toolCallerOf(engine);
      return (await caller).call(...given);
    },
  };
  let closed = false;
  const methods: Omit<Fleet, 'on' | 'close'> = {
    ...planFleet(registryOf(engine), plansOf(engine), tools),
    async judge(scenario, runs, judgeOptions = {}) {
      check('judge', { runs, options: judgeOptions });
      return judge(engine, scenario, runs, judgeOptions);
    },
  };
  return {
    ...whileOpen(methods, () => closed),
    on(event, handler) {
      const names = [event].flat();
      check('on', { event: names, handler });
      return subscriptions.on(names as never, handler);
    },
    async close() {
      closed = true;
      await subscriptions.close();
      await (await caller)?.close();
      await engine.close();
    },
  };
}
