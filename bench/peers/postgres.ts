import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../harness/redis.js';

const FOLDER = '/usr/lib/postgresql';
const TRIES = 100;

/** Folder of PostgreSQL's programs, of the newest version; undefined: it is not installed. */
export function postgresPrograms(): string | undefined {
  try {
    const newest = readdirSync(FOLDER).sort((a, b) => Number(b) - Number(a))[0];
    return newest === undefined ? undefined : join(FOLDER, newest, 'bin');
  } catch {
    return undefined;
  }
}

/** PostgreSQL refuses to run as root: whose it is then. */
function otherUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user = ['postgres', 'nobody'].map((name) => users.find(([own]) => own === name)).find(Boolean);
  if (user === undefined) throw new Error('there is no user that PostgreSQL could run as');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

async function stopped(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  // SIGINT: it ends what is connected, and then itself.
  server.kill('SIGINT');
  await gone;
}

/** A PostgreSQL of the bench's own on loopback, which, as the bench's Redis, waits for no disk. */
export async function startPostgres(programs: string): Promise<{ url: string; stop(): Promise<void> }> {
  const user = otherUser();
  const dir = mkdtempSync(join(tmpdir(), 'sluice-bench-postgres-'));
  if (user !== undefined) chownSync(dir, user.uid, user.gid);
  const data = join(dir, 'data');
  const remove = () => rmSync(dir, { recursive: true, force: true });
  const made = spawnSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    { cwd: dir, encoding: 'utf8', ...user },
  );
  if (made.status !== 0) {
    remove();
    throw new Error(`initdb: ${made.stderr || made.error?.message}`);
  }
  const port = await freePort();
  const place = ['-D', data, '-k', dir, '-h', '127.0.0.1', '-p', `${port}`];
  const settings = ['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off'];
  const server = spawn(join(programs, 'postgres'), [...place, ...settings], {
    cwd: dir,
    stdio: 'ignore',
    ...user,
  });
  const stop = async () => {
    await stopped(server);
    remove();
  };
  for (let i = 0; !isReady(programs, port); i++) {
    if (i >= TRIES || server.exitCode !== null) {
      await stop();
      throw new Error('PostgreSQL did not start');
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url: `postgres://bench@127.0.0.1:${port}/postgres`, stop };
}

const isReady = (programs: string, port: number): boolean =>
  spawnSync(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', `${port}`, '-q']).status === 0;
