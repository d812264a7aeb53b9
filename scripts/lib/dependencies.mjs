import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withLock } from './lock.mjs';
import { ROOT, say } from './paths.mjs';

const LOCK = join(ROOT, 'package-lock.json');
const STAMP = join(ROOT, 'node_modules', '.cache', 'sluice', 'dependencies.stamp');
const INSTALLED = join(ROOT, 'node_modules', '.package-lock.json');

/** `npm ci` when node_modules is missing or package-lock.json is not what was installed from. */
export async function ensureDependencies() {
  if (isCurrent()) return;
  await withLock(join(ROOT, '.sluice', 'dependencies.lock'), () => {
    if (isCurrent()) return;
    if (!holdsWhatTheLockNames()) install();
    mkdirSync(dirname(STAMP), { recursive: true });
    writeFileSync(STAMP, lockDigest());
  });
}

function lockDigest() {
  return createHash('sha256').update(readFileSync(LOCK)).digest('hex');
}

function isCurrent() {
  try {
    return readFileSync(STAMP, 'utf8') === lockDigest();
  } catch {
    return false;
  }
}

/** A node_modules that npm itself filled needs no second install only because it has no stamp. */
function holdsWhatTheLockNames() {
  try {
    const installed = JSON.parse(readFileSync(INSTALLED, 'utf8')).packages;
    const wanted = JSON.parse(readFileSync(LOCK, 'utf8')).packages;
    return Object.entries(wanted).every(([path, entry]) => {
      if (path === '') return true;
      const found = installed[path];
      return found ? found.version === entry.version : entry.optional === true || entry.peer === true;
    });
  } catch {
    return false;
  }
}

function install() {
  say('installing dependencies: npm ci (node_modules is missing or older than package-lock.json)');
  const { status, error } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--include=dev', '--no-fund', '--no-audit'],
    {
      cwd: ROOT,
      stdio: ['ignore', 2, 2],
    },
  );
  if (status !== 0) {
    throw new Error(`npm ci failed (${error?.message ?? `exit ${status}`}); its own message stands above`);
  }
}
