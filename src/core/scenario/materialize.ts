import { idFrom } from '../digest.js';
import type { Chunk, ManifestEntry } from '../manifest.js';
import type { CheckResult, RuleResult } from '../result.js';
import { missingResult } from '../settle.js';
import { type Scenario, validationName } from './model.js';

interface Names {
  validation: string;
  attachment_id: string;
}

const known = new WeakMap<Scenario, Names[]>();

/** Names of a scenario's validations and attachments by position: hashes, so they are made once. */
function namesOf(scenario: Scenario): Names[] {
  let names = known.get(scenario);
  if (names === undefined) {
    names = scenario.rules.map((rule) => ({
      validation: validationName(scenario, rule),
      attachment_id: idFrom('attachment', scenario.digest, rule.scope, String(rule.index)),
    }));
    known.set(scenario, names);
  }
  return names;
}

/** Settled results of one evaluation as users see them (DESIGN 3.5), in rule order. */
export function materialize(
  scenario: Scenario,
  _entry: Pick<ManifestEntry, 'id'>,
  chunk: Pick<Chunk, 'attempt'>,
  results: readonly CheckResult[],
): RuleResult[] {
  const names = namesOf(scenario);
  return scenario.rules.map((rule, position) => {
    const result = results[position] ?? missingResult();
    const { validation, attachment_id } = names[position] as Names;
    const { scope, index, label, validator, required, negate } = rule;
    return {
      validation,
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
      attachment_id,
      attachment_resource: `scenario/${scenario.key}`,
      attachment_scope: 'direct',
      attachment_scope_target: null,
      rule: { scope, index, label, validator, required, negate },
    };
  });
}
