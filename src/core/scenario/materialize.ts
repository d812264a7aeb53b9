import { idFrom } from '../digest.js';
import type { Chunk, ManifestEntry } from '../manifest.js';
import type { CheckResult, RuleResult } from '../result.js';
import { missingResult } from '../settle.js';
import { type Scenario, validationName } from './model.js';

/** Settled results of one evaluation as users see them (DESIGN 3.5), in rule order. */
export function materialize(
  scenario: Scenario,
  _entry: Pick<ManifestEntry, 'id'>,
  chunk: Pick<Chunk, 'attempt'>,
  results: readonly CheckResult[],
): RuleResult[] {
  return scenario.rules.map((rule, position) => {
    const result = results[position] ?? missingResult();
    const { scope, index, label, validator, required, negate } = rule;
    return {
      validation: validationName(scenario, rule),
      mode: required ? 'required' : 'informational',
      outcome: result.outcome,
      passed: result.outcome === 'pass',
      message: result.message,
      data: result.data,
      duration_ms: result.duration_ms,
      attempt: chunk.attempt,
      tries: result.tries,
      worker: result.worker,
      read_only: result.read_only,
      attachment_id: idFrom('attachment', scenario.digest, scope, String(index)),
      attachment_resource: `scenario/${scenario.key}`,
      attachment_scope: 'direct',
      attachment_scope_target: null,
      rule: { scope, index, label, validator, required, negate },
    };
  });
}
