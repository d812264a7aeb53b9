import { type OpenedRunners, openFleet, openRunners } from '../../src/compose.js';
import type { ToolRunner } from '../../src/ports/runner.js';
import { startExecutor } from '../../workers/executor.js';
import { configOf, type FleetPlace, log } from '../harness/fleet.js';
import { runChild } from '../harness/in-child.js';
import type { ExecutorOrders } from '../harness/waiting-checks.js';

/** A service elsewhere: each call takes its time and nothing of this machine's. */
class Elsewhere implements ToolRunner {
  readonly #ms: number;

  constructor(ms: number) {
    this.#ms = ms;
  }

  async run(): ReturnType<ToolRunner['run']> {
    await new Promise((resolve) => setTimeout(resolve, this.#ms));
    return { outcome: { kind: 'value', value: { passed: true } }, readOnly: 'declared' };
  }

  async close(): Promise<void> {}
}

function withElsewhere(opened: OpenedRunners, ms: number): OpenedRunners {
  const runners = { ...opened.tools.runners, mcp: new Elsewhere(ms) };
  return { ...opened, tools: { ...opened.tools, runners } };
}

await runChild<FleetPlace & ExecutorOrders>(async ({ url, settings, callMs }) => {
  const engine = await openFleet(configOf(settings), url, log);
  const runners = callMs === undefined ? undefined : withElsewhere(await openRunners(engine.config), callMs);
  const role = await startExecutor(engine, runners);
  return {
    answer: () => process.cpuUsage(),
    async stop() {
      await role.stop();
      await engine.close();
    },
  };
});
