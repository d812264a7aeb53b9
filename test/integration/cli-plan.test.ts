import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSluice, type SluiceExit, spawnSluice, waitForExit } from '../support/cli.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const DOCUMENTS = `
name: enough-rows
code: '({ args, subject }) => ({ passed: subject.rows >= args.least, message: subject.rows + " rows" })'
input_schema: { type: object, properties: { least: { type: integer } }, required: [least] }
---
name: has-owner
mode: informational
code: '({ subject }) => ({ passed: subject.owner !== undefined, message: "no owner" })'
`;

let dir: string;
let redis: TestRedis;
let fleet: ChildProcessWithoutNullStreams;

const place = (name: string) => ['--redis', redis.url, '--fleet', name];
const on =
  (name: string) =>
  (line: string, ...more: string[]) => {
    const [kind = '', command = '', ...rest] = line.split(' ');
    return runSluice([kind, command, ...rest, ...more, ...place(name)], { cwd: dir });
  };
/** On the fleet that is up. */
const sluice = (line: string, ...more: string[]) => on('gate')(line, ...more);
/** On one that nobody works for. */
const idle = (line: string, ...more: string[]) => on('idle')(line, ...more);

const documentOf = ({ stdout }: SluiceExit) => JSON.parse(stdout);
const planOf = (exit: SluiceExit) => documentOf(exit).plan as Record<string, unknown>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-plan-'));
  redis = await startTestRedis();
  await writeFile(join(dir, 'checks.yaml'), DOCUMENTS);
  await writeFile(join(dir, 'none.json'), '{"rows": 0, "owner": "ann"}');
  await writeFile(join(dir, 'some.yaml'), 'rows: 5\n');
  await writeFile(join(dir, 'bad.yaml'), 'plans: {fixes: many}\n');
  fleet = await spawnSluice(['up', '--workers', '1', '--json', '--log-level', 'warn', ...place('gate')], {
    cwd: dir,
  });
  await once(fleet.stdout, 'data');
  for (const each of [sluice, idle]) {
    expect(await each('validation add checks.yaml')).toMatchObject({ exitCode: 0 });
    expect(await each('validation attach table/orders enough-rows --least 3')).toMatchObject({ exitCode: 0 });
    expect(await each('validation attach table/orders has-owner --project web')).toMatchObject({
      exitCode: 0,
    });
  }
}, 120_000);

afterAll(async () => {
  const ended = fleet === undefined ? undefined : waitForExit(fleet);
  fleet?.kill('SIGTERM');
  await ended;
  await redis?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe('a plan on the command line', () => {
  it('goes from its strategy over a failure and a fix through the gate', async () => {
    const created = await sluice('plan create p1 --project web --resource table/orders');
    expect(created).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('strategize at revision 1'),
    });
    expect(created.stdout).toContain('local/enough-rows');
    expect((await sluice('plan strategized p1 --revision 1')).exitCode).toBe(0);

    const failed = await sluice('plan executed p1 --snapshot table/orders=none.json --wait');
    expect(failed.exitCode).toBe(1);
    expect(failed.stdout).toContain('p1: fix at revision 4');
    expect(failed.stdout).toContain('FAIL local/enough-rows on table/orders: 0 rows');

    const fixed = await sluice('plan fix p1 --snapshot table/orders=some.yaml --wait 50s --json');
    expect(fixed.exitCode).toBe(0);
    const { phase, counters, snapshots } = planOf(fixed);
    expect([phase, counters]).toMatchObject(['ready', { fixes: 1 }]);

    const other = await sluice('plan apply p1 --snapshot table/orders=none.json --json');
    expect([other.exitCode, documentOf(other)]).toMatchObject([
      2,
      { error: { code: 'PLAN_REFUSED', problems: [{ code: 'WRONG_DIGEST' }] }, plan: { phase: 'ready' } },
    ]);
    const digest = (snapshots as Record<string, string>)['table/orders'];
    expect(await sluice(`plan apply p1 --digest table/orders=${digest}`)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('p1: applied'),
    });

    const status = await sluice('plan status p1 --json');
    const { timeline, evaluations, checks } = documentOf(status);
    expect(timeline.map(({ to }: { to: string }) => to).slice(0, 4)).toEqual([
      'strategize',
      'execute',
      'validate',
      'fix',
    ]);
    expect(evaluations.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 2, 2]);
    expect(checks).toContainEqual(
      expect.objectContaining({
        validation: 'local/enough-rows',
        first: { attempt: 1, outcome: 'fail', message: '0 rows' },
        final: { attempt: 2, outcome: 'pass', message: '5 rows' },
      }),
    );
    const text = (await sluice('plan status p1')).stdout;
    expect(text).toContain('fixes 1 of 3');
    expect(text).toMatch(/ADVISORY \(fail\) local\/has-owner/);

    const tail = await sluice('events tail --no-follow --plan p1');
    const types = tail.stdout.split('\n').map((line) => line.split('  ')[1]);
    expect(types.filter((type) => type?.startsWith('plan.') && type !== 'plan.phase.changed')).toEqual([
      'plan.retry.requested',
      'plan.gate.passed',
      'plan.applied',
    ]);
    expect(types).toContain('evaluation.failed');
    expect(types).toContain('advisory.raised');
  });

  it('validates again, and applies nothing, when attachments changed since the gate opened', async () => {
    const ready = await sluice('plan submit p2 --snapshot table/orders=some.yaml --wait --json');
    expect([ready.exitCode, planOf(ready).phase]).toEqual([0, 'ready']);
    const id = (await sluice('validation attach table/orders enough-rows --plan p2 --least 9')).stdout.trim();
    const closed = await sluice('plan apply p2 --snapshot table/orders=some.yaml --wait');
    expect(closed.exitCode).toBe(1);
    expect(closed.stdout).toContain('p2: fix');
    expect(closed.stderr).toMatch(
      /nothing was applied: .*everything was validated again, and the gate is shut/,
    );
    await sluice(`validation detach ${id}`);
    const status = await sluice('plan status p2');
    expect(status.stdout).toMatch(/apply +ready > validate .*not applied: the attachments have changed/);
    expect(status.stdout).toMatch(/\{"least":3\} +required {2}/);
    expect(status.stdout).toMatch(/\{"least":9\} +required, no longer attached/);
    const cancelled = await sluice('plan cancel p2 --reason', 'no more', '--json');
    expect(planOf(cancelled).phase).toBe('cancelled');
    expect((await sluice('plan status p2')).stdout).toContain('the gate was shut: ');
  });

  it('is one transition when a command comes twice, and a conflict when it says something else', async () => {
    const create = 'plan create p3 --command c1 --resource table/orders --json';
    expect(documentOf(await sluice(create)).repeated).toBe(false);
    expect(documentOf(await sluice(create))).toMatchObject({ repeated: true, plan: { revision: 1 } });
    const other = await sluice('plan create p3 --command c1 --resource table/other --json');
    expect([other.exitCode, documentOf(other).error.code]).toEqual([2, 'COMMAND_CONFLICT']);
  });

  it('refuses with the current state', async () => {
    await sluice('plan create p4 --resource table/orders');
    const stale = await sluice('plan strategized p4 --revision 7');
    expect([stale.exitCode, stale.stdout]).toEqual([2, '']);
    expect(stale.stderr).toContain('[STALE]');
    expect(stale.stderr).toContain('p4: strategize at revision 1');
    const early = await sluice('plan fix p4 --snapshot table/orders=some.yaml --json');
    expect([early.exitCode, documentOf(early)]).toMatchObject([
      2,
      { error: { problems: [{ code: 'WRONG_PHASE' }] }, plan: { id: 'p4', revision: 1 } },
    ]);
    const unknown = await sluice('plan status p44 --json');
    expect([unknown.exitCode, documentOf(unknown).error]).toMatchObject([2, { code: 'NOT_FOUND' }]);
  });
});

describe('a plan that nobody judges', () => {
  it('is accepted with a word about it, and listed', async () => {
    const submitted = await idle('plan submit q1 --snapshot', 'table/orders={"rows": 1}', '--project', 'web');
    expect(submitted.exitCode).toBe(0);
    expect(submitted.stdout).toContain('q1: validate at revision 1');
    expect(submitted.stderr).toContain('no worker and no aggregator is alive');
    const list = await idle('plan list --phase validate --project web --json');
    expect(documentOf(list).plans).toMatchObject([{ id: 'q1', project: 'web', phase: 'validate' }]);
    expect((await idle('plan list --phase ready')).stdout).toBe('');
  });

  it('is waited for no longer than asked, and not after Ctrl-C', async () => {
    const over = await idle('plan submit q2 --snapshot', 'table/orders={"rows": 1}', '--wait', '500ms');
    expect([over.exitCode, over.stderr]).toEqual([3, expect.stringContaining('still being judged')]);
    expect(over.stdout).not.toContain('the gate');
    const args = [
      'plan',
      'submit',
      'q3',
      '--snapshot',
      'table/orders={}',
      '--wait',
      '--json',
      ...place('idle'),
    ];
    const child = await spawnSluice(args, { cwd: dir });
    const exit = waitForExit(child);
    // That it waits is told once the roles have been missing for five seconds.
    await once(child.stderr, 'data');
    child.kill('SIGINT');
    const { exitCode, stdout } = await exit;
    expect([exitCode, JSON.parse(stdout).error.code]).toEqual([3, 'INTERRUPTED']);
    expect(planOf(await idle('plan status q3 --json')).phase).toBe('validate');
  });
});

describe('a mistake in a plan command', () => {
  it('is told with all others, before anything is done', async () => {
    const wrong = await sluice(
      'plan fix p9 --snapshot table/orders=gone.json nothing --wait soon --revision x --actor',
      ' ',
      '--json',
    );
    expect(wrong.exitCode).toBe(2);
    const paths = documentOf(wrong).error.problems.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['--snapshot table/orders', '--snapshot', '--revision', '--wait', '--actor']);
  });

  it.each([
    ['respond p1 retri', 'answer'],
    ['apply p1', '--digest'],
    ['apply p1 --digest table/orders=123', '--digest table/orders'],
    ['executed p1', '--snapshot'],
    ['create p1', '--resource'],
    ['list --phase vaildate', '--phase'],
    ['list --limit none', '--limit'],
    ['list --log-level loud', '--log-level'],
    ['list --config bad.yaml', 'plans.fixes'],
  ])('plan %s is told at %s', async (line, path) => {
    const wrong = await sluice(`plan ${line} --json`);
    const [problem] = documentOf(wrong).error.problems;
    expect([wrong.exitCode, problem.path]).toEqual([2, path]);
    expect(problem.code).toMatch(/^[A-Z_]+$/);
  });

  it('says of a plan that is to be made that none was', async () => {
    const wrong = await sluice('plan create', 'bad id', '--resource', 'table/orders');
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('no plan was made')]);
  });

  it('is told by the tail of a plan that there is not', async () => {
    const tail = await idle('events tail --no-follow --plan nope');
    expect(tail).toMatchObject({ exitCode: 0, stdout: '' });
    expect(tail.stderr).toContain('there is no plan "nope"');
  });
});
