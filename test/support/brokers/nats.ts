import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../redis.js';

export interface TestNatsOptions {
  /** Default: a free one. */
  port?: number;
  /** Where it keeps its streams, not removed at the end; default: a folder of its own. */
  folder?: string;
  /** Lines of a configuration file, such as users, TLS or limits. */
  config?: string;
}

export interface TestNats {
  readonly port: number;
  /** 127.0.0.1:PORT */
  readonly place: string;
  readonly folder: string;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same port with what it has kept; ends it first when it still runs. */
  restart(): Promise<void>;
  /** Ends it and removes what it wrote. May be called twice. */
  stop(): Promise<void>;
}

/** A real nats-server with JetStream on 127.0.0.1. */
export async function startNats(options: TestNatsOptions = {}): Promise<TestNats> {
  const own = await mkdtemp(join(tmpdir(), 'sluice-nats-'));
  const folder = options.folder ?? join(own, 'streams');
  const port = options.port ?? (await freePort());
  const args = ['-js', '-a', '127.0.0.1', '-p', String(port), '-sd', folder];
  if (options.config !== undefined) {
    const file = join(own, 'nats.conf');
    await writeFile(file, options.config);
    args.push('-c', file);
  }
  let server = await startServer(args, port);
  return {
    port,
    place: `127.0.0.1:${port}`,
    folder,
    kill: () => end(server),
    async restart() {
      await end(server);
      server = await startServer(args, port);
    },
    async stop() {
      await end(server);
      await rm(own, { recursive: true, force: true });
    },
  };
}

async function startServer(args: string[], port: number): Promise<ChildProcess> {
  const server = spawn('nats-server', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  // A test process that ends by itself takes its server along.
  const last = () => server.kill('SIGKILL');
  process.once('exit', last);
  server.once('exit', () => process.off('exit', last));
  let log = '';
  server.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-2_000);
  });
  let ended: string | undefined;
  server.once('error', (error: NodeJS.ErrnoException) => {
    ended =
      error.code === 'ENOENT'
        ? 'nats-server is not in PATH: `npm test` installs it'
        : `cannot run nats-server: ${error.message}`;
  });
  server.once('exit', () => {
    ended = `nats-server ended at once: ${log}`;
  });
  while (!(await greets(port))) {
    if (ended !== undefined) throw new Error(ended);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return server;
}

/** Whether a server greets on this port; it does so once its streams are there. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', (data) => end(data.subarray(0, 4).toString() === 'INFO'));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
  });
}

async function end(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  server.kill('SIGKILL');
  await gone;
}
