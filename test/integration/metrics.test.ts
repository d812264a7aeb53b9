import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLE_RUN, EXAMPLE_SCENARIO } from '../../src/http/operations/examples.js';
import { FAMILIES } from '../../src/metrics/families.js';
import { runSluice, spawnSluice, waitForExit } from '../support/cli.js';
import { type OtlpReceiver, type OtlpSpan, startOtlpReceiver } from '../support/otlp.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const RUNS = 40;
const HOSTILE = 'evil"} 1\nfake_metric{a="b';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

const scenario = {
  key: 'evil-scenario',
  validation: {
    job: [
      { label: HOSTILE, validator: 'task_count', min: 1 },
      { label: 'Restarted', validator: 'pattern_match', where: 'job_resolution', pattern: 'restarted' },
    ],
    tasks: [
      {
        label: 'Never',
        validator: 'pattern_match',
        where: 'executed_commands',
        pattern: 'rm -rf',
        negate: true,
      },
    ],
  },
};

const runOf = (n: number) => ({
  id: `run-${n}`,
  job: { resolution_status: 'resolved', resolution: n % 4 === 0 ? 'gave up' : 'restarted nginx' },
  tasks: [{ id: 't', commands: [n % 5 === 0 ? 'rm -rf /' : 'systemctl restart nginx'] }],
});

interface Evaluated {
  batch: { passed: number; failed: number; errored: number };
  evaluations: { results: { outcome: string }[] }[];
}

interface Running {
  url: string;
  metrics: string;
  end(): Promise<{ exitCode: number | null; stderr: string }>;
}

let dir: string;
let redis: TestRedis;
let receiver: OtlpReceiver;
let up: Running;
let evaluated: Evaluated;
let token: string;

async function startUp(place: readonly string[]): Promise<Running> {
  const args = ['up', ...place, '--workers', '2', '--listen', '127.0.0.1:0', '--metrics', '127.0.0.1:0'];
  const child = await spawnSluice([...args, '--sink', 'ndjson=events.ndjson', '--json'], { cwd: dir });
  const exit = waitForExit(child);
  const early = exit.then(({ stderr }) => Promise.reject(new Error(`it ended by itself: ${stderr}`)));
  early.catch(() => {});
  const [line] = (await Promise.race([once(child.stdout, 'data'), early])) as [Buffer];
  const { url, metrics } = JSON.parse(String(line)) as { url: string; metrics: string };
  return {
    url,
    metrics,
    end() {
      child.kill('SIGTERM');
      return exit;
    },
  };
}

beforeAll(async () => {
  [dir, redis, receiver] = await Promise.all([
    mkdtemp(join(tmpdir(), 'sluice-metrics-')),
    startTestRedis(),
    startOtlpReceiver(),
  ]);
  await writeFile(join(dir, 'scenario.json'), JSON.stringify(scenario));
  const runs = Array.from({ length: RUNS }, (_, n) => JSON.stringify(runOf(n)));
  await writeFile(join(dir, 'runs.ndjson'), runs.join('\n'));
  await writeFile(
    join(dir, 'sluice.yaml'),
    `telemetry:\n  traces: ${receiver.url}\nmetrics:\n  public: true\n`,
  );
  const place = ['--redis', redis.url, '--fleet', 'measured', '--config', 'sluice.yaml'];
  up = await startUp(place);
  const add = await runSluice(['token', 'add', 'ci', '--role', 'submit', ...place, '--json'], { cwd: dir });
  ({ token } = JSON.parse(add.stdout) as { token: string });
  const judge = ['evaluate', 'scenario.json', '--runs', 'runs.ndjson', '--workers', '0', '--json'];
  const { stdout, stderr } = await runSluice([...judge, ...place], { cwd: dir });
  if (stdout === '') throw new Error(stderr);
  evaluated = JSON.parse(stdout) as Evaluated;
}, 120_000);

afterAll(async () => {
  await up?.end();
  await Promise.all([redis?.stop(), receiver?.close()]);
  await rm(dir, { recursive: true, force: true });
});

/** Value of each series of a page, by its name with labels. */
function seriesOf(page: string): Map<string, number> {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

const pageOf = async (url: string) => (await fetch(`${url}/metrics`)).text();

describe('metrics of sluice up', () => {
  it('is a page that promtool accepts, with nothing of what others named in its labels', async () => {
    const response = await fetch(`${up.metrics}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const page = await response.text();
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' });
    expect(checked.stderr + checked.stdout).toBe('');
    expect(checked.status).toBe(0);
    expect(page).not.toContain('evil');
    expect(page).not.toContain('fake_metric');
    const known = FAMILIES.map(({ name }) => name);
    const found = [...page.matchAll(/^# TYPE (sluice_\w+) /gm)].map(([, name]) => name as string);
    expect(found.filter((name) => !known.includes(name))).toEqual([]);
    expect(seriesOf(page).size).toBeLessThan(500);
  });

  it('counts in all its processes what the results say', async () => {
    const series = seriesOf(await pageOf(up.metrics));
    const sum = (prefix: string) =>
      [...series].reduce((total, [name, value]) => total + (name.startsWith(prefix) ? value : 0), 0);
    const { passed, failed, errored } = evaluated.batch;
    expect(sum('sluice_decisions_total{status="passed"}')).toBe(passed);
    expect(sum('sluice_decisions_total{status="failed"}')).toBe(failed);
    expect(sum('sluice_decisions_total{status="errored"}')).toBe(errored);
    expect(passed + failed + errored).toBe(RUNS);
    const outcomes = evaluated.evaluations.flatMap(({ results }) => results.map(({ outcome }) => outcome));
    for (const outcome of ['pass', 'fail', 'error'])
      expect(sum(`sluice_checks_total{outcome="${outcome}"`)).toBe(
        outcomes.filter((each) => each === outcome).length,
      );
    expect(series.get('sluice_check_duration_seconds_count{kind="pure"}')).toBe(outcomes.length);
    expect(series.get('sluice_pack_evaluations_sum')).toBe(RUNS);
    expect(series.get('sluice_queue_waiting{queue="pure",shard="0"}')).toBe(0);
    expect(series.get('sluice_open_evaluations_chunks')).toBe(0);
    expect(series.get('sluice_workers{role="worker"}')).toBe(2);
    expect(series.get('sluice_redis_up')).toBe(1);
  });

  it('counts the events that a sink took', async () => {
    const name = /sluice_deliveries_total\{sink="(ndjson-[0-9a-f]+)",kind="ndjson",result="delivered"\}/;
    await expect
      .poll(
        async () => {
          const series = seriesOf(await pageOf(up.metrics));
          const [key] = [...series.keys()].filter((each) => name.test(each));
          const written = (await readFile(join(dir, 'events.ndjson'), 'utf8')).trimEnd().split('\n').length;
          const last = series.get(
            `sluice_outbox_oldest_undelivered_seconds{sink="${name.exec(key ?? '')?.[1]}"}`,
          );
          return last === 0 && series.get(key ?? '') === written;
        },
        { timeout: 10_000 },
      )
      .toBe(true);
  });

  it('tells of health and readiness, and shows the same page over the HTTP API', async () => {
    expect((await fetch(`${up.metrics}/healthz`)).status).toBe(200);
    expect((await fetch(`${up.metrics}/readyz`)).status).toBe(200);
    expect((await fetch(`${up.metrics}/v1/plans`)).status).toBe(404);
    expect((await fetch(`${up.metrics}/metrics`, { method: 'POST' })).status).toBe(405);
    expect(await pageOf(up.url)).toContain('sluice_decisions_total{status="passed"}');
  });
});

describe('traces of sluice up', () => {
  it('follows an evaluation from the request to its delivery, over processes, in one trace', async () => {
    const response = await fetch(`${up.url}/v1/evaluations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        traceparent: `00-${TRACE}-${PARENT}-01`,
      },
      body: JSON.stringify({ scenario: EXAMPLE_SCENARIO, run: EXAMPLE_RUN }),
    });
    const { evaluation } = (await response.json()) as { evaluation: string };
    const events = async () =>
      (await readFile(join(dir, 'events.ndjson'), 'utf8'))
        .trimEnd()
        .split('\n')
        .filter((line) => line.includes(evaluation));
    await expect.poll(async () => (await events()).length, { timeout: 20_000 }).toBeGreaterThan(1);
    for (const line of await events())
      expect((JSON.parse(line) as { traceparent: string }).traceparent).toContain(TRACE);
    expect((await up.end()).exitCode).toBe(0);
    const spans = receiver.spans.filter(({ traceId }) => traceId === TRACE);
    const named = (name: string): OtlpSpan => {
      const found = spans.find((span) => span.name === name);
      if (found === undefined) throw new Error(`no ${name} among ${spans.map((span) => span.name)}`);
      return found;
    };
    const above = (span: OtlpSpan): string[] => {
      const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
      return parent === undefined ? [span.parentSpanId ?? ''] : [parent.name, ...above(parent)];
    };
    expect(above(named('sluice submit'))).toEqual([PARENT]);
    expect(above(named('process pure')).at(-2)).toBe('sluice submit');
    expect(named('process pure').service).toBe('sluice-worker');
    expect(above(named('sluice decide'))).toContain('process decide');
    const delivered = spans.filter(({ name }) => name === 'sluice deliver').map((span) => above(span)[0]);
    expect(new Set(delivered)).toEqual(new Set(['sluice submit', 'sluice decide']));
    const roots = receiver.spans.filter(({ parentSpanId }) => !parentSpanId).map(({ name }) => name);
    expect(new Set(roots)).toEqual(new Set(['sluice submit']));
  });
});
