import type { Config } from '../../config/schema.js';
import { Executor } from '../app/execute.js';
import { Limiter } from '../app/limits.js';
import { PlanExecutor } from '../app/plan/execute.js';
import { Activations } from '../app/tools/activations.js';
import { ToolCaller } from '../app/tools.js';
import { servedBy, servesOf } from '../core/routing.js';
import type { Meter } from '../ports/meter.js';
import type { Store } from '../ports/store.js';
import { CoalescingMatcher } from '../runners/coalescing-matcher.js';
import { createMatcher } from '../runners/pattern-matcher.js';
import { QuickJsInterpreter } from '../runners/quickjs.js';
import type { Engine } from './engine.js';
import { type OpenedRunners, openRunners } from './runners.js';

/** Code and transforms of this process; it costs nothing until it is first used. */
export const interpreter = new QuickJsInterpreter();

const matcherOf = ({ patterns }: Config) =>
  new CoalescingMatcher(createMatcher({ deadlineMs: patterns.deadline }));

function callerOf(
  config: Config,
  { tools, serves }: OpenedRunners,
  onError: (error: Error) => void = () => {},
): ToolCaller {
  const { platform, arch, version } = process;
  const host = { serves: servesOf(serves, config.worker.runner_concurrency), platform, arch, node: version };
  const activations = new Activations({ interpreter, host, onError });
  return new ToolCaller({ interpreter, matcher: matcherOf(config), tools, activations });
}

/** Calls tools in this process, with the runners of this host; to be closed. */
export async function toolCallerOf({ config }: Pick<Engine, 'config'>): Promise<ToolCaller> {
  return callerOf(config, await openRunners(config));
}

/** Runs packs of checks, of runs and of plans; `onError` is told of tools that cannot be put away, `meter` of checks. */
export function createExecutor(
  store: Store,
  config: Config,
  worker: string,
  runners: OpenedRunners,
  onError?: (error: Error) => void,
  meter?: Meter,
): Executor {
  const common = {
    store: store.evaluations,
    worker,
    poisonousAfter: config.worker.poisonous_after,
    ...servedBy(runners, config.worker.runner_concurrency),
    unserved: config.worker.unserved,
    meter,
  };
  const tools = callerOf(config, runners, onError);
  return new Executor({
    ...common,
    matcher: matcherOf(config),
    ...(runners.ansible === undefined ? {} : { ansible: runners.ansible }),
    limits: Limiter.of({ store: store.limits, clock: Date, settings: config.limits }),
    plans: new PlanExecutor({ ...common, tools }),
  });
}
