import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../redis.js';
import { type ServerProcess, startProcess } from './process.js';

/** Debian's own wrapper runs it as another user, who cannot use the folder of a test. */
const SERVER = '/usr/lib/rabbitmq/bin/rabbitmq-server';

export interface TestRabbit {
  readonly port: number;
  /** Default: guest with guest. */
  readonly url: string;
  /** SIGKILL: durable queues and persistent messages stay. */
  kill(): Promise<void>;
  /** Starts it again on the same port with what was kept; ends it first when it still runs. */
  restart(): Promise<void>;
  /** Ends it and removes its data. May be called twice. */
  stop(): Promise<void>;
}

/** A real RabbitMQ on 127.0.0.1 for one test file; takes some seconds. `settings`: lines of rabbitmq.conf. */
export async function startRabbit(settings: readonly string[] = []): Promise<TestRabbit> {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-rabbit-'));
  const port = await freePort();
  const config = join(dir, 'rabbitmq.conf');
  const lines = [
    `listeners.tcp.1 = 127.0.0.1:${port}`,
    'log.console = true',
    'log.file = false',
    ...settings,
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  await writeFile(join(dir, 'plugins'), '[].\n');
  let running = await startNode(dir, port, config);
  return {
    port,
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    kill: () => running.end(),
    async restart() {
      await running.end();
      running = await startNode(dir, port, config);
    },
    async stop() {
      await running.end();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A node with a name server of its own: the common one outlives it, and remembers nodes that were killed. */
async function startNode(dir: string, port: number, config: string): Promise<Pick<ServerProcess, 'end'>> {
  const [nodePort, namesPort] = [await freePort(), await freePort()];
  const names = await startProcess('epmd', ['-port', String(namesPort), '-address', '127.0.0.1'], {
    port: namesPort,
    dir,
  });
  const env = {
    HOME: dir,
    ERL_EPMD_PORT: String(namesPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `sluice${port}@localhost`,
    RABBITMQ_MNESIA_BASE: dir,
    RABBITMQ_LOG_BASE: dir,
    RABBITMQ_DIST_PORT: String(nodePort),
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_ENABLED_PLUGINS_FILE: join(dir, 'plugins'),
    // The script becomes the server, so that its process is the one to kill.
    RABBITMQ_ALLOW_INPUT: '1',
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
      '-noinput +S 2:2 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}',
  };
  const isReady = (log: string) => log.includes('Server startup complete');
  try {
    const server = await startProcess(SERVER, [], { port, dir, env, isReady });
    return {
      async end() {
        await server.end();
        await names.end();
      },
    };
  } catch (error) {
    await names.end();
    throw error;
  }
}
