import { spawnSync } from 'node:child_process';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { configSchema } from '../../config/schema.js';
import { EvaluationReader } from '../../src/app/read.js';
import { runBatch } from '../../src/app/run-batch.js';
import type { Submission } from '../../src/app/submit.js';
import { openInline } from '../../src/compose.js';
import { scenarioJson } from '../../src/core/scenario/load.js';
import { subjectOf } from '../../src/core/subject.js';
import { matchRuns } from '../../src/inputs/match-runs.js';
import { readRuns } from '../../src/inputs/run-files.js';
import { loadScenarios } from '../../src/inputs/scenario-files.js';
import { DIRECT, EXAMPLE_RUNS, EXAMPLE_SCENARIOS, type ExpectedRow } from '../unit/examples-table.js';

const DAY_MS = 86_400_000;
const canPlay = spawnSync('ansible-playbook', ['--version']).status === 0;

/** Six of the runs have a playbook of some two seconds, and the inline engine runs them one by one. */
it.runIf(canPlay)('judges the example batch, its playbooks included, as expected', async () => {
  const loaded = await loadScenarios([EXAMPLE_SCENARIOS]);
  const scenarios = loaded.map(({ scenario }) => scenario);
  const submissions: Submission[] = [];
  for await (const item of matchRuns(readRuns([EXAMPLE_RUNS]), scenarios)) {
    if ('problem' in item) throw new Error(item.problem.message);
    const { run, scenario } = item;
    const index = submissions.length;
    submissions.push({ index, run: run.id, case: run.case ?? run.id, scenario, subject: subjectOf(run) });
  }
  const blobs = loaded.flatMap(({ scenario, bundle }) => [
    { digest: scenario.digest, content: scenarioJson(scenario) },
    ...(bundle === undefined ? [] : [{ digest: bundle.digest, content: bundle.json }]),
  ]);
  const engine = openInline(configSchema.parse({}), pino({ level: 'silent' }));
  const settings = {
    fleet: 'test',
    packing: 'auto',
    workers: 1,
    deadlineMs: DAY_MS,
    checkAfterMs: DAY_MS,
  } as const;
  const opening = {
    id: 'examples',
    createdAt: engine.clock.now(),
    options: { strict: false, from: 'direct', informationalErrors: 'ignore' } as const,
    scenarios: Object.fromEntries(scenarios.map(({ key, digest }) => [key, digest])),
    retentionMs: DAY_MS,
  };
  const batch = await runBatch(engine, settings, opening, blobs, submissions, new AbortController().signal);
  const rows: ExpectedRow[] = [];
  for await (const { run, passed, score, gates, results } of new EvaluationReader(engine.store).inInputOrder(
    batch.id,
  )) {
    const errored = results.some(({ outcome }) => outcome === 'error');
    const missed = results.filter(
      ({ mode, outcome }) => mode === 'informational' && /fail|error/.test(outcome),
    );
    rows.push([
      run,
      passed ? 'passed' : errored ? 'errored' : 'failed',
      `${score.passed}/${score.total}`,
      gates.compliance.passed,
      gates.resolution.passed,
      results.filter(({ data }) => data.vacuous === true).length,
      missed.length,
    ]);
  }
  await engine.close();
  expect(rows).toEqual(DIRECT);
  expect(batch).toMatchObject({ state: 'completed', total: 43, passed: 16, failed: 26, errored: 1 });
});
