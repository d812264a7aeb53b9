import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SluiceError } from '../../src/core/problem.js';
import { openMeetingPlace, prepareDataFolder } from '../../src/embedded/meeting-place.js';
import {
  ensurePrivateRedis,
  type PrivateRedis,
  runningPrivateRedis,
} from '../../src/embedded/private-redis.js';
import { ROOT } from '../support/cli.js';
import { bundledProgram } from '../support/program.js';

let base: string;
let dir: string;
const users: ChildProcess[] = [];
const held: PrivateRedis[] = [];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'sluice-embedded-'));
  dir = join(base, '.sluice');
});

afterEach(async () => {
  for (const user of users.splice(0)) user.kill('SIGKILL');
  for (const redis of held.splice(0)) {
    const ended = endOf(redis.url);
    await redis.release();
    await ended;
  }
  await rm(base, { recursive: true, force: true });
});

async function open(env: NodeJS.ProcessEnv = process.env): Promise<PrivateRedis> {
  const redis = await ensurePrivateRedis({ dir, env });
  if ('unavailable' in redis) throw new Error(redis.unavailable);
  held.push(redis);
  return redis;
}

/** Lets go and waits until the server has ended. */
async function close(redis: PrivateRedis): Promise<void> {
  held.splice(held.indexOf(redis), 1);
  const ended = endOf(redis.url);
  await redis.release();
  await ended;
}

/** A connection that is open now; resolves to a promise of its end. */
function endOf(url: string): Promise<void> {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: null });
  client.on('error', () => {});
  return new Promise((resolve) => client.once('end', () => resolve()));
}

async function withClient<T>(redis: { url: string }, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(redis.url);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

async function startUser(): Promise<{ child: ChildProcess; redis: { url: string; port: number } }> {
  const script = await bundledProgram(join(ROOT, 'test/support/private-redis-user.ts'));
  const child = spawn(process.execPath, [script, dir], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  users.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, redis: JSON.parse(line) };
}

/** A folder with a program that poses as redis-server. */
async function fakeServer(script: string): Promise<NodeJS.ProcessEnv> {
  const bin = join(base, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'redis-server'), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, 'redis-server'), 0o755);
  return { ...process.env, PATH: `${bin}:${process.env.PATH}` };
}

async function refusal(env: NodeJS.ProcessEnv = process.env, deadlineMs = 10_000): Promise<SluiceError> {
  const error = await ensurePrivateRedis({ dir, env, deadlineMs }).then(
    () => undefined,
    (thrown) => thrown,
  );
  if (!(error instanceof SluiceError)) throw new Error(`expected a refusal, got ${error}`);
  return error;
}

describe('sharing', () => {
  it('gives two processes that start at once the same server, with an append-only file and no eviction', async () => {
    const [one, two] = await Promise.all([startUser(), startUser()]);
    expect(one.redis).toEqual(two.redis);
    const settings = await withClient(one.redis, (client) => client.config('GET', 'a*', 'maxmemory-policy'));
    expect(settings).toEqual(expect.arrayContaining(['appendonly', 'yes', 'noeviction', 'everysec']));
  });

  it('keeps strangers out by password and listens on loopback alone', async () => {
    const redis = await open();
    const stranger = new Redis(redis.port, '127.0.0.1', { enableReadyCheck: false });
    stranger.on('error', () => {});
    await expect(stranger.ping()).rejects.toThrow(/NOAUTH/);
    stranger.disconnect();
    expect(await withClient(redis, (client) => client.config('GET', 'bind'))).toEqual(['bind', '127.0.0.1']);
    expect((await stat(join(dir, 'redis', 'redis.conf'))).mode & 0o777).toBe(0o600);
  });
});

describe('joining one that runs', () => {
  it('finds it, and nothing where none runs: it makes and starts nothing', async () => {
    const look = () => runningPrivateRedis({ dir, env: process.env });
    expect(await look()).toBeUndefined();
    expect(await readdir(base)).toEqual([]);
    const redis = await open();
    const joined = await look();
    expect(joined?.url).toBe(redis.url);
    await joined?.release();
    await close(redis);
    expect(await look()).toBeUndefined();
  });
});

describe('ending', () => {
  it('ends the server after the last user was killed', async () => {
    const { child, redis } = await startUser();
    const ended = endOf(redis.url);
    await withClient(redis, (client) => client.ping());
    child.kill('SIGKILL');
    await ended;
    expect(await readdir(join(dir, 'redis'))).not.toContain('redis.pid');
  });

  it('keeps the server while one of two users is left', async () => {
    const [one, two] = await Promise.all([startUser(), startUser()]);
    const gone = once(one.child, 'exit');
    one.child.kill('SIGKILL');
    await gone;
    expect(await withClient(two.redis, (client) => client.ping())).toBe('PONG');
  });

  it('leaves no server behind when the guard itself is killed, and starts anew on the same data', async () => {
    const redis = await open();
    await withClient(redis, (client) => client.set('kept', '1'));
    const guard = await guardPid();
    const ended = endOf(redis.url);
    process.kill(guard, 'SIGKILL');
    held.length = 0;
    const next = await open();
    await ended;
    expect(await withClient(next, (client) => client.get('kept'))).toBe('1');
  });

  it('has the data again after a restart', async () => {
    const first = await open();
    await withClient(first, (client) => client.set('kept', 'yes'));
    await close(first);
    const second = await open();
    expect(second.port === first.port && second.url === first.url).toBe(false);
    expect(await withClient(second, (client) => client.get('kept'))).toBe('yes');
  });
});

/** The server's parent is the leash, and the leash's parent the guard. */
async function guardPid(): Promise<number> {
  const parentOf = async (pid: number) => {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  };
  const server = Number(await readFile(join(dir, 'redis', 'redis.pid'), 'utf8'));
  return parentOf(await parentOf(server));
}

describe('what an earlier life left behind', () => {
  it('recovers from a dead socket and from a file in its place', async () => {
    const place = await openMeetingPlace(await prepareDataFolder(dir), process.env);
    const server = createServer().listen(join(place, 'x'));
    await once(server, 'listening');
    await link(join(place, 'x'), join(place, '7.sock'));
    server.close();
    await once(server, 'close');
    await writeFile(join(place, '9.sock'), '');
    const redis = await open();
    expect(await withClient(redis, (client) => client.ping())).toBe('PONG');
    expect(await readdir(place)).toEqual(['10.sock']);
  });

  it('refuses a meeting place that others may enter', async () => {
    const place = await openMeetingPlace(await prepareDataFolder(dir), process.env);
    await chmod(place, 0o777);
    const error = await refusal();
    await rm(place, { recursive: true });
    expect(error.code).toBe('IO');
    expect(error.message).toContain(`${place} is not a folder of this user alone`);
  });

  it.each([
    ['cut short', async (file: string) => truncate(file, (await stat(file)).size - 3)],
    ['overwritten', async (file: string) => writeFile(file, 'this was never a Redis file\r\n')],
  ])('says what to do about an append-only file that is %s', async (_what, damage) => {
    const first = await open();
    await withClient(first, (client) => client.set('kept', 'yes'));
    await close(first);
    const folder = join(dir, 'redis', 'appendonlydir');
    const name = (await readdir(folder)).find((file) => file.endsWith('.incr.aof'));
    await damage(join(folder, name ?? ''));
    const error = await refusal();
    expect(error.code).toBe('IO');
    expect(error.message).toMatch(
      /is damaged.*redis-check-aof --fix .*appendonly\.aof\.manifest.*moving .* away/s,
    );
  });
});

describe('what cannot work', () => {
  it('is unavailable, with a reason, where there is no server program', async () => {
    expect(await ensurePrivateRedis({ dir, env: { PATH: base } })).toEqual({
      unavailable: expect.stringContaining('neither redis-server nor valkey-server'),
    });
  });

  it('names the folder that cannot be created', async () => {
    await writeFile(dir, 'a file');
    const error = await refusal();
    expect(error.code).toBe('IO');
    expect(error.message).toContain(join(dir, 'redis'));
  });

  it('refuses a server older than 6.2', async () => {
    const error = await refusal(await fakeServer('echo "Redis server v=6.0.16 sha=0"'));
    expect(error.code).toBe('REDIS_VERSION');
    expect(error.message).toMatch(/6\.0\.16; 6\.2 or newer/);
  });

  it('passes on what a server said that does not start', async () => {
    const says = `[ "$1" = --version ] && exec echo "v=7.0.15"; echo "No space left on device" >&2; exit 1`;
    const error = await refusal(await fakeServer(says));
    expect(error.code).toBe('IO');
    expect(error.message).toContain('No space left on device');
  });

  it('gives a server up that never answers', async () => {
    const env = await fakeServer(`[ "$1" = --version ] && exec echo "v=7.0.15"; exec sleep 60`);
    const error = await refusal(env, 2_500);
    expect(error.code).toBe('IO');
    expect(error.message).toContain('did not answer');
  });
});
