import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { measureDeadSink } from './dead-sink.js';
import { judgeByEngine, startFleet } from './fleet.js';
import { judgeByRawFlows, startRawFlows } from './raw-flows.js';
import { median, type Row } from './row.js';
import { measureSandbox } from './sandbox.js';
import { makeWorkload, RULES, type Workload } from './workload.js';

const BYTES = 4096;
const CHECKS = RULES.length;
/** A raw-flow peer slower than this makes the row INVALID (DESIGN 9). */
const PEER_AT_LEAST = 2500;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function startRedis(): Promise<{ url: string; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const port = await freePort();
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir];
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on('error', () => {});
  await client.ping();
  client.disconnect();
  return {
    url,
    async stop() {
      server.kill('SIGTERM');
      if (server.exitCode === null) await once(server, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function clear(url: string): Promise<void> {
  const client = new Redis(url);
  await client.flushall();
  client.disconnect();
}

interface RowPlan {
  row: string;
  packing: 'auto' | 'off';
  runs: number;
  peerRuns: number;
  bar: number;
  rounds: number;
}

async function measure(url: string, workload: Workload, plan: RowPlan): Promise<Row> {
  const rounds: Row['rounds'] = [];
  let exact = true;
  for (let i = 0; i <= plan.rounds; i++) {
    const warmUp = i === 0;
    const round = `${plan.packing}-${i}`;
    await clear(url);
    const fleet = await startFleet(url, 'bench');
    if (warmUp)
      await judgeByEngine(fleet.engine, workload, Math.min(plan.runs, 500), `${round}-w`, plan.packing);
    await judgeByEngine(fleet.engine, workload, Math.min(plan.runs, 1000), `${round}-warm`, plan.packing);
    const ours = warmUp
      ? undefined
      : await judgeByEngine(fleet.engine, workload, plan.runs, round, plan.packing);
    await fleet.stop();
    await clear(url);
    const peer = await startRawFlows(url);
    await judgeByRawFlows(url, workload, Math.min(plan.peerRuns, 500), `${round}-warm`);
    const first = await judgeByRawFlows(url, workload, plan.peerRuns, round);
    const second = await judgeByRawFlows(url, workload, plan.peerRuns, `${round}-again`);
    const theirs = first.ms < second.ms ? first : second;
    await peer.stop();
    if (ours === undefined) continue;
    exact &&=
      ours.decided === plan.runs &&
      ours.wrong === 0 &&
      first.complete + second.complete === 2 * plan.peerRuns;
    const sluice = Math.round((plan.runs * CHECKS * 1000) / ours.ms);
    const raw = Math.round((plan.peerRuns * CHECKS * 1000) / theirs.ms);
    process.stderr.write(`  ${plan.row}, round ${i}: ${sluice} checks/s, raw flows ${raw}\n`);
    rounds.push({ sluice, peer: raw });
  }
  const [sluice, peer] = [median(rounds.map((r) => r.sluice)), Math.max(...rounds.map((r) => r.peer))];
  const ratio = Math.round((100 * sluice) / peer) / 100;
  const verdict = !exact ? 'FAILED' : peer < PEER_AT_LEAST ? 'INVALID' : ratio >= plan.bar ? 'met' : 'missed';
  return { row: plan.row, sluice, peer, ratio, bar: plan.bar, verdict, rounds };
}

function machine(): Record<string, unknown> {
  const redis = execFileSync('redis-server', ['--version'], { encoding: 'utf8' });
  return {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    redis: /v=(\S+)/.exec(redis)?.[1],
  };
}

function print(rows: readonly Row[]): void {
  const line = (cells: unknown[]) => cells.map((cell, i) => String(cell).padEnd(i === 0 ? 44 : 12)).join('');
  console.log(line(['row', 'checks/s', 'peer', 'ratio', 'bar', 'verdict']));
  for (const r of rows) console.log(line([r.row, r.sluice, r.peer, r.ratio, r.bar, r.verdict]));
}

async function main(): Promise<void> {
  const quick = process.argv.includes('--quick');
  const plans: RowPlan[] = [
    {
      row: 'batch, ten patterns on 4 KiB, one executor',
      packing: 'auto',
      runs: quick ? 5000 : 20_000,
      peerRuns: quick ? 1000 : 2000,
      bar: 8,
      rounds: quick ? 1 : 3,
    },
    {
      row: 'the same with packing off',
      packing: 'off',
      runs: quick ? 1000 : 2000,
      peerRuns: quick ? 1000 : 2000,
      bar: 0.6,
      rounds: quick ? 1 : 3,
    },
  ];
  const redis = await startRedis();
  const rows: Row[] = [];
  try {
    const workload = makeWorkload(Math.max(...plans.map((plan) => plan.runs)), BYTES);
    const only = (name: string) => !process.argv.includes('--only') || process.argv.includes(name);
    if (only('checks')) for (const plan of plans) rows.push(await measure(redis.url, workload, plan));
    if (only('sinks')) {
      const [runs, rounds] = quick ? [5000, 1] : [20_000, 5];
      const clearing = { port: await freePort(), clear: () => clear(redis.url) };
      rows.push(await measureDeadSink(redis.url, workload, { runs, rounds, ...clearing }));
    }
    if (only('sandbox')) rows.push(...(await measureSandbox(quick)));
  } finally {
    await redis.stop();
  }
  print(rows);
  const results = new URL('./results/', import.meta.url);
  mkdirSync(results, { recursive: true });
  const at = new Date().toISOString();
  const file = new URL(`${at.replaceAll(':', '-').slice(0, 19)}.json`, results);
  writeFileSync(file, `${JSON.stringify({ at, quick, machine: machine(), rows }, null, 2)}\n`);
  console.log(`Kept in bench/results/${file.pathname.split('/').at(-1)}`);
  process.exitCode = rows.every((row) => row.verdict === 'met') ? 0 : 1;
}

await main();
