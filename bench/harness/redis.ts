import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** A Redis of the bench's own: on loopback, in memory alone. */
export interface BenchRedis {
  url: string;
  port: number;
  pid: number;
  /** Forgets everything. */
  clear(): Promise<void>;
  /** One number of INFO, such as `used_memory`. */
  info(field: string): Promise<number>;
  /** Keys that it holds. */
  keys(): Promise<number>;
  /** Whether it holds a key that fits the pattern. */
  has(pattern: string): Promise<boolean>;
  stop(): Promise<void>;
}

/** A port of the loopback interface that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Ends a server by its id, and waits for that. */
async function end(server: ReturnType<typeof spawn>): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  server.kill('SIGTERM');
  await gone;
}

export async function startRedis(): Promise<BenchRedis> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const port = await freePort();
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir];
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  const missing = once(server, 'error').then(([error]) => Promise.reject(error as Error));
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on('error', () => {});
  await Promise.race([client.ping(), missing]);
  missing.catch(() => {});
  return {
    url,
    port,
    pid: server.pid ?? 0,
    async clear() {
      await client.flushall();
    },
    async info(field) {
      const found = new RegExp(`^${field}:([\\d.]+)`, 'm').exec(await client.info());
      if (found === null) throw new Error(`Redis tells no ${field}`);
      return Number(found[1]);
    },
    keys: () => client.dbsize(),
    has: async (pattern) => (await client.keys(pattern)).length > 0,
    async stop() {
      client.disconnect();
      await end(server);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Version of the redis-server on the PATH; undefined: there is none. */
export function redisVersion(): string | undefined {
  try {
    return /v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' }))?.[1];
  } catch {
    return undefined;
  }
}
