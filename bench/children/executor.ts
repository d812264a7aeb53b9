import { openFleet } from '../../src/compose.js';
import { startExecutor } from '../../workers/executor.js';
import { configOf, type FleetPlace, log } from '../harness/fleet.js';
import { runChild } from '../harness/in-child.js';

await runChild<FleetPlace>(async ({ url, settings }) => {
  const engine = await openFleet(configOf(settings), url, log);
  const role = await startExecutor(engine);
  return {
    answer: () => process.cpuUsage(),
    async stop() {
      await role.stop();
      await engine.close();
    },
  };
});
