import type { Config } from '../../config/schema.js';
import { Executor } from '../app/execute.js';
import { PlanExecutor } from '../app/plan/execute.js';
import { Activations } from '../app/tools/activations.js';
import { ToolCaller } from '../app/tools.js';
import type { Store } from '../ports/store.js';
import { LocalAnsibleRunner } from '../runners/ansible.js';
import { CoalescingMatcher } from '../runners/coalescing-matcher.js';
import { createMatcher } from '../runners/pattern-matcher.js';
import { QuickJsInterpreter } from '../runners/quickjs.js';
import type { Engine } from './engine.js';

const ANSIBLE_GRACE_MS = 2000;

/** Code and transforms of this process; it costs nothing until it is first used. */
export const interpreter = new QuickJsInterpreter();

const matcherOf = ({ patterns }: Config) =>
  new CoalescingMatcher(createMatcher({ deadlineMs: patterns.deadline }));

/** Calls tools in this process. */
export function toolCallerOf({ config }: Pick<Engine, 'config'>): ToolCaller {
  const { platform, arch, version } = process;
  const host = { serves: [], platform, arch, node: version };
  return new ToolCaller({
    interpreter,
    matcher: matcherOf(config),
    tools: { runners: {}, missing: {} },
    activations: new Activations({ interpreter, host }),
  });
}

/** Runs packs of checks, of runs and of plans. */
export function createExecutor(store: Store, config: Config, worker: string): Executor {
  const { ansible } = config;
  const common = {
    store: store.evaluations,
    worker,
    poisonousAfter: config.worker.poisonous_after,
  };
  return new Executor({
    ...common,
    matcher: matcherOf(config),
    ansible: new LocalAnsibleRunner({
      deadlineMs: ansible.deadline,
      graceMs: ANSIBLE_GRACE_MS,
      outputCap: ansible.output_cap,
    }),
    plans: new PlanExecutor({ ...common, tools: toolCallerOf({ config }) }),
  });
}
