import { Writable } from 'node:stream';
import type { BatchDocument, EvaluationDocument, IndexedEvaluation } from '../../../src/core/document.js';
import type { RuleResult } from '../../../src/core/result.js';
import type { Report, ReportFactory } from '../../../src/reports/report.js';

export const batch: BatchDocument = {
  id: 'B1',
  total: 2,
  passed: 1,
  failed: 1,
  errored: 0,
  vacuous_passes: 1,
  duration_ms: 1500,
  engine: 'inline',
};

export function result(outcome: RuleResult['outcome'], more: Partial<RuleResult> = {}): RuleResult {
  return {
    validation: 'scenario/r0-tasks-0',
    mode: 'required',
    outcome,
    passed: outcome === 'pass',
    message: `message of ${outcome}`,
    data: {},
    duration_ms: 250,
    attempt: 1,
    tries: 1,
    worker: 'w',
    read_only: 'enforced',
    attachment_id: 'A',
    attachment_resource: 'r',
    attachment_scope: 'direct',
    attachment_scope_target: null,
    rule: {
      scope: 'tasks',
      index: 0,
      label: 'Uses find',
      validator: 'pattern_match',
      required: true,
      negate: false,
    },
    ...more,
  };
}

export function advisory(outcome: 'fail' | 'error', index = 1): RuleResult {
  const { rule } = result(outcome);
  return result(outcome, {
    mode: 'informational',
    rule: { ...rule, index, label: 'Is quick', required: false },
  });
}

export function evaluation(run: string, more: Partial<EvaluationDocument> = {}): EvaluationDocument {
  const passed = more.passed ?? true;
  return {
    id: `E-${run}`,
    run,
    case: run,
    scenario: 'nginx',
    scenario_digest: 'd',
    subject_digest: 's',
    passed,
    score: { passed: passed ? 1 : 0, total: 1, percent: passed ? 100 : 0 },
    gates: {
      compliance: { passed, reason: passed ? 'all required rules passed' : '1 required rule failed' },
      resolution: { passed, reason: passed ? 'score is enough' : 'compliance gate failed' },
    },
    results: [result(passed ? 'pass' : 'fail')],
    ...more,
  };
}

export async function* stream<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

/** Collects what is written, slowly enough that backpressure shows. */
export class Collector extends Writable {
  text = '';
  constructor() {
    super({ highWaterMark: 64, decodeStrings: false });
  }
  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.text += chunk;
    setImmediate(done);
  }
}

export const plain = { colour: false, width: 100 };

export async function render(
  factory: ReportFactory,
  evaluations: readonly EvaluationDocument[],
  options = plain,
): Promise<string> {
  const report: Report = factory(options);
  const out = new Collector();
  if (report.order === 'input') await report.write(batch, stream(evaluations), out);
  else {
    const indexed = evaluations.map((one, index): IndexedEvaluation => ({ ...one, index }));
    await report.write(stream(indexed), out);
  }
  return out.text;
}
