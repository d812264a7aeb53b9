import { openFleet } from '../../src/compose.js';
import { startAggregator } from '../../workers/aggregator.js';
import { startSweeper } from '../../workers/sweeper.js';
import { configOf, type FleetPlace, log } from '../harness/fleet.js';
import { runChild } from '../harness/in-child.js';

/** `sweeps`: it is a sweeper too. */
await runChild<FleetPlace & { sweeps?: boolean }>(async ({ url, settings, sweeps }) => {
  const engine = await openFleet(configOf(settings), url, log);
  const roles = [await startAggregator(engine), ...(sweeps === true ? [await startSweeper(engine)] : [])];
  return {
    answer: () => process.cpuUsage(),
    async stop() {
      for (const role of roles) await role.stop();
      await engine.close();
    },
  };
});
