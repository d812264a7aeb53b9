import type { EvaluationOptions } from '../../core/manifest.js';
import { planChecks } from '../../core/scenario/checks.js';
import type { LoadedScenario } from '../../inputs/scenario-files.js';
import type { CheckedRuns } from './checked-runs.js';

/** What `--dry-run` answers. */
export interface DryRun {
  dry_run: true;
  runs: number;
  skipped: number;
  checks: number;
  scenarios: { key: string; digest: string; runs: number; checks: number }[];
}

/** What would be judged; skipped checks are not counted. */
export function dryRun(
  loaded: readonly LoadedScenario[],
  runs: Pick<CheckedRuns, 'total' | 'skipped' | 'byScenario'>,
  options: Pick<EvaluationOptions, 'from'>,
): DryRun {
  const scenarios = loaded.map(({ scenario }) => {
    const count = runs.byScenario.get(scenario.key) ?? 0;
    const checks = planChecks(scenario, options).filter(({ runner }) => runner !== 'skip').length;
    return { key: scenario.key, digest: scenario.digest, runs: count, checks: count * checks };
  });
  const checks = scenarios.reduce((sum, scenario) => sum + scenario.checks, 0);
  return { dry_run: true, runs: runs.total, skipped: runs.skipped, checks, scenarios };
}

export function dryRunText({ runs, skipped, checks, scenarios }: DryRun): string {
  const lines = scenarios.map(({ key, runs, checks }) => `  ${key}: ${runs} runs, ${checks} checks`);
  const passedOver = skipped === 0 ? '' : `; ${skipped} broken records would be passed over`;
  return `${[`Would judge ${runs} runs with ${checks} checks${passedOver}:`, ...lines].join('\n')}\n`;
}
