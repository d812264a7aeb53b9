import { parseArgs } from 'node:util';
import { nearestName } from '../../src/core/problem.js';
import type { Size } from './place.js';

export type Options =
  | { kind: 'run'; size: Size; rows: string[] }
  | { kind: 'compare'; files: string[] }
  | { kind: 'list' | 'help' | 'install-peers' };

/** Something is wrong with the arguments; the message has every problem. */
export class UsageError extends Error {}

/** Names that stand for several rows. */
const GROUPS: Record<string, readonly string[]> = { checks: ['batch', 'packing-off'] };

export const USAGE = `npm run bench -- [--quick | --tiny] [--only NAME[,NAME...]]
npm run bench -- --list | --install-peers
npm run bench -- compare [A.json [B.json]]

  --quick          small sizes, mostly one round: about 5 minutes
  --tiny           smallest sizes: does every row work? Figures mean nothing, and bars are not judged
  --only NAMES     these rows alone
  --list           name the rows and their bars
  --install-peers  fetch the peers that npm and apt-get have, into bench/.peers and the system
  compare          two results side by side: those named, or A and the newest, or the two newest

Example: npm run bench -- --quick --only batch,latency`;

/** Reads what follows \`npm run bench --\`. Throws UsageError. */
export function readOptions(args: readonly string[], names: readonly string[]): Options {
  const { values, positionals } = parsed(args);
  if (values.help) return { kind: 'help' };
  const [verb, ...files] = positionals;
  if (verb === 'compare') {
    if (files.length > 2) throw new UsageError('compare takes two files at most.');
    return { kind: 'compare', files };
  }
  if (verb !== undefined) throw new UsageError(`There is no "${verb}" here; see --help.`);
  if (values.list) return { kind: 'list' };
  if (values['install-peers']) return { kind: 'install-peers' };
  if (values.quick && values.tiny) throw new UsageError('Give --quick or --tiny, not both.');
  const size = values.quick ? 'quick' : values.tiny ? 'tiny' : 'full';
  return { kind: 'run', size, rows: chosen(values.only, names) };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        quick: { type: 'boolean', default: false },
        tiny: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        'install-peers': { type: 'boolean', default: false },
        only: { type: 'string', multiple: true },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}; see --help.`);
  }
}

function chosen(only: readonly string[] | undefined, names: readonly string[]): string[] {
  if (only === undefined) return [...names];
  const given = only.flatMap((list) => list.split(',')).map((name) => name.trim());
  const wanted = given.filter((name) => name !== '').flatMap((name) => GROUPS[name] ?? [name]);
  const known = [...names, ...Object.keys(GROUPS)];
  const problems = wanted
    .filter((name) => !names.includes(name))
    .map((name) => {
      const nearest = nearestName(name, known);
      return `There is no row "${name}"${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
    });
  if (wanted.length === 0) problems.push('--only names no row.');
  if (problems.length > 0) throw new UsageError([...problems, `Rows: ${known.join(', ')}.`].join('\n'));
  return names.filter((name) => wanted.includes(name));
}
