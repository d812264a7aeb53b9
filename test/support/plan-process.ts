/**
 * One process of a fleet for tests of plans. What it is told comes as JSON in SLUICE_TEST_PLAN: its
 * roles, and the step at which it ends itself by SIGKILL. Says "up" on its IPC channel, then answers
 * the requests that come there.
 */

import { Redis } from 'ioredis';
import { PlanRefusedError } from '../../src/app/plan/service.js';
import { type FleetEngine, openFleet } from '../../src/compose.js';
import { sinkObjectOf } from '../../src/core/endpoints.js';
import { SluiceError } from '../../src/core/problem.js';
import type { PlanStep } from '../../src/ports/plans.js';
import type { Store } from '../../src/ports/store.js';
import { startAggregator } from '../../workers/aggregator.js';
import { openSinkReader, startDispatcher } from '../../workers/dispatcher.js';
import { startExecutor } from '../../workers/executor.js';
import { untilTold } from '../../workers/lifecycle.js';
import { startSweeper } from '../../workers/sweeper.js';
import { configWith, silent } from './fleet.js';
import type { Kill, PlanProcessSettings, PlanReply, PlanWish } from './plan-fleet.js';
import { AGENT, placeOf } from './plan-play.js';

const { settings, url, role, sink, kill } = JSON.parse(
  process.env.SLUICE_TEST_PLAN ?? '{}',
) as PlanProcessSettings;
const config = configWith(settings);
const calls = new Map<string, number>();

/** Ends this process; nothing that was awaited goes on meanwhile. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

const isAt = (call: number, method: string, when: Kill['when']): boolean =>
  kill?.at === method && kill.when === when && kill.nth === call;

/** Results reach Redis, and the step that would use them never does. */
async function stageAlone({ decision }: PlanStep): Promise<void> {
  if (decision?.results == null) throw new Error('this step stages nothing');
  const { stage, json } = decision.results;
  const client = new Redis(url);
  await client.set(`${config.fleet}:{0}:rs:${decision.chunk}:${stage}`, json, 'PX', 60_000);
}

/** The same, but for one of its methods, at which this process may end. */
function mined<T extends object>(target: T): T {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== 'function' || typeof name !== 'string') return value;
      const method = value.bind(object) as (...args: unknown[]) => unknown;
      if (kill?.at !== name) return method;
      return async (...args: unknown[]) => {
        const call = (calls.get(name) ?? 0) + 1;
        calls.set(name, call);
        if (isAt(call, name, 'amid')) await stageAlone(args[0] as PlanStep);
        if (isAt(call, name, 'before') || isAt(call, name, 'amid')) await die();
        const answer = await method(...args);
        if (isAt(call, name, 'after')) await die();
        return answer;
      };
    },
  });
}

function minedEngine(engine: FleetEngine): FleetEngine {
  const store: Store = {
    ...engine.store,
    evaluations: mined(engine.store.evaluations),
    outbox: mined(engine.store.outbox),
    plans: mined(engine.store.plans),
  };
  return { ...engine, store, queue: mined(engine.queue) };
}

async function dispatch(engine: FleetEngine) {
  const { delivery, fleet } = engine.config;
  const reader = await openSinkReader(sinkObjectOf(sink ?? ''), {
    redisUrl: url,
    fleet,
    config: delivery,
    onError: engine.trouble,
  });
  await engine.store.outbox.openReader(reader.name, '');
  return startDispatcher(engine, [{ ...reader, sink: mined(reader.sink) }]);
}

const told = untilTold();
const engine = minedEngine(await openFleet(config, url, silent));
const place = placeOf(engine);

async function answer(wish: PlanWish): Promise<PlanReply> {
  try {
    if ('register' in wish)
      await place.registry.register(
        wish.register.map((value) => ({ kind: 'validation', value })),
        AGENT,
      );
    else if ('attach' in wish) await place.registry.attach(wish.attach, AGENT);
    else {
      const { plan, repeated, row } = await place.plans.run(wish.run);
      return { ok: true, plan, repeated, row };
    }
    return { ok: true };
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const plan = error instanceof PlanRefusedError ? error.plan : undefined;
    const codes = error.problems.map(({ code }) => code ?? '');
    return { ok: false, code: error.code, codes, ...(plan === undefined ? {} : { plan }) };
  }
}

process.on('message', async (message: { n: number; wish: PlanWish }) => {
  const reply = await answer(message.wish);
  process.send?.({ n: message.n, reply });
});
const starters = {
  worker: () => startExecutor(engine),
  aggregator: () => startAggregator(engine),
  sweeper: () => startSweeper(engine),
  dispatcher: () => dispatch(engine),
  server: () => Promise.reject(new Error('no plan is killed by way of a server')),
  autoscaler: () => Promise.reject(new Error('no plan is killed by way of an autoscaler')),
};
const running = role === undefined ? undefined : await starters[role]();
process.send?.('up');
await told;
await running?.stop();
await engine.close();
if (process.connected) process.disconnect();
