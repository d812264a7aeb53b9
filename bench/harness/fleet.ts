import { pino } from 'pino';
import { type Config, configSchema } from '../../config/schema.js';
import { type FleetEngine, openFleet } from '../../src/compose.js';
import { startAggregator } from '../../workers/aggregator.js';
import { EXECUTOR_FLAGS } from '../../workers/executor.js';
import type { Child } from './child-process.js';
import type { Place } from './place.js';

export const log = pino({ level: 'error' }, pino.destination(2));

/** What a process of a fleet is told: where, and settings that are not defaults. */
export interface FleetPlace {
  url: string;
  settings: Record<string, unknown>;
}

export const configOf = (settings: Record<string, unknown>): Config => configSchema.parse(settings);

/** A fleet of the bench: the producer is this process. */
export interface BenchFleet {
  place: FleetPlace;
  engine: FleetEngine;
  executors: Child[];
  /** Its own process; undefined: the aggregator is in this one. */
  aggregator: Child | undefined;
  stop(): Promise<void>;
}

export interface FleetOptions {
  /** Settings besides the fleet's name. */
  settings?: Record<string, unknown>;
  /** Executor processes. */
  executors?: number;
  /** Where the aggregator runs: beside the producer, as under `sluice evaluate`, or in a process of its own. */
  aggregator?: 'here' | 'apart' | 'none';
}

export const startExecutors = (place: Place, told: FleetPlace, count: number): Promise<Child[]> =>
  Promise.all(Array.from({ length: count }, () => place.child('executor', told, { flags: EXECUTOR_FLAGS })));

/** Starts a fleet on a Redis, by default with one executor process. */
export async function startFleet(
  place: Place,
  url: string,
  name: string,
  { settings = {}, executors = 1, aggregator: where = 'here' }: FleetOptions = {},
): Promise<BenchFleet> {
  const told = { url, settings: { ...settings, fleet: name } };
  const engine = await openFleet(configOf(told.settings), url, log);
  const here = where === 'here' ? await startAggregator(engine) : undefined;
  const aggregator = where === 'apart' ? await place.child('aggregator', told) : undefined;
  const children = await startExecutors(place, told, executors);
  let stopped = false;
  const stop = async () => {
    if (stopped) return;
    stopped = true;
    await Promise.all(children.map((child) => child.stop()));
    await Promise.all([here?.stop(), aggregator?.stop()]);
    await engine.close();
  };
  place.later(stop);
  return { place: told, engine, executors: children, aggregator, stop };
}
