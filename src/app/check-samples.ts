import type { Chunk } from '../core/manifest.js';
import type { PlanCheck } from '../core/plan/model.js';
import type { ResolvedTool } from '../core/registry/model.js';
import { runnerKindOf } from '../core/registry/needs.js';
import type { CheckResult } from '../core/result.js';
import { planChecks } from '../core/scenario/checks.js';
import type { Scenario } from '../core/scenario/model.js';
import { builtInValidators } from '../core/validators/built-in.js';
import type { CheckKind, CheckSample } from '../ports/meter.js';

/** Results of one evaluation of a run, from its first check on. */
interface RunShare {
  position: number;
  firstCheck: number;
  results: readonly (CheckResult | undefined)[];
}

/** What a pack of runs is counted as. */
export function samplesOfRuns(
  shares: readonly RunShare[],
  chunk: Chunk,
  scenarios: ReadonlyMap<string, Scenario>,
): CheckSample[] {
  const samples: CheckSample[] = [];
  for (const { position, firstCheck, results } of shares) {
    const scenario = scenarios.get(chunk.evaluations[position]?.scenario ?? '');
    if (scenario === undefined) continue;
    const checks = planChecks(scenario, chunk.options);
    results.forEach((result, n) => {
      const check = checks[firstCheck + n];
      if (result === undefined || check === undefined) return;
      const kind = check.runner === 'ansible' ? 'ansible' : 'pure';
      samples.push({
        validator: check.validator.name,
        kind,
        outcome: result.outcome,
        ms: result.duration_ms,
      });
    });
  }
  return samples;
}

/** What performs a tool, and what it is counted under: names that people chose are no labels. */
function kindOf(tool: ResolvedTool | undefined): { validator: string; kind: CheckKind } {
  const innermost = tool?.chain.at(-1);
  if (innermost === undefined) return { validator: 'other', kind: 'pure' };
  const runner = runnerKindOf(innermost);
  const { source, validator } = innermost;
  if (source !== 'builtin')
    return { validator: source, kind: runner ?? (source === 'graph' ? 'graph' : 'code') };
  const name = validator !== undefined && builtInValidators.has(validator) ? validator : 'plugin';
  return { validator: name, kind: runner ?? 'pure' };
}

/** What a pack of a plan is counted as. */
export function samplesOfPlan(
  checks: readonly PlanCheck[],
  results: readonly (CheckResult | undefined)[],
  tools: ReadonlyMap<string, ResolvedTool>,
): CheckSample[] {
  return results.flatMap((result, n): CheckSample[] => {
    const check = checks[n];
    if (result === undefined || check === undefined) return [];
    return [{ ...kindOf(tools.get(check.version)), outcome: result.outcome, ms: result.duration_ms }];
  });
}
