import type { Submission } from '../../src/app/submit.js';
import { openFleet } from '../../src/compose.js';
import { type BatchOptions, timeBatch } from '../harness/batch.js';
import { configOf, type FleetPlace, log } from '../harness/fleet.js';
import { runChild } from '../harness/in-child.js';
import { runOf, tenRules } from '../harness/workload.js';

/** A batch that a producer is to submit: so many runs with so many bytes of text. */
export interface BatchOrder extends BatchOptions {
  id: string;
  runs: number;
  bytes: number;
}

/** Submits batches whose runs are made one by one, as they would be read from a file. */
await runChild<FleetPlace>(async ({ url, settings }) => {
  const engine = await openFleet(configOf(settings), url, log);
  const ten = tenRules();
  function* submissions(count: number, bytes: number): Iterable<Submission> {
    for (let index = 0; index < count; index++) {
      const { id, subject } = runOf(index, bytes);
      yield { index, run: id, case: id, scenario: ten.scenario, subject };
    }
  }
  return {
    answer(order) {
      const { id, runs, bytes, ...options } = order as BatchOrder;
      return timeBatch(engine, ten, id, runs, submissions(runs, bytes), options);
    },
    stop: () => engine.close(),
  };
});
