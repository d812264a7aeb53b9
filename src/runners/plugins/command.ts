import { hostSource } from './host-source.js';
import type { Located } from './locate.js';
import { type HostSettings, MOST_RESULT_BYTES } from './protocol.js';

/** MiB of objects in a child; what is more ends it. */
const HEAP_MB = 256;
const MOST_MESSAGE = 2_000;
const MOST_RAW = 32 * 1024;

const known = process.allowedNodeEnvironmentFlags;

/** Node's permission model: nothing but what is allowed here, and no processes, threads, addons or writing. */
function permissions({ readable }: Located, network: boolean): string[] {
  return [
    known.has('--permission') ? '--permission' : '--experimental-permission',
    ...readable.flatMap((path) => [`--allow-fs-read=${path}`]),
    // Newer lines of Node keep the network to themselves as well.
    ...(network && known.has('--allow-net') ? ['--allow-net'] : []),
  ];
}

/** Program and arguments of a child. */
export function commandFor(located: Located, network: boolean): [string, ...string[]] {
  const { base, specifier } = located;
  const settings: HostSettings = {
    base,
    specifier,
    mostBytes: MOST_RESULT_BYTES,
    mostMessage: MOST_MESSAGE,
    mostRaw: MOST_RAW,
  };
  return [
    process.execPath,
    ...permissions(located, network),
    `--max-old-space-size=${HEAP_MB}`,
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '--eval',
    hostSource(),
    '--',
    JSON.stringify(settings),
  ];
}
