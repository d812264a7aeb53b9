import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { say } from './paths.mjs';

const POLL_MS = 100;
const GIVE_UP_MS = 10 * 60_000;

/** Runs `work` while no other process of this checkout holds the lock file; a dead holder's lock is taken over. */
export async function withLock(file, work) {
  mkdirSync(dirname(file), { recursive: true });
  const until = Date.now() + GIVE_UP_MS;
  let waiting = false;
  while (!tryLock(file)) {
    if (Date.now() > until) throw new Error(`${file} has been held for ten minutes; remove it and try again`);
    if (!waiting) say(`waiting for another process that is setting up (${file})`);
    waiting = true;
    await delay(POLL_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function tryLock(file) {
  try {
    const handle = openSync(file, 'wx');
    writeSync(handle, String(process.pid));
    closeSync(handle);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const holder = holderOf(file);
  if (holder !== undefined && !isAlive(holder)) moveAway(file, holder);
  return false;
}

function holderOf(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Renaming, not removing: of two processes that see the same dead holder, only one moves its file. */
function moveAway(file, holder) {
  const grave = `${file}.${process.pid}`;
  try {
    if (holderOf(file) === holder) renameSync(file, grave);
  } catch {
    return;
  }
  rmSync(grave, { force: true });
}
