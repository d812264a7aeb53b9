import type { Submission } from '../../src/app/submit.js';
import type { BatchOpening } from '../../src/core/batch.js';
import { sha256 } from '../../src/core/digest.js';
import type { OutboxEvent } from '../../src/core/events.js';
import type { Chunk, EvaluationOptions } from '../../src/core/manifest.js';
import type { CheckResult, Outcome } from '../../src/core/result.js';
import { type PackResults, packRows, TextTable } from '../../src/core/results-codec.js';
import { loadScenario, scenarioJson, sealScenario } from '../../src/core/scenario/load.js';
import type { Scenario } from '../../src/core/scenario/model.js';
import { subjectOf } from '../../src/core/subject.js';
import type { Blob, DecisionToCommit } from '../../src/ports/store.js';

export const DIRECT: EvaluationOptions = { strict: false, from: 'direct', informationalErrors: 'ignore' };

export function sealed(key: string, validation: Record<string, unknown>, bundleDigest?: string): Scenario {
  const loaded = loadScenario({
    file: 'scenario.json',
    text: JSON.stringify({ key, validation }),
    defaultKey: key,
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return sealScenario(loaded.scenario, bundleDigest);
}

export const blobOf = (scenario: Scenario): Blob => ({
  digest: scenario.digest,
  content: scenarioJson(scenario),
});

export function openingOf(id: string, scenarios: readonly Scenario[], options = DIRECT): BatchOpening {
  const keys = Object.fromEntries(scenarios.map(({ key, digest }) => [key, digest]));
  return { id, createdAt: 1_700_000_000_000, options, scenarios: keys, retentionMs: 3_600_000 };
}

export function submission(
  index: number,
  scenario: Scenario,
  run: { id: string } & Record<string, unknown>,
): Submission {
  return { index, run: run.id, case: run.id, scenario, subject: subjectOf(run) };
}

export function checkResult(outcome: Outcome, data: Record<string, unknown> = {}): CheckResult {
  return {
    outcome,
    message: `it is ${outcome}`,
    data,
    duration_ms: 1.5,
    tries: 1,
    worker: 'w1',
    read_only: 'enforced',
  };
}

/** What one pack would bring back for one evaluation. */
export function packOf(
  position: number,
  firstCheck: number,
  results: readonly (CheckResult | undefined)[],
): PackResults {
  const table = new TextTable();
  const rows = packRows(table, results);
  return { texts: table.texts, evaluations: [{ position, firstCheck, rows }] };
}

export function event(id: string, type = 'dev.sluice.test.made.v1'): OutboxEvent {
  return { id, type, json: JSON.stringify({ id, type }) };
}

/** A chunk of `n` evaluations of one scenario and one subject. */
export function chunkOf(
  batch: string,
  name: string,
  n: number,
  more: Partial<Chunk> & { scenario?: string; subject?: string } = {},
): Chunk {
  const { scenario = sha256('scenario'), subject = sha256('subject'), ...rest } = more;
  const evaluations = Array.from({ length: n }, (_, i) => ({
    id: `${name}-${i}`,
    index: i,
    run: `${name}-run-${i}`,
    case: `${name}-run-${i}`,
    scenario,
    subject,
  }));
  return {
    id: `${name}-0`,
    batch,
    attempt: 1,
    options: DIRECT,
    deadline: 2_000_000_000_000,
    acceptedAt: 1_700_000_000_000,
    evaluations,
    ...rest,
  };
}

export function decisionOf(
  chunk: Chunk,
  position: number,
  status: DecisionToCommit['status'],
  mark = '',
): DecisionToCommit {
  const evaluation = chunk.evaluations[position]?.id ?? '';
  return {
    position,
    evaluation,
    json: JSON.stringify({ evaluation, status, mark }),
    status,
    vacuousPasses: 0,
    events: [event(`${evaluation}-decided`)],
  };
}
