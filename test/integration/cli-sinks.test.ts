import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSluice, spawnSluice } from '../support/cli.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const SCENARIO = { key: 's', validation: { job: [{ label: 'few', validator: 'task_count', max: 3 }] } };
const RUNS = Array.from({ length: 7 }, (_, n) => `{"id":"r${n}"}\n`).join('');

let dir: string;
let redis: TestRedis;
const file = (name: string) => join(dir, name);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-sinks-'));
  redis = await startTestRedis();
  await writeFile(file('scenario.json'), JSON.stringify(SCENARIO));
  await writeFile(file('runs.ndjson'), RUNS);
  await runSluice(['--version']);
}, 120_000);

afterAll(async () => {
  await redis?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function settings(name: string, value: object): Promise<string> {
  await writeFile(file(name), JSON.stringify(value));
  return name;
}

const evaluate = (...args: string[]) =>
  runSluice(['evaluate', '.', '--runs', 'runs.ndjson', ...args], { cwd: dir });

async function typesIn(name: string): Promise<string[]> {
  const text = await readFile(file(name), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line).type);
}

const engines = () => ({ inline: ['--engine', 'inline'], fleet: ['--redis', redis.url, '--workers', '1'] });

describe('a configured sink', () => {
  it.each(['inline', 'fleet'] as const)('has every event when evaluate ends, %s engine', async (engine) => {
    const config = await settings(`${engine}.json`, { fleet: engine, sinks: [`ndjson=${engine}.ndjson`] });
    const { exitCode, stderr } = await evaluate('--config', config, ...engines()[engine]);
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('lacks')]);
    const types = await typesIn(`${engine}.ndjson`);
    expect(types.filter((type) => type.includes('evaluation.accepted'))).toHaveLength(7);
    expect(types.filter((type) => type.includes('evaluation.passed'))).toHaveLength(7);
    expect(types.filter((type) => type.includes('batch.completed'))).toHaveLength(1);
  });

  it('is checked with everything else before anything is judged', async () => {
    const config = await settings('wrong.json', { sinks: ['ndjso=x', 'ndjson=none/there/x'] });
    const args = ['--config', config, '--engine', 'inline', '--json', '--sink', 'kafka=x'];
    const { exitCode, stdout } = await evaluate(...args);
    expect(exitCode).toBe(2);
    const { problems } = JSON.parse(stdout).error;
    expect(problems).toEqual([
      expect.objectContaining({
        path: '--sink',
        found: 'kafka=x',
        allowed: expect.arrayContaining(['ndjson', 'redis-stream', 'stdout']),
      }),
      expect.objectContaining({ path: 'sinks[0]', found: 'ndjso=x', nearest: 'ndjson' }),
      expect.objectContaining({ path: 'sinks[1]', found: 'ndjson=none/there/x' }),
    ]);
  });
});

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

describe('a sink with settings', () => {
  it.each(['inline', 'fleet'] as const)(
    'gets what its filter and projection say, %s engine',
    async (engine) => {
      const target = `${engine}-picked.ndjson`;
      const sink = {
        name: `picked-${engine}`,
        kind: 'ndjson',
        target,
        types: ['evaluation.*'],
        scenarios: ['s'],
        projection: '$contains(type, "passed") ? {"run": data.run, "percent": data.score.percent}',
        order: 'subject',
      };
      const other = { kind: 'ndjson', target: `${engine}-other.ndjson`, scenarios: ['another'] };
      const config = await settings(`${engine}-picked.json`, { fleet: `p-${engine}`, sinks: [sink, other] });
      const { exitCode, stderr } = await evaluate('--config', config, ...engines()[engine]);
      expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('lacks')]);
      const lines = linesOf(await readFile(file(target), 'utf8')).map((line) => JSON.parse(line));
      lines.sort((a, b) => (a.run < b.run ? -1 : 1));
      expect(lines).toEqual(Array.from({ length: 7 }, (_, n) => ({ run: `r${n}`, percent: 100 })));
      expect(await readFile(file(`${engine}-other.ndjson`), 'utf8')).toBe('');
    },
  );

  it('has all its problems told at once', async () => {
    const sink = {
      kind: 'redis-stream',
      target: 'redis://u:hunter2@h:1',
      types: ['evaluation.faild'],
      projection: '(',
    };
    const config = await settings('unusable.json', {
      sinks: [sink, { kind: 'ndjson', target: 'x', options: { a: 1 } }],
    });
    const { exitCode, stdout } = await evaluate('--config', config, '--engine', 'inline', '--json');
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout).error.problems).toEqual([
      expect.objectContaining({ path: 'sinks[0]', message: expect.stringContaining('lacks the key') }),
      expect.objectContaining({ path: 'sinks[0].types[0]', nearest: 'evaluation.failed' }),
      expect.objectContaining({ path: 'sinks[0].projection' }),
      expect.objectContaining({ path: 'sinks[1].options.a', message: 'unknown key' }),
    ]);
    expect(stdout).not.toContain('hunter2');
  });
});

describe('the sink stdout', () => {
  it.each(['inline', 'fleet'] as const)('has standard output for itself, %s engine', async (engine) => {
    const { exitCode, stdout, stderr } = await evaluate('--sink', 'stdout=-', ...engines()[engine]);
    expect(exitCode).toBe(0);
    const types = linesOf(stdout).map((line) => JSON.parse(line).type as string);
    expect(types.filter((type) => type.includes('evaluation.passed'))).toHaveLength(7);
    expect(stderr).toContain('7');
  });

  it.each([['--json'], ['--report', 'junit=-']])('is refused beside %s %s', async (...given) => {
    const { exitCode, stdout, stderr } = await evaluate('--sink', 'stdout=-', '--engine', 'inline', ...given);
    expect(exitCode).toBe(2);
    expect(stdout + stderr).toContain(`standard output is taken by ${given.join(' ')}`);
  });

  it('lets the batch end when its reader goes away', async () => {
    const child = await spawnSluice(
      ['evaluate', '.', '--runs', 'runs.ndjson', '--sink', 'stdout=-', '--engine', 'inline'],
      { cwd: dir },
    );
    child.stdout.destroy();
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
  }, 30_000);
});
