import { type Endpoint, readEndpoint } from '../queues/endpoints.js';
import { readSecret } from '../queues/secrets.js';
import { builtInSources } from '../queues/sources/built-in.js';
import { intakeOf } from '../src/compose/intake.js';
import { errorLogger, type FleetEngine } from '../src/compose.js';
import type { SourceSetting } from '../src/core/endpoints.js';
import { type Problem, SluiceError, show } from '../src/core/problem.js';
import type { Source, SourceKind } from '../src/ports/source.js';
import { named } from './lifecycle.js';

/** About two seconds, in which another server takes what a command needs before it. */
const REFUSED_TRIES = 4;

/** Sources that are open. */
export interface OpenSources {
  /** Takes nothing new, finishes what is in hand until the deadline (milliseconds), and lets go of the rest. */
  drain(deadlineMs: number): Promise<void>;
}

/** What a setting is called in problems: an option as it is, a list of the settings with the position. */
const placeOf = (path: string, n: number) => (path.startsWith('--') ? path : `${path}[${n}]`);

interface Read {
  endpoints: { setting: SourceSetting; endpoint: Endpoint<SourceKind> }[];
  problems: Problem[];
}

function readAll(settings: readonly SourceSetting[], path: string, kinds: readonly SourceKind[]): Read {
  const found: Read = { endpoints: [], problems: [] };
  const names = new Set<string>();
  for (const [n, setting] of settings.entries()) {
    const at = placeOf(path, n);
    const read = readEndpoint(kinds, setting, at);
    if (!('endpoint' in read)) {
      found.problems.push(...read.problems);
      continue;
    }
    const { name } = read.endpoint;
    if (names.has(name)) {
      const message = 'has the name of another source; give each a name of its own';
      found.problems.push({ path: at, message, found: show(name) });
    } else found.endpoints.push({ setting, endpoint: read.endpoint });
    names.add(name);
  }
  return found;
}

/** Everything that is wrong with sources, found without opening one; `path`: `--source`, or `sources`. */
export function sourceProblems(
  settings: readonly SourceSetting[],
  path: string,
  kinds: readonly SourceKind[] = builtInSources,
): Problem[] {
  return readAll(settings, path, kinds).problems;
}

/**
 * Opens sources: what they bring is taken by this fleet until they are drained. A bus that is away is tried
 * until it is there. Throws USAGE with every problem, or what a source says that can never be used.
 */
export async function startSources(
  engine: FleetEngine,
  settings: readonly SourceSetting[],
  kinds: readonly SourceKind[] = builtInSources,
): Promise<OpenSources> {
  const { endpoints, problems } = readAll(settings, 'sources', kinds);
  if (problems.length > 0) throw new SluiceError('USAGE', 'The sources cannot be used.', problems);
  const { config, redisUrl, log } = engine;
  const intake = intakeOf(engine, undefined, { refusedTries: REFUSED_TRIES });
  const open: Source[] = [];
  const drain = async (deadlineMs: number) => {
    await Promise.all(open.map((source) => source.close(deadlineMs)));
  };
  try {
    for (const { setting, endpoint } of endpoints) {
      const { name, kind, target, options } = endpoint;
      const identity = {
        name,
        actor: setting.actor ?? `source:${name}`,
        trustActor: setting.trust_actor,
      };
      const context = {
        name,
        fleet: config.fleet,
        redisUrl,
        concurrency: setting.concurrency,
        secret: readSecret,
        onError: errorLogger(log.child({ source: name })),
      };
      const opening = kind.open(target, options, context, (message) => intake.handle(message, identity));
      open.push(await named(`source ${name}`, opening));
      log.info({ source: name, kind: kind.kind }, 'source is open');
    }
  } catch (error) {
    await drain(0);
    throw error;
  }
  return { drain };
}
