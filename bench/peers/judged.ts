import { Faults } from '../harness/exact.js';
import { CHECKS, expectedOf, type Run } from '../harness/workload.js';

/** What a peer says of one run. */
export interface JudgedRun {
  run: string;
  /** Checks that have a verdict. */
  checks: number;
  passed: number;
}

/** A peer must judge as Sluice does, every run once with as many passes: else it did something else. */
export function judgedFaults(peer: string, judged: readonly JudgedRun[], runs: readonly Run[]): string[] {
  const faults = new Faults();
  const byRun = new Map(judged.map((each) => [each.run, each]));
  if (judged.length !== runs.length || byRun.size !== runs.length)
    faults.add(`${peer} judged ${byRun.size} of ${runs.length} runs, in ${judged.length} results`);
  for (const { id, text } of runs) {
    const found = byRun.get(id);
    const { score } = expectedOf(text);
    if (found === undefined) faults.add(`${peer} says nothing of ${id}`);
    else if (found.checks !== CHECKS || found.passed !== score)
      faults.add(`${peer}: ${id} has ${found.passed} passes of ${found.checks}, not ${score} of ${CHECKS}`);
  }
  return faults.list();
}
