import type { Config } from '../../config/schema.js';
import { sourceProblems, startSources } from '../../workers/intake.js';
import type { FleetEngine } from '../compose.js';
import { type SourceSetting, sourceObjectOf } from '../core/endpoints.js';
import type { ProblemList } from './options.js';

/** Sources of the settings and of `--source`; what is wrong with one goes to `problems`. */
export function sourcesOf(
  settings: Config | undefined,
  given: readonly string[] | undefined,
  problems: ProblemList,
): SourceSetting[] {
  const named = (given ?? []).map(sourceObjectOf);
  const set = settings?.sources ?? [];
  problems.add(...sourceProblems(set, 'sources'), ...sourceProblems(named, '--source'));
  return [...set, ...named];
}

/** Starts them; stopped, they let go of what is not taken within the drain time of HTTP. */
export async function startSourcesOf(
  engine: FleetEngine,
  sources: readonly SourceSetting[],
): Promise<{ stop(): Promise<void> }> {
  const running = await startSources(engine, sources);
  return { stop: () => running.drain(engine.config.http.drain) };
}
