import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';

const run = promisify(execFile);
const IMAGE = 'redis:7-alpine';

export interface TestRedisOptions {
  /** Default false. */
  appendonly?: boolean;
  /** Default everysec. */
  appendfsync?: 'always' | 'everysec' | 'no';
  /** As Redis spells it, such as `20mb`; default: no limit. */
  maxmemory?: string;
  /** Default noeviction. */
  policy?: string;
}

export interface TestRedis {
  readonly kind: 'docker' | 'local';
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Ends it and removes its data. May be called twice. */
  stop(): Promise<void>;
  /** SIGKILL: what was not yet on disk is lost. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the data that is left; ends it cleanly first when it still runs. */
  restart(): Promise<void>;
}

let announced = false;

/**
 * A real Redis on 127.0.0.1 for one test file. In a container of redis:7-alpine with
 * SLUICE_TEST_REDIS=docker, or with `auto` when an engine answers that has the image; else a local
 * redis-server on a free port.
 */
export async function startTestRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const docker = await wantsDocker();
  const redis = docker ? await startContainer(options) : await startLocal(options);
  if (!announced) console.info(`test Redis: ${docker ? `testcontainers, ${IMAGE}` : 'local redis-server'}`);
  announced = true;
  return redis;
}

async function wantsDocker(): Promise<boolean> {
  const wish = process.env.SLUICE_TEST_REDIS ?? 'local';
  if (wish === 'docker') return true;
  if (wish !== 'auto') return false;
  return run('docker', ['image', 'inspect', IMAGE], { timeout: 5_000 }).then(
    () => true,
    () => false,
  );
}

function serverArguments(options: TestRedisOptions): string[] {
  const settings = {
    save: '',
    appendonly: options.appendonly ? 'yes' : 'no',
    appendfsync: options.appendfsync ?? 'everysec',
    maxmemory: options.maxmemory ?? '0',
    'maxmemory-policy': options.policy ?? 'noeviction',
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

async function startContainer(options: TestRedisOptions): Promise<TestRedis> {
  // The reaper image cannot be had without a registry, and a stray /.dockerenv misleads host detection.
  process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
  process.env.TESTCONTAINERS_HOST_OVERRIDE ??= '127.0.0.1';
  const { GenericContainer, Wait } = await import('testcontainers');
  const port = await freePort();
  const container = await new GenericContainer(IMAGE)
    .withCommand(['redis-server', ...serverArguments(options)])
    .withExposedPorts({ container: 6379, host: port })
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start();
  const id = container.getId();
  let stopped = false;
  return {
    kind: 'docker',
    ...place(port),
    async stop() {
      if (stopped) return;
      stopped = true;
      await container.stop({ remove: true, removeVolumes: true, timeout: 1_000 });
    },
    async kill() {
      await run('docker', ['kill', id]);
    },
    async restart() {
      await run('docker', ['restart', '--time', '5', id]);
      await answers(port);
    },
  };
}

async function startLocal(options: TestRedisOptions): Promise<TestRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-redis-'));
  const port = await freePort();
  let server = await startServer(dir, port, options);
  return {
    kind: 'local',
    ...place(port),
    async stop() {
      await end(server, 'SIGKILL');
      await rm(dir, { recursive: true, force: true });
    },
    kill: () => end(server, 'SIGKILL'),
    async restart() {
      await end(server, 'SIGTERM');
      server = await startServer(dir, port, options);
    },
  };
}

async function startServer(dir: string, port: number, options: TestRedisOptions): Promise<ChildProcess> {
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, ...serverArguments(options)];
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  // A test process that ends by itself takes its server along.
  const last = () => server.kill('SIGKILL');
  process.once('exit', last);
  server.once('exit', () => process.off('exit', last));
  let log = '';
  server.stdout.on('data', (chunk) => {
    log = (log + chunk).slice(-2_000);
  });
  const failed = Promise.race([
    once(server, 'error').then(([error]) => `cannot run redis-server: ${error.message}`),
    once(server, 'exit').then(() => `redis-server ended at once: ${log}`),
  ]).then((reason) => Promise.reject(new Error(reason)));
  const waiting = new AbortController();
  try {
    await Promise.race([answers(port, waiting.signal), failed]);
  } finally {
    waiting.abort();
  }
  return server;
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  server.kill(signal);
  await gone;
}

/** Resolves once a PING is answered; ioredis itself tries again meanwhile. */
async function answers(port: number, signal?: AbortSignal): Promise<void> {
  const client = new Redis({ host: '127.0.0.1', port, retryStrategy: () => 25, maxRetriesPerRequest: null });
  client.on('error', () => {});
  signal?.addEventListener('abort', () => client.disconnect());
  try {
    await client.ping();
  } finally {
    client.disconnect();
  }
}

function place(port: number): Pick<TestRedis, 'url' | 'host' | 'port'> {
  return { url: `redis://127.0.0.1:${port}`, host: '127.0.0.1', port };
}

/** A loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}
