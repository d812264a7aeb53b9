import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './redis.js';

export interface TestCluster {
  /** `redis+cluster://…` with all masters. */
  url: string;
  /** One client for each master. */
  masters: Redis[];
  stop(): Promise<void>;
}

/** First slots of three masters, so that the shards 0, 1 and 2 are on one each (slots 13907, 9842 and 5649). */
const FIRST_SLOTS = [0, 8192, 12288];
const SLOTS = 16_384;

async function startNode(dir: string, port: number) {
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, '--save', ''];
  const own = ['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${port}.conf`];
  const server = spawn('redis-server', [...args, ...own, '--cluster-node-timeout', '5000'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const last = () => server.kill('SIGKILL');
  process.once('exit', last);
  server.once('exit', () => process.off('exit', last));
  const client = new Redis({ host: '127.0.0.1', port, retryStrategy: () => 25, maxRetriesPerRequest: null });
  client.on('error', () => {});
  await client.ping();
  return { server, client, port };
}

const freeClusterPort = async (): Promise<number> => {
  // The bus of a node listens 10,000 above its port.
  for (;;) {
    const port = await freePort();
    if (port < 50_000) return port;
  }
};

/** A Redis Cluster of three masters on 127.0.0.1, without replicas. */
export async function startTestCluster(): Promise<TestCluster> {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-cluster-'));
  const nodes = await Promise.all(FIRST_SLOTS.map(async () => startNode(dir, await freeClusterPort())));
  const masters = nodes.map(({ client }) => client);
  await Promise.all(
    masters.map(async (client, n) => {
      const last = (FIRST_SLOTS[n + 1] ?? SLOTS) - 1;
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', n + 1);
      await client.call('CLUSTER', 'ADDSLOTSRANGE', FIRST_SLOTS[n] ?? 0, last);
    }),
  );
  const [first] = masters;
  for (const { port } of nodes.slice(1)) await first?.call('CLUSTER', 'MEET', '127.0.0.1', port);
  for (const client of masters) {
    const isUp = async () => {
      const info = String(await client.call('CLUSTER', 'INFO'));
      return (
        /cluster_state:ok/.test(info) && /cluster_known_nodes:3/.test(info) && /cluster_size:3/.test(info)
      );
    };
    while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    masters,
    async stop() {
      for (const { client, server } of nodes) {
        client.disconnect();
        if (server.exitCode !== null || server.signalCode !== null) continue;
        const gone = once(server, 'exit');
        server.kill('SIGKILL');
        await gone;
      }
      await rm(dir, { recursive: true, force: true });
    },
  };
}
