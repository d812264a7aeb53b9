import { setTimeout as delay } from 'node:timers/promises';
import { ulid } from 'ulid';
import type { Config } from '../../../config/schema.js';
import { blobsOf, openingOf } from '../../app/opening.js';
import { BatchHold } from '../../app/retention.js';
import { runBatch } from '../../app/run-batch.js';
import type { SubmitSettings } from '../../app/submit.js';
import { type Engine, type FleetEngine, openFleet, openInline } from '../../compose.js';
import type { BatchRecord } from '../../core/batch.js';
import type { EvaluationOptions } from '../../core/manifest.js';
import { SluiceError } from '../../core/problem.js';
import type { LoadedScenario } from '../../inputs/scenario-files.js';
import { Executors, endWorkersAtOnce } from '../executors.js';
import { createLog, createSentences } from '../log.js';
import { observingOf } from '../observing.js';
import { say } from '../output.js';
import { findRedis, type RedisPlace } from '../redis.js';
import { redisTrouble } from '../redis-trouble.js';
import { isOfStdout, sinksOfSettings } from '../sink-problem.js';
import { BatchReports } from './batch-reports.js';
import type { CheckedRuns } from './checked-runs.js';
import { type Ending, restOf } from './ending.js';
import type { EvaluateSettings, RawEvaluateOptions } from './options.js';
import { OutageSentences } from './outage-sentences.js';
import { openProgress, type Progress } from './progress.js';
import { resumeCommand } from './resume.js';
import { FleetSession } from './session.js';
import { BatchSinks } from './sinks.js';
import { tellTrouble } from './trouble.js';
import { inTurns } from './turns.js';
import { batchDocument, verdictOf } from './verdict.js';

/** A batch that is checked and ready to be judged. */
export interface Job {
  raw: RawEvaluateOptions;
  settings: EvaluateSettings;
  config: Config;
  loaded: readonly LoadedScenario[];
  runs: CheckedRuns;
  options: EvaluationOptions;
  id: string;
  /** Fires with the first Ctrl-C. */
  signal: AbortSignal;
  /** Told how far this is. */
  ending: Ending;
}

/** How long an interrupted batch may take to stop when Redis does not answer. */
const STOP_MS = 10_000;
/** How long connections to a Redis that is gone get to close. */
const AWAY_MS = 500;
/** Worker processes leave it to this one to tell the person about an outage. */
const WORKER_LOG_LEVEL = 'error';

const resumeOf = ({ id }: Job): string => resumeCommand(process.argv.slice(2), id);

/** The Redis to use; undefined: judge in this process. Says so when nobody asked for that. */
async function choosePlace({ settings, config }: Job): Promise<RedisPlace | undefined> {
  if (settings.engine === 'inline') return undefined;
  const place = await findRedis(config);
  if (!('unavailable' in place)) return place;
  if (settings.engine === 'fleet') {
    throw new SluiceError(
      'REDIS_UNREACHABLE',
      `--engine fleet needs a Redis: none is named, and there is no private one: ${place.unavailable}.`,
    );
  }
  say(
    `sluice: there is no Redis (${place.unavailable}); judging in this process: nothing will survive it but what it prints and writes.`,
  );
  return undefined;
}

/** Everything that is open for one batch, closed in the right order. */
interface Open {
  engine: Engine;
  place: RedisPlace | undefined;
  sinks: BatchSinks;
  session: FleetSession | undefined;
  workers: number;
  progress: Progress;
  decided: { count: number };
}

/** Says what an earlier call has decided; answers with how many. */
function tellStanding(job: Job, standing: BatchRecord | undefined): number {
  if (standing === undefined) return 0;
  const { decided, total } = standing;
  say(`sluice: batch ${job.id}: ${decided} of ${total ?? job.runs.total} were decided already`);
  return decided;
}

async function openRoles(
  job: Job,
  engine: Engine,
  place: RedisPlace | undefined,
  standing: BatchRecord | undefined,
  decided: { count: number },
): Promise<{ session: FleetSession | undefined; workers: number }> {
  if (place === undefined) return { session: undefined, workers: 1 };
  const { config, settings, raw } = job;
  if (standing !== undefined && standing.state !== 'open') return { session: undefined, workers: 1 };
  const executors = new Executors(
    {
      redisUrl: place.url,
      fleet: config.fleet,
      config: raw.config,
      logLevel: raw.logLevel ?? WORKER_LOG_LEVEL,
      drainMs: config.worker.drain,
      isAlone: place.isPrivate,
    },
    engine.log,
  );
  job.signal.addEventListener('abort', () => executors.halt(), { once: true });
  return FleetSession.start({
    engine: engine as FleetEngine,
    executors,
    workers: settings.workers,
    shown: place.shown,
    isPrivate: place.isPrivate,
    resume: resumeOf(job),
    batch: job.id,
    decided: () => decided.count,
    left: () => job.runs.total - decided.count,
  });
}

function submitSettings({ config, settings, runs }: Job, workers: number): SubmitSettings {
  return {
    fleet: config.fleet,
    packing: settings.packing,
    expected: runs.total,
    workers,
    deadlineMs: config.evaluation.deadline,
    checkAfterMs: config.sweeper.check_after,
    window: config.fairness.window,
    actor: settings.actor,
  };
}

async function judged(job: Job, open: Open, reports: BatchReports, hold: BatchHold): Promise<BatchRecord> {
  const { engine, session, decided, progress } = open;
  const retention = job.settings.retentionMs ?? job.config.evaluation.retention;
  const { weight } = job.settings;
  const now = engine.clock.now();
  const opening = openingOf(job.id, now, job.options, job.loaded, retention, weight);
  const stop = new AbortController();
  const signal = AbortSignal.any([job.signal, stop.signal]);
  const running = runBatch(
    engine,
    submitSettings(job, open.workers),
    opening,
    blobsOf(job.loaded),
    inTurns(job.runs.submissions()),
    signal,
    {
      async onDecided(entry) {
        decided.count += entry.positions.length;
        progress.advance(entry.positions.length);
        await reports.add(entry);
      },
      onRead(cursor) {
        if (!reports.needWhole) hold.passed(cursor);
      },
    },
  );
  running.catch(() => {});
  const late = new Promise<never>((_, reject) => {
    job.signal.addEventListener('abort', () => {
      void delay(STOP_MS, undefined, { ref: false }).then(() => reject(interrupted(job, open)));
    });
  });
  try {
    const batch = await Promise.race([running, late, ...(session === undefined ? [] : [session.lost])]);
    if (job.signal.aborted && batch.state === 'open') throw interrupted(job, open);
    return batch;
  } finally {
    stop.abort();
  }
}

function interrupted(job: Job, { decided, engine }: Open): SluiceError {
  const counts = `Interrupted: ${decided.count} of ${job.runs.total} evaluations are decided.`;
  return new SluiceError('INTERRUPTED', `${counts} ${restOf(engine.store.durable, resumeOf(job))}`);
}

async function judgeOn(
  job: Job,
  engine: Engine,
  place: RedisPlace | undefined,
  reports: BatchReports,
  outage: OutageSentences,
): Promise<number> {
  const decided = { count: 0 };
  const sinks = await BatchSinks.open(engine, job.settings.sinks, job.id, {
    configured: job.settings.workers !== 0,
  });
  let session: FleetSession | undefined;
  let progress: Progress | undefined;
  let hold: BatchHold | undefined;
  let keepReaders = true;
  try {
    const standing = await engine.store.batches.batch(job.id);
    const already = tellStanding(job, standing);
    progress = openProgress(job.runs.total, already, job.raw.json === true);
    outage.progress = progress;
    const roles = await openRoles(job, engine, place, standing, decided);
    session = roles.session;
    reports.begin(engine.store);
    hold = await BatchHold.take(engine.store, engine.clock, job.id, ulid());
    const open = { engine, place, sinks, session, workers: roles.workers, progress, decided };
    const batch = batchDocument(await judged(job, open, reports, hold), engine.kind);
    progress.stop();
    const stopped = session?.stop();
    const undelivered = await sinks.settle(job.signal);
    keepReaders = undelivered.length > 0;
    job.ending.print();
    const failures = await reports.finish(batch);
    await stopped;
    const verdict = verdictOf(batch);
    if (tellTrouble(failures, undelivered, resumeOf(job))) return 3;
    if (verdict === 0 || job.raw.exitZero !== true) return verdict;
    say('sluice: something failed or errored; the exit code is 0 because of --exit-zero');
    return 0;
  } catch (error) {
    keepReaders = !(error instanceof SluiceError) || error.exitCode === 3;
    throw error;
  } finally {
    progress?.stop();
    await hold?.end();
    await session?.stop();
    await sinks.close(!keepReaders);
  }
}

/** Rejects when the private Redis has ended: without its guard it does not come back by itself. */
async function whenLost(job: Job, place: RedisPlace, outage: OutageSentences): Promise<never> {
  await (place.lost ?? new Promise<never>(() => {}));
  outage.progress?.stop();
  await endWorkersAtOnce();
  throw new SluiceError(
    'REDIS_UNREACHABLE',
    `The private Redis of this folder has ended. Its data are kept; finish the batch with: ${resumeOf(job)}`,
  );
}

/** Where the summary goes: not among the events of a sink that writes to standard output. */
function summaryOf({ settings, config }: Job): NodeJS.WriteStream {
  const configured = settings.workers === 0 ? [] : sinksOfSettings(config.sinks);
  return [...settings.sinks, ...configured].some(isOfStdout) ? process.stderr : process.stdout;
}

/** Judges a checked batch and prints it; answers with the exit code. Throws for what is 2 or 3. */
export async function judge(job: Job): Promise<number> {
  const reports = await BatchReports.open(job.settings.reports, job.raw.json === true, summaryOf(job));
  let place: RedisPlace | undefined;
  let engine: Engine | undefined;
  let closeMs = STOP_MS;
  try {
    const { logLevel } = job.settings;
    const log = job.raw.logLevel === undefined ? createSentences(logLevel) : await createLog(logLevel);
    const outage = new OutageSentences(log);
    place = await choosePlace(job);
    engine =
      place === undefined
        ? openInline(job.config, log)
        : await openFleet(
            job.config,
            place.url,
            log,
            outage,
            await observingOf(job.config, 'evaluate', false),
          );
    job.ending.begin(
      engine.store.durable,
      resumeOf(job),
      place === undefined ? STOP_MS : job.config.worker.drain,
    );
    const judging = judgeOn(job, engine, place, reports, outage);
    return await (place === undefined ? judging : Promise.race([judging, whenLost(job, place, outage)]));
  } catch (error) {
    await reports.abort();
    const trouble = redisTrouble(error, engine?.store.durable ? resumeOf(job) : undefined);
    if ((trouble ?? (error as SluiceError)).code === 'REDIS_UNREACHABLE') closeMs = AWAY_MS;
    throw trouble ?? error;
  } finally {
    const closing = Promise.allSettled([engine?.close(), place?.release()]);
    await Promise.race([closing, delay(closeMs, undefined, { ref: false })]);
  }
}
