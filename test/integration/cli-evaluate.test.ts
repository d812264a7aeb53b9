import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evaluateDocumentSchema } from '../../src/core/document.js';
import { runSluice, spawnSluice, waitForExit } from '../support/cli.js';
import { freePort, startTestRedis, type TestRedis } from '../support/redis.js';

const SCENARIO = {
  key: 'nginx',
  validation: {
    job: [{ label: 'resolved', validator: 'job_resolution_status', pattern: 'success' }],
    tasks: [
      {
        label: 'restarted',
        validator: 'pattern_match',
        pattern: 'restart.*nginx',
        where: 'executed_commands',
      },
      {
        label: 'gentle',
        validator: 'pattern_match',
        pattern: 'kill -9',
        where: 'executed_commands',
        negate: true,
      },
    ],
  },
};
const good = (id: string) => ({
  id,
  job: { resolution_status: 'success' },
  tasks: [{ commands: ['systemctl restart nginx'] }],
});
const bad = (id: string) => ({ id, job: { resolution_status: 'partial' }, tasks: [] });
const lines = (records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

let dir: string;
let redis: TestRedis;
let fleets = 0;
const file = (name: string) => join(dir, name);
const newFleet = () => `t${++fleets}`;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-cli-'));
  redis = await startTestRedis();
  await writeFile(file('scenario.json'), JSON.stringify(SCENARIO));
  await writeFile(file('good.ndjson'), lines([good('g1'), good('g2')]));
  await writeFile(file('mixed.ndjson'), lines([good('g1'), bad('b1'), good('g2')]));
}, 120_000);

afterAll(async () => {
  await redis?.stop();
  await rm(dir, { recursive: true, force: true });
});

const evaluate = (...args: string[]) => runSluice(['evaluate', file('scenario.json'), ...args], { cwd: dir });
const onRedis = (fleet: string) => ['--redis', redis.url, '--fleet', fleet, '--workers', '1'];

async function keysOf(fleet: string): Promise<string[]> {
  const client = new Redis(redis.url);
  try {
    return await client.keys(`${fleet}:*`);
  } finally {
    client.disconnect();
  }
}

/** What the engines must agree on: all but ids, times and workers. */
function verdicts(stdout: string): unknown {
  const document = evaluateDocumentSchema.parse(JSON.parse(stdout));
  return document.evaluations.map(({ run, passed, score, gates, results }) => {
    const checks = results.map(({ outcome, message, data, rule }) => ({ outcome, message, data, rule }));
    return { run, passed, score, gates, checks };
  });
}

describe('the exit code of evaluate', () => {
  it('is 0 when everything passed', async () => {
    const { exitCode, stdout } = await evaluate('--runs', 'good.ndjson', '--engine', 'inline');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('2 evaluations: 2 passed, 0 failed, 0 errored');
  });

  it('is 1 when something failed, and 0 with --exit-zero, which says so', async () => {
    const args = ['--runs', 'mixed.ndjson', '--engine', 'inline'];
    expect((await evaluate(...args)).exitCode).toBe(1);
    const forgiving = await evaluate(...args, '--exit-zero');
    expect(forgiving.exitCode).toBe(0);
    expect(forgiving.stderr).toContain('--exit-zero');
  });

  it('is 2 for an unknown option, with the nearest, and never a stack trace', async () => {
    const { exitCode, stderr } = await evaluate('--runz', 'good.ndjson');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--runs');
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('is 2 for an unknown command', async () => {
    const { exitCode, stderr } = await runSluice(['evalute']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('evaluate');
  });

  it('is 3 when Redis does not answer, without its password', async () => {
    const url = `redis://:geheim@127.0.0.1:${await freePort()}`;
    const { exitCode, stdout, stderr } = await evaluate('--runs', 'good.ndjson', '--redis', url, '--json');
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout).error.code).toBe('REDIS_UNREACHABLE');
    expect(stdout + stderr).not.toContain('geheim');
  });

  it('is 3 for a Redis that may drop work', async () => {
    const dropping = await startTestRedis({ policy: 'allkeys-lru' });
    try {
      const { exitCode, stderr } = await evaluate('--runs', 'good.ndjson', '--redis', dropping.url);
      expect(exitCode).toBe(3);
      expect(stderr).toContain(
        `redis-cli -h 127.0.0.1 -p ${dropping.port} CONFIG SET maxmemory-policy noeviction`,
      );
    } finally {
      await dropping.stop();
    }
  });

  it('is 3 for --engine fleet where no Redis can be had', async () => {
    const options = { cwd: dir, env: { PATH: '/nonexistent' } };
    const args = ['evaluate', 'scenario.json', '--runs', 'good.ndjson'];
    expect((await runSluice([...args, '--engine', 'fleet'], options)).exitCode).toBe(3);
    const inline = await runSluice(args, options);
    expect(inline.exitCode).toBe(0);
    expect(inline.stderr).toContain('nothing will survive');
  });
});

describe('bad input', () => {
  it('brings ten problems for ten mistakes, and nothing in Redis', async () => {
    const wrong = [1, 2, 3, 4, 5].map((n) => ({ id: `w${n}`, tasks: 'none' }));
    await writeFile(file('wrong.ndjson'), lines([good('g1'), ...wrong, good('g1')]));
    const broken = {
      validation: {
        tasks: [{ label: 'x', validator: 'patern_match', pattern: 'a', where: 'executed_commands' }],
      },
    };
    await writeFile(file('broken.json'), JSON.stringify(broken));
    const fleet = newFleet();
    const args = ['--runs', 'wrong.ndjson', ...onRedis(fleet), '--json'];
    const more = ['--batch', 'a:b', '--packing', 'no', '--retention', 'long', '--sink', 'kafka=x'];
    const { exitCode, stdout, stderr } = await evaluate(...args, ...more);
    const { error } = JSON.parse(stdout);
    expect(exitCode).toBe(2);
    expect(error.problems).toHaveLength(10);
    expect(stderr.trim().split('\n')).toHaveLength(11);
    expect(await keysOf(fleet)).toEqual([]);
    const scenario = await runSluice(['evaluate', 'broken.json', '--runs', 'wrong.ndjson', '--json'], {
      cwd: dir,
    });
    expect(scenario.exitCode).toBe(2);
    const found = JSON.parse(scenario.stdout).error;
    expect(found.code).toBe('INVALID_SCENARIO');
    expect(found.problems).toHaveLength(6);
  });

  it('is passed over with --skip-invalid, named, and does not count', async () => {
    await writeFile(file('half.ndjson'), `${lines([good('g1')])}{"id":\n${lines([{ id: 7 }, bad('b1')])}`);
    const args = ['--runs', 'half.ndjson', '--engine', 'inline', '--json'];
    expect((await evaluate(...args)).exitCode).toBe(2);
    const { exitCode, stdout, stderr } = await evaluate(...args, '--skip-invalid');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout).batch.total).toBe(2);
    expect(stderr).toContain('half.ndjson:2');
    expect(stderr).toContain('half.ndjson:3');
    expect(stderr).toContain('2 broken records passed over');
  });

  it('is refused even with --skip-invalid when no run is left', async () => {
    await writeFile(file('none.ndjson'), lines([{ id: 7 }]));
    const { exitCode } = await evaluate('--runs', 'none.ndjson', '--engine', 'inline', '--skip-invalid');
    expect(exitCode).toBe(2);
  });
});

describe('--dry-run', () => {
  it('says what would be judged and opens nothing', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    const args = [
      '--runs',
      'mixed.ndjson',
      '--redis',
      url,
      '--dry-run',
      '--json',
      '--report',
      'json=dry.json',
    ];
    const { exitCode, stdout } = await evaluate(...args);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ dry_run: true, runs: 3, checks: 9 });
    await expect(readFile(file('dry.json'))).rejects.toThrow('ENOENT');
  });
});

describe('on a Redis', () => {
  it('prints the document of DESIGN 8 and nothing else, as the inline engine does', async () => {
    const fleet = await evaluate('--runs', 'mixed.ndjson', ...onRedis(newFleet()), '--json');
    const inline = await evaluate('--runs', 'mixed.ndjson', '--engine', 'inline', '--json');
    expect([fleet.exitCode, inline.exitCode]).toEqual([1, 1]);
    expect(verdicts(fleet.stdout)).toEqual(verdicts(inline.stdout));
    const { batch, evaluations } = JSON.parse(fleet.stdout);
    const strict = evaluateDocumentSchema.parse({ batch, evaluations });
    expect({ batch, evaluations }).toEqual(strict);
    expect(batch).toMatchObject({ total: 3, passed: 2, failed: 1, errored: 0, engine: 'fleet' });
    expect(evaluations.map((evaluation: { run: string }) => evaluation.run)).toEqual(['g1', 'b1', 'g2']);
  });

  it('finds the same batch again: same document, no second event', async () => {
    const args = ['--runs', 'mixed.ndjson', ...onRedis(newFleet()), '--batch', 'again', '--json'];
    const sink = ['--sink', `ndjson=${file('again.ndjson')}`];
    const first = await evaluate(...args, ...sink);
    const events = await readFile(file('again.ndjson'), 'utf8');
    const second = await evaluate(...args, ...sink);
    expect(second.stdout).toBe(first.stdout);
    expect(await readFile(file('again.ndjson'), 'utf8')).toBe(events);
    const types = events
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types.filter((type) => /evaluation\.(passed|failed)/.test(type))).toHaveLength(3);
    expect(types.filter((type) => type.includes('batch.completed'))).toHaveLength(1);
  });

  it('refuses the same batch with another scenario', async () => {
    const fleet = newFleet();
    await evaluate('--runs', 'good.ndjson', ...onRedis(fleet), '--batch', 'taken');
    const { exitCode, stdout } = await evaluate(
      '--runs',
      'good.ndjson',
      ...onRedis(fleet),
      '--batch',
      'taken',
      '--strict',
      '--json',
    );
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout).error.code).toBe('BATCH_CONFLICT');
  });

  it('refuses runs that a complete batch does not have, and names these alone', async () => {
    const args = [...onRedis(newFleet()), '--batch', 'full', '--json'];
    await evaluate('--runs', 'good.ndjson', ...args);
    const { exitCode, stdout } = await evaluate('--runs', 'mixed.ndjson', ...args);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout).error.message).toBe(
      'Batch "full" takes no more runs, and run "b1" is not among its own; use another --batch.',
    );
  });

  it('writes every report, one object a line in decision order with its index', async () => {
    const reports = ['json=r.json', 'ndjson=r.ndjson', 'junit=r.xml', 'text=r.txt'].flatMap((r) => [
      '--report',
      r,
    ]);
    const { exitCode } = await evaluate('--runs', 'mixed.ndjson', ...onRedis(newFleet()), ...reports);
    expect(exitCode).toBe(1);
    const document = evaluateDocumentSchema.parse(JSON.parse(await readFile(file('r.json'), 'utf8')));
    const streamed = (await readFile(file('r.ndjson'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const inOrder = streamed
      .sort((a, b) => a.index - b.index)
      .map(({ index: _, ...evaluation }) => evaluation);
    expect(inOrder).toEqual(document.evaluations);
    expect(await readFile(file('r.xml'), 'utf8')).toContain('<testsuite');
    expect(await readFile(file('r.txt'), 'utf8')).toContain('3 evaluations');
  });

  it('refuses a report that cannot be written before anything is enqueued', async () => {
    const fleet = newFleet();
    const { exitCode, stderr } = await evaluate(
      '--runs',
      'good.ndjson',
      ...onRedis(fleet),
      '--report',
      `json=${dir}`,
    );
    expect(exitCode).toBe(2);
    expect(stderr).toContain('folder');
    expect(await keysOf(fleet)).toEqual([]);
  });

  it('reads runs from standard input', async () => {
    const args = ['evaluate', 'scenario.json', '--runs', '-', '--engine', 'inline', '--json'];
    const { exitCode, stdout } = await runSluice(args, { cwd: dir, input: lines([good('piped')]) });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).evaluations[0].run).toBe('piped');
  });
});

describe('Ctrl-C', () => {
  it('drains, says how to go on with exit 3, and the same batch finishes without a second decision', async () => {
    const fleet = newFleet();
    const runs = Array.from({ length: 1000 }, (_, n) => (n % 2 === 0 ? good(`r${n}`) : bad(`r${n}`)));
    await writeFile(file('many.ndjson'), lines(runs));
    const events = file('many-events.ndjson');
    const args = [
      'evaluate',
      'scenario.json',
      '--runs',
      'many.ndjson',
      '--redis',
      redis.url,
      '--fleet',
      fleet,
    ];
    const rest = ['--workers', '1', '--packing', 'off', '--sink', `ndjson=${events}`, '--batch', 'cut'];
    const child = await spawnSluice([...args, ...rest], { cwd: dir });
    const exit = waitForExit(child);
    const client = new Redis(redis.url);
    const decided = async () => Number((await client.hget(`${fleet}:{0}:batch:cut`, 'decided')) ?? 0);
    while ((await decided()) === 0 && child.exitCode === null) await client.ping();
    child.kill('SIGINT');
    const first = await exit;
    expect(first.stderr).toContain('--batch cut');
    expect(first.exitCode).toBe(3);
    const before = await decided();
    client.disconnect();
    expect(before).toBeLessThan(1000);
    const second = await runSluice([...args, ...rest, '--json'], { cwd: dir });
    expect(second.exitCode).toBe(1);
    expect(JSON.parse(second.stdout).batch).toMatchObject({ total: 1000, passed: 500, failed: 500 });
    const types = (await readFile(events, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const decisions = types.filter((event) => /evaluation\.(passed|failed)/.test(event.type));
    expect(new Set(decisions.map((event) => event.subject)).size).toBe(1000);
    expect(decisions).toHaveLength(1000);
  }, 120_000);
});
