import Table from 'cli-table3';
import type { Config } from '../../../config/schema.js';
import { livingWorkers } from '../../app/living.js';
import { mcpRunnerOf, openRunners, pluginRunnerOf } from '../../compose/runners.js';
import { systemClock } from '../../compose.js';
import { neededBy } from '../../core/registry/needed.js';
import { pluginNeed } from '../../core/registry/needs.js';
import { TAKES_NO_RUNNERS } from '../../core/routing.js';
import type { DoctorReport, FleetFacts, HostRunners, SandboxChoice, ShardFacts } from '../../doctor/check.js';
import { runDoctor } from '../../doctor/run.js';
import { runningPrivateRedis } from '../../embedded/private-redis.js';
import type { PluginRunner } from '../../runners/plugins/runner.js';
import { readOnlyOf } from '../../runners/process/available.js';
import { openRedisShards } from '../../store/redis/index.js';
import { openReshard } from '../../store/redis/reshard.js';
import { shardedStore } from '../../store/sharded/index.js';
import { sinkFactsOf, sourceFactsOf } from '../endpoint-facts.js';
import type { FleetOptions } from '../options.js';
import { plain, print, printJson } from '../output.js';
import { DATA_FOLDER, loadSettings } from '../redis.js';

/** The findings as a table for people. */
export function doctorTable({ checks }: DoctorReport): string {
  const width = process.stdout.columns ?? 120;
  const rest = Math.max(40, width - 32);
  const found = Math.floor(rest * 0.45);
  const table = new Table({
    head: ['check', 'status', 'found', 'advice'],
    colWidths: [16, 8, found, rest - found],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const check of checks) table.push([check.name, check.status, plain(check.found), plain(check.advice)]);
  return `${table.toString()}\n`;
}

/** Chunks that wait of which one is told. */
const WAITING_TOLD = 1000;

/** Plugins have a check of their own, which tells why one does not load. */
async function hostOf(config: Config, plugins: PluginRunner): Promise<HostRunners> {
  const { serves, missing, close } = await openRunners({ ...config, plugins: [] });
  await close();
  const { validations } = config.plugins.length === 0 ? { validations: [] } : await plugins.load();
  return {
    serves: [...serves, ...validations.map(({ name }) => pluginNeed(name))],
    missing,
    ...(config.worker.runner_concurrency === 0 ? { takesNone: TAKES_NO_RUNNERS } : {}),
  };
}

function choiceOf(config: Config): SandboxChoice {
  const { sandbox } = config;
  const demands = (['evaluation', 'plans'] as const).filter((part) => config[part].require_enforced);
  return {
    sandbox,
    isEnforced: readOnlyOf({ sandbox }) === 'enforced',
    demandedBy: demands.map((part) => `${part}.require_enforced`),
  };
}

async function fleetOf({ fleet, outbox }: Config, url: string): Promise<FleetFacts> {
  const { stores, mark } = await openRedisShards({ url, fleet, outboxCap: outbox.cap }, 'as it is');
  const store = shardedStore(stores, mark.shards, mark.former);
  try {
    const workers = await livingWorkers(store, systemClock);
    const waiting = await store.unserved.list(WAITING_TOLD);
    const needed = neededBy(await store.registry.read());
    return { workers, waiting, isCut: waiting.length === WAITING_TOLD, needed };
  } finally {
    await store.close();
  }
}

async function shardsOf({ fleet }: Config, url: string): Promise<ShardFacts> {
  const reshard = await openReshard(url, fleet);
  try {
    return await reshard.look();
  } finally {
    await reshard.close();
  }
}

/** `sluice doctor`; answers 0, or 3 when a finding says that something will not work. */
export async function doctorCommand(options: FleetOptions): Promise<number> {
  const config = await loadSettings(options);
  const own =
    config.redis === undefined
      ? await runningPrivateRedis({ dir: DATA_FOLDER, env: process.env })
      : undefined;
  const redis = config.redis ?? own?.url;
  const mcp = mcpRunnerOf(config);
  const mcpServers = Object.fromEntries(
    Object.keys(config.mcp_servers).map((name) => [name, (signal: AbortSignal) => mcp.tools(name, signal)]),
  );
  const plugins = pluginRunnerOf(config);
  const looking = runDoctor({
    dir: DATA_FOLDER,
    host: () => hostOf(config, plugins),
    sandbox: choiceOf(config),
    ...(config.redis === undefined ? {} : { redisUrl: config.redis }),
    ...(own === undefined ? {} : { privatePort: own.port }),
    ...(redis === undefined
      ? {}
      : { fleet: () => fleetOf(config, redis), shards: () => shardsOf(config, redis) }),
    mcpServers,
    plugins: () => plugins.load(),
    ...(config.sinks.length === 0 ? {} : { sinks: () => sinkFactsOf(config.sinks) }),
    ...(config.sources.length === 0 ? {} : { sources: () => sourceFactsOf(config.sources) }),
  });
  const report = await looking.finally(() => Promise.all([mcp.close(), plugins.close(), own?.release()]));
  if (options.json) await printJson(report);
  else await print(doctorTable(report));
  return report.status === 'fail' ? 3 : 0;
}
