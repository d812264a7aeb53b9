import Table from 'cli-table3';
import type { Config } from '../../../config/schema.js';
import { livingWorkers } from '../../app/living.js';
import { mcpRunnerOf, openRunners, pluginRunnerOf } from '../../compose/runners.js';
import { systemClock } from '../../compose.js';
import type { DoctorReport, FleetFacts, HostRunners } from '../../doctor/check.js';
import { runDoctor } from '../../doctor/run.js';
import { openRedisStore } from '../../store/redis/index.js';
import type { FleetOptions } from '../options.js';
import { plain, print, printJson } from '../output.js';
import { loadSettings } from '../redis.js';

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

/** Plugins have a check of their own, and take long to load. */
async function hostOf(config: Config): Promise<HostRunners> {
  const runners = await openRunners({ ...config, plugins: [] });
  await runners.close();
  return runners;
}

async function fleetOf({ fleet, outbox }: Config, url: string): Promise<FleetFacts> {
  const store = await openRedisStore({ url, fleet, outboxCap: outbox.cap });
  try {
    const workers = await livingWorkers(store, systemClock);
    const waiting = await store.unserved.list(WAITING_TOLD);
    return { workers, waiting, isCut: waiting.length === WAITING_TOLD };
  } finally {
    await store.close();
  }
}

/** `sluice doctor`; answers 0, or 3 when a finding says that something will not work. */
export async function doctorCommand(options: FleetOptions): Promise<number> {
  const config = await loadSettings(options);
  const { redis } = config;
  const mcp = mcpRunnerOf(config);
  const mcpServers = Object.fromEntries(
    Object.keys(config.mcp_servers).map((name) => [name, (signal: AbortSignal) => mcp.tools(name, signal)]),
  );
  const given = redis === undefined ? {} : { redisUrl: redis, fleet: () => fleetOf(config, redis) };
  const where = { dir: '.sluice', host: () => hostOf(config), ...given };
  const plugins = pluginRunnerOf(config);
  const looking = runDoctor({ ...where, mcpServers, plugins: () => plugins.load() });
  const report = await looking.finally(() => Promise.all([mcp.close(), plugins.close()]));
  if (options.json) await printJson(report);
  else await print(doctorTable(report));
  return report.status === 'fail' ? 3 : 0;
}
