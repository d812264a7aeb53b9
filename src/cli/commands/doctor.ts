import Table from 'cli-table3';
import { mcpRunnerOf, pluginRunnerOf } from '../../compose/runners.js';
import type { DoctorReport } from '../../doctor/check.js';
import { runDoctor } from '../../doctor/run.js';
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

/** `sluice doctor`; answers 0, or 3 when a finding says that something will not work. */
export async function doctorCommand(options: FleetOptions): Promise<number> {
  const config = await loadSettings(options);
  const { redis } = config;
  const mcp = mcpRunnerOf(config);
  const mcpServers = Object.fromEntries(
    Object.keys(config.mcp_servers).map((name) => [name, (signal: AbortSignal) => mcp.tools(name, signal)]),
  );
  const where = { dir: '.sluice', ...(redis === undefined ? {} : { redisUrl: redis }) };
  const plugins = pluginRunnerOf(config);
  const looking = runDoctor({ ...where, mcpServers, plugins: () => plugins.load() });
  const report = await looking.finally(() => Promise.all([mcp.close(), plugins.close()]));
  if (options.json) await printJson(report);
  else await print(doctorTable(report));
  return report.status === 'fail' ? 3 : 0;
}
