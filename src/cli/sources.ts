import type { Config } from '../../config/schema.js';
import { sourceProblems, startSources } from '../../workers/intake.js';
import type { FleetEngine } from '../compose.js';
import { type SourceSetting, sourceObjectOf } from '../core/endpoints.js';
import type { ProblemList } from './options.js';

/** Sources of the settings and of `--source`; what is wrong with one goes to `problems`. */
export async function sourcesOf(
  settings: Config | undefined,
  given: readonly string[] | undefined,
  problems: ProblemList,
): Promise<SourceSetting[]> {
  const named = (given ?? []).map(sourceObjectOf);
  for (const each of named) problems.add(...(await sourceProblems([each], '--source')));
  const set = settings?.sources ?? [];
  problems.add(...(await sourceProblems(set, 'sources')));
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
