import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAggregator } from '../../workers/aggregator.js';
import { startExecutor } from '../../workers/executor.js';
import { startSweeper } from '../../workers/sweeper.js';
import { runSluice, spawnSluice, waitForExit } from '../support/cli.js';
import { fakeRunners } from '../support/fake-runners.js';
import { configWith, openTestFleet, type TestFleet } from '../support/fleet.js';
import { AGENT, attach, placeOf, register } from '../support/plan-play.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const PLAY =
  '- hosts: localhost\n  gather_facts: false\n  tasks:\n    - ansible.builtin.assert: {that: [true]}\n';
const SCENARIO = {
  key: 'disk',
  validation: { job: [{ label: 'mounted', validator: 'ansible', ansiblePath: 'check.yml' }] },
};

let dir: string;
let redis: TestRedis;
let fleet: TestFleet;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-routing-'));
  redis = await startTestRedis();
  await mkdir(join(dir, 'disk'));
  await writeFile(join(dir, 'disk', 'scenario.json'), JSON.stringify(SCENARIO));
  await writeFile(join(dir, 'disk', 'check.yml'), PLAY);
  await writeFile(join(dir, 'runs.ndjson'), '{"id":"a"}\n');
  await writeFile(join(dir, 'soon.yaml'), 'sweeper: { check_after: 300ms }\n');
  const settings = { sweeper: { every: '200ms', check_after: '300ms' } };
  fleet = await openTestFleet(redis.url, configWith(settings), []);
  fleet.roles.push(
    await startExecutor(fleet.engine, fakeRunners([])),
    await startAggregator(fleet.engine),
    await startSweeper(fleet.engine),
  );
}, 120_000);

afterAll(async () => {
  await fleet?.close();
  await redis?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe('where no living worker serves a check', () => {
  const sluice = (...args: string[]) => {
    const place = ['--redis', redis.url, '--fleet', fleet.engine.config.fleet, '--config', 'soon.yaml'];
    return spawnSluice([...args, ...place], { cwd: dir });
  };

  it('plan status, --wait, doctor and evaluate say so, and what to type', async () => {
    const place = placeOf(fleet.engine);
    await register(place, [{ name: 'tests', description: 'tests', command: ['/bin/true'], read_only: true }]);
    await attach(place, 'repo/app', ['tests']);
    const snapshots = { 'repo/app': {} };
    await place.plans.run({ type: 'submit', plan: 'p', command: 'c0', snapshots, actor: AGENT });
    const evaluating = await sluice('evaluate', 'disk', '--runs', 'runs.ndjson', '--workers', '0', '--json');
    const evaluated = waitForExit(evaluating);
    const said = new Promise<string>((resolve) => {
      let text = '';
      evaluating.stderr.on('data', (piece: Buffer) => {
        text += String(piece);
        if (text.includes('Start a worker')) resolve(text);
      });
    });
    const waiting = waitForExit(
      await sluice('plan', 'submit', 'q', '--snapshot', 'repo/app={}', '--wait', '8s'),
    );
    expect(await said).toMatch(
      /an evaluation waits for ansible, which no living worker serves\. Start a worker .*: sluice worker --redis/,
    );
    const told = await waiting;
    expect(told.stderr).toMatch(
      /plan q waits for command, which no living worker serves, since .*sluice worker/,
    );
    expect(told.exitCode).toBe(3);

    const [status, text, doctor] = await Promise.all(
      [
        ['plan', 'status', 'p', '--json'],
        ['plan', 'status', 'p'],
        ['doctor', '--json'],
      ].map(async (args) => waitForExit(await sluice(...args))),
    );
    expect(JSON.parse(status?.stdout ?? '')).toMatchObject({ unserved: { needs: ['command'] } });
    expect(text?.stdout).toContain('waits for command, which no living worker serves, since ');
    const { checks } = JSON.parse(doctor?.stdout ?? '') as { checks: { name: string; found: string }[] };
    const found = checks.filter(({ name }) => name === 'runners').map((each) => each.found);
    expect(found).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^pure is served by one worker: /),
        expect.stringMatching(/^1 evaluation waits for ansible since /),
        expect.stringMatching(/^2 evaluations wait for command since /),
      ]),
    );
    evaluating.kill('SIGINT');
    expect((await evaluated).exitCode).toBe(3);
  }, 120_000);
});

describe('where nobody else is expected', () => {
  it.concurrent.each(['fleet', 'inline'])(
    'it is an error at once on the engine %s, which says what is missing',
    async (engine) => {
      const home = join(dir, engine);
      const bin = join(home, 'bin');
      await mkdir(bin, { recursive: true });
      // A machine with Redis and without Ansible.
      for (const name of ['redis-server', 'redis-cli', 'bwrap'])
        await symlink(`/usr/bin/${name}`, join(bin, name));
      const started = Date.now();
      const { exitCode, stdout, stderr } = await runSluice(
        ['evaluate', '../disk', '--runs', '../runs.ndjson', '--engine', engine, '--json'],
        { cwd: home, env: { PATH: bin } },
      );
      expect(stderr).not.toContain('refused');
      expect(exitCode).toBe(1);
      const [evaluation] = (JSON.parse(stdout) as { evaluations: { results: unknown[] }[] }).evaluations;
      expect(evaluation?.results).toMatchObject([
        { outcome: 'error', message: expect.stringMatching(/needs ansible \(.*not in PATH.*sluice doctor/) },
      ]);
      expect(Date.now() - started).toBeLessThan(50_000);
    },
    120_000,
  );
});
