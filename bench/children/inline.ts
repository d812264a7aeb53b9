import { openInline } from '../../src/compose.js';
import { judge } from '../harness/batch.js';
import { configOf, log } from '../harness/fleet.js';
import { runChild } from '../harness/in-child.js';
import { makeWorkload } from '../harness/workload.js';

await runChild<{ runs: number; warm: number }>(async ({ runs, warm }) => {
  const workload = makeWorkload(runs);
  const engine = openInline(configOf({}), log);
  return {
    async answer() {
      await judge(engine, workload, Math.min(warm, runs), 'warm');
      return judge(engine, workload, runs, 'judged');
    },
    stop: () => engine.close(),
  };
});
