import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { BUNDLE, bundlePrograms, pruneBundle } from './bundle.mjs';
import { withLock } from './lock.mjs';
import { CACHE, ROOT, say } from './paths.mjs';

const SOURCES = ['src', 'queues', 'workers', 'config'];
/** What else decides on the result: the bundle holds the packages that the lock names. */
const CONFIGS = [
  'tsconfig.json',
  'tsconfig.build.json',
  'package-lock.json',
  'scripts/lib/build.mjs',
  'scripts/lib/bundle.mjs',
];
const DIST = join(ROOT, 'dist');
const STAGE = join(CACHE, 'stage');
const BUNDLED = join(CACHE, BUNDLE);
const BUILD_INFO = join(CACHE, 'stage.tsbuildinfo');
const STAMP = join(CACHE, 'build.stamp');

/**
 * Compiles the sources into dist and copies what is not TypeScript (Lua scripts and the like) next
 * to it, only when something changed; the programs are bundled. With `strict: false` type errors are
 * printed and the build is used all the same, so that a half-edited tree can still be tried.
 */
export async function ensureBuild({ strict = true } = {}) {
  if (!strict && isCurrent(fingerprint())) return;
  await withLock(join(CACHE, 'build.lock'), async () => {
    const before = fingerprint();
    if (!isCurrent(before)) {
      const clean = compile(strict);
      copyAssets();
      publish(await bundle(strict));
      if (clean) writeFileSync(STAMP, before);
    }
    pruneBundle(BUNDLED, join(DIST, BUNDLE), { all: strict });
  });
}

function isCurrent(print) {
  try {
    return existsSync(DIST) && readFileSync(STAMP, 'utf8') === print;
  } catch {
    return false;
  }
}

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const sourceFiles = () => SOURCES.flatMap((folder) => filesBelow(join(ROOT, folder)));

/** Names, sizes and times of the sources: a removed file counts as a change too. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const file of [...sourceFiles(), ...CONFIGS.map((name) => join(ROOT, name))]) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${relative(ROOT, file)}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function compile(strict) {
  say('building: TypeScript into dist (the sources are newer)');
  if (!existsSync(BUILD_INFO) || !existsSync(STAGE)) {
    rmSync(STAGE, { recursive: true, force: true });
    rmSync(BUILD_INFO, { force: true });
  }
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const output = [
    '--outDir',
    STAGE,
    '--sourceMap',
    'false',
    '--incremental',
    '--tsBuildInfoFile',
    BUILD_INFO,
  ];
  const { status } = spawnSync(process.execPath, [tsc, '-p', join(ROOT, 'tsconfig.build.json'), ...output], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  });
  if (status === 0) return true;
  if (strict || !existsSync(STAGE)) throw new Error('the build failed: the compiler’s messages stand above');
  say('the sources have type errors (above); going on with what was compiled');
  return false;
}

function copyAssets() {
  for (const file of sourceFiles()) {
    if (/\.(ts|md)$/.test(file)) continue;
    replace(join(STAGE, relative(ROOT, file)), readFileSync(file));
  }
}

/** Text for each program that is bundled: none when a half-edited tree cannot be. */
async function bundle(strict) {
  try {
    return await bundlePrograms(STAGE, BUNDLED);
  } catch (error) {
    if (strict) throw error;
    say('the programs could not be bundled (above); they run from the compiled files');
    return new Map();
  }
}

/**
 * File by file and by renaming, so that a process that runs from dist never reads half a file; the
 * bundle first, then what imports it.
 */
function publish(programs) {
  for (const file of filesBelow(BUNDLED))
    replace(join(DIST, BUNDLE, relative(BUNDLED, file)), readFileSync(file));
  const staged = new Set();
  for (const file of filesBelow(STAGE)) {
    const name = relative(STAGE, file);
    if (!hasSource(name)) {
      rmSync(file);
      continue;
    }
    staged.add(name);
    replace(join(DIST, name), Buffer.from(programs.get(name) ?? readFileSync(file)));
  }
  for (const file of filesBelow(DIST)) {
    const name = relative(DIST, file);
    if (!staged.has(name) && !name.startsWith(`${BUNDLE}/`)) rmSync(file);
  }
}

function hasSource(name) {
  return existsSync(join(ROOT, name)) || existsSync(join(ROOT, name.replace(/(\.d\.ts|\.js)$/, '.ts')));
}

function replace(file, content) {
  if (existsSync(file) && readFileSync(file).equals(content)) return;
  mkdirSync(dirname(file), { recursive: true });
  const next = `${file}.${process.pid}.tmp`;
  writeFileSync(next, content);
  renameSync(next, file);
}
