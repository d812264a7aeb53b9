import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { celeryVersion } from './celery.js';
import { postgresPrograms } from './postgres.js';

/** Where peers from npm are kept; git ignores it. */
export const PEERS = fileURLToPath(new URL('../.peers', import.meta.url));

/** Pinned: a peer that changes makes figures that cannot be compared. */
const FROM_NPM = { promptfoo: '0.121.20', 'graphile-worker': '0.17.3' };
/** promptfoo's database, built for this machine: among the optional packages it is the one that is needed. */
const DATABASE = `@libsql/${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
const DATABASE_VERSION = '0.5.29';

export type NpmPeer = keyof typeof FROM_NPM;

/** Where a peer's main module is; undefined: it is not installed. */
export function peerModule(name: NpmPeer): { url: string; version: string } | undefined {
  const require = createRequire(join(PEERS, 'package.json'));
  try {
    const { version } = require(`${PEERS}/node_modules/${name}/package.json`) as { version: string };
    return { url: pathToFileURL(require.resolve(name)).href, version };
  } catch {
    return undefined;
  }
}

/** Whether promptfoo can keep what it judges. */
export const hasDatabase = (): boolean => existsSync(join(PEERS, 'node_modules', DATABASE));

export const howToInstall = '`npm run bench -- --install-peers` fetches it';

async function run(program: string, args: string[], cwd: string): Promise<boolean> {
  const child = spawn(program, args, {
    cwd,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  });
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code === 0;
  } catch {
    return false;
  }
}

async function fromNpm(say: (line: string) => void): Promise<boolean> {
  mkdirSync(PEERS, { recursive: true });
  const dependencies = { ...FROM_NPM, [DATABASE]: DATABASE_VERSION };
  const manifest = { name: 'sluice-bench-peers', private: true, dependencies };
  writeFileSync(join(PEERS, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  say(`npm: ${Object.keys(FROM_NPM).join(', ')}, into bench/.peers (some 260 MB)`);
  // Without the scripts of packages, and without what promptfoo has for services that are not measured.
  const flags = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--no-package-lock'];
  return run('npm', ['install', ...flags], PEERS);
}

async function fromDebian(say: (line: string) => void): Promise<boolean> {
  const missing = [
    ...(celeryVersion() === undefined ? ['celery', 'python3-redis'] : []),
    ...(postgresPrograms() === undefined ? ['postgresql'] : []),
  ];
  if (missing.length === 0) return true;
  const names = missing.join(' ');
  if (!existsSync('/usr/bin/apt-get') || process.getuid?.() !== 0) {
    say(`Celery and PostgreSQL come from the system: as root, apt-get install ${names}`);
    return true;
  }
  say(`apt-get: ${names}`);
  return run('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...missing], '/');
}

/** Fetches the peers; false when one of them could not be had. Rows of peers that are missing are not run. */
export async function installPeers(say: (line: string) => void): Promise<boolean> {
  const [npm, debian] = [await fromNpm(say), await fromDebian(say)];
  if (!npm) say('npm could not install its peers.');
  if (!debian) say('apt-get could not install its peers.');
  return npm && debian;
}
