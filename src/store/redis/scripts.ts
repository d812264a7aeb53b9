import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

const NAMES = [
  'accept',
  'commit',
  'record',
  'record-packs',
  'raise',
  'open-batch',
  'seal-batch',
  'complete-batch',
  'progress-batch',
  'announce',
  'drop-chunk',
  'drop-batch',
  'nth-event',
  'change-registry',
  'read-registry',
  'hold-registry',
  'mark-shards',
  'set-shards',
  'step-plan',
  'beat',
  'note-unserved',
  'list-unserved',
  'add-token',
  'take-limits',
  'release-limits',
  'claim-in-order',
  'end-lead',
  'put-letter',
  'find-letters',
  'remove-letters',
  'note-sink',
] as const;

/** Name of a script in `src/store/lua`. */
export type ScriptName = (typeof NAMES)[number];

type Arg = string | number;
export type Script = (prefix: string, ...args: Arg[]) => Promise<unknown>;
export type Scripts = Record<ScriptName, Script>;

const commandName = (name: ScriptName): string => `sluice_${name.replaceAll('-', '_')}`;

/** Those that keep texts, or let go of them: what they call stands in front of them. */
const WITH_BLOBS: ReadonlySet<ScriptName> = new Set([
  'accept',
  'commit',
  'open-batch',
  'step-plan',
  'drop-chunk',
  'drop-batch',
]);

const textOf = (name: string): string => readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8');

/** Makes the scripts known to a client; each takes the key prefix as its only key. */
export function defineScripts(client: Redis): Scripts {
  const scripts = {} as Scripts;
  for (const name of NAMES) {
    const lua = WITH_BLOBS.has(name) ? `${textOf('blobs')}${textOf(name)}` : textOf(name);
    client.defineCommand(commandName(name), { numberOfKeys: 1, lua });
    const command = (client as unknown as Record<string, Script>)[commandName(name)];
    if (command === undefined) throw new Error(`script ${name} is not defined`);
    scripts[name] = command.bind(client);
  }
  return scripts;
}
