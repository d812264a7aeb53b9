import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sealBatch } from '../../src/app/batches.js';
import { openBatch } from '../../src/app/opening.js';
import { Submitter } from '../../src/app/submit.js';
import { startAggregator } from '../../workers/aggregator.js';
import { startExecutor } from '../../workers/executor.js';
import type { Role } from '../../workers/lifecycle.js';
import { blobOf, openingOf, sealed, submission } from '../support/evidence.js';
import {
  configWith,
  evaluationsOf,
  judgeBatch,
  openTestFleet,
  submitSettings,
  type TestFleet,
} from '../support/fleet.js';
import { useTestRedis } from '../support/use-redis.js';

const ok = { label: 'ok', validator: 'job_resolution_status', pattern: 'success' };
const scenario = sealed('s', { job: [ok, { label: 'few', validator: 'task_count', max: 3 }] });
const other = sealed('other', { job: [ok] });
const good = (id: string) => ({ id, job: { resolution_status: 'success', plan: id } });
const runs = [
  submission(0, scenario, good('r0')),
  submission(1, scenario, good('r1')),
  submission(2, other, good('r2')),
];

const redis = useTestRedis();

describe('when what a check needs is gone or spoilt', () => {
  let fleet: TestFleet;
  const started: Role[] = [];
  beforeEach(async () => {
    fleet = await openTestFleet(redis.url, configWith(), []);
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((role) => role.stop()));
    await fleet.close();
  });
  const key = (name: string) => `${fleet.engine.config.fleet}:{0}:${name}`;

  /** Accepts the runs, spoils something, and only then lets the fleet work. */
  async function judged(packing: 'auto' | 'off', spoil: (chunk: string) => Promise<unknown>) {
    const { store, clock, config } = fleet.engine;
    const opening = await openBatch(store, openingOf('b', [scenario, other]));
    const settings = submitSettings(config, { packing });
    const submitter = new Submitter(fleet.engine, settings, opening, [blobOf(scenario), blobOf(other)]);
    for (const run of runs) await submitter.add(run);
    await submitter.finish();
    await sealBatch(store, clock, config.fleet, 'b', runs.length);
    const [chunk] = await store.batches.chunksOf('b');
    await spoil(chunk?.id ?? '');
    started.push(await startExecutor(fleet.engine), await startAggregator(fleet.engine));
    await vi.waitFor(async () => expect((await store.batches.batch('b'))?.state).toBe('completed'), {
      timeout: 30_000,
      interval: 50,
    });
    const evaluations = await evaluationsOf(store, 'b');
    return evaluations.map(({ passed, results }) => [passed, ...results.map(({ outcome }) => outcome)]);
  }
  const plain = [
    [true, 'pass', 'pass'],
    [true, 'pass', 'pass'],
    [true, 'pass'],
  ];

  describe.each(['auto', 'off'] as const)('with packing %s', (packing) => {
    it('nothing is an error while nothing is', async () => {
      expect(await judged(packing, async () => {})).toEqual(plain);
    });

    it.each([
      ['deleted', (at: string) => redis.client.del(at)],
      ['no JSON', (at: string) => redis.client.set(at, '{')],
      ['not a record', (at: string) => redis.client.set(at, '"text"')],
      ['null', (at: string) => redis.client.set(at, 'null')],
    ])('a subject that is %s makes its own checks errors alone', async (_how, spoil) => {
      const found = await judged(packing, () => spoil(key(`blob:${runs[1]?.subject.digest}`)));
      expect(found).toEqual(plain.with(1, [false, 'error', 'error']));
    });

    it.each([
      ['deleted', (at: string) => redis.client.del(at)],
      ['no scenario', (at: string) => redis.client.set(at, '{"rules": 5}')],
    ])('a scenario that is %s makes its own evaluations errors alone', async (_how, spoil) => {
      const found = await judged(packing, () => spoil(key(`blob:${other.digest}`)));
      expect(found.slice(0, 2)).toEqual(plain.slice(0, 2));
      expect(found[2]?.[0]).toBe(false);
      expect(await fleet.engine.store.batches.batch('b')).toMatchObject({ passed: 2, errored: 1, failed: 0 });
    });

    it.each([
      ['text', 'no json at all', 'pass'],
      ['null', 'null', 'pass'],
      ['an empty list', '[]', 'pass'],
      ['no position', '{"evaluations":[{"rows":[[0,0,{},0,1,-1,1]]}]}', 'pass'],
      ['rows that are none', '{"evaluations":[{"position":0,"firstCheck":0,"rows":["pass"]}]}', 'error'],
      [
        'a row without its words',
        '{"texts":[],"evaluations":[{"position":0,"firstCheck":0,"rows":[[0,7,{},0,1,-1,1]]}]}',
        'error',
      ],
      ['half a row', '{"evaluations":[{"position":0,"firstCheck":0,"rows":[[0]]}]}', 'error'],
    ])('a recorded result that is %s is never a pass and holds up nothing', async (_what, record, first) => {
      const found = await judged(packing, (chunk) => redis.client.rpush(key(`res:${chunk}`), record));
      expect(found).toEqual(plain.with(0, [first === 'pass', first, 'pass']));
    });

    it('a job whose payload is spoilt ends as an error, the others do not', async () => {
      const found = await judged(packing, async (chunk) => {
        await redis.client.hset(key(`pure:${chunk}-1-1-0`), 'data', '{"chunk":""}');
      });
      if (packing === 'off') expect(found).toEqual(plain.with(0, [false, 'error', 'pass']));
      else expect(found.flat()).not.toContain('pass');
    });
  });

  it('a batch with other scenarios or options under the same id is refused, the same one is finished', async () => {
    const input = { id: 'b', scenarios: [scenario, other], submissions: runs };
    started.push(await startExecutor(fleet.engine), await startAggregator(fleet.engine));
    await judgeBatch(fleet.engine, input);
    const again = await judgeBatch(fleet.engine, input);
    expect(again).toMatchObject({ state: 'completed', total: 3, decided: 3 });
    const changed = sealed('s', { job: [ok] });
    await expect(judgeBatch(fleet.engine, { ...input, scenarios: [changed, other] })).rejects.toThrow(
      /scenario s has changed since/,
    );
    const more = [...runs, submission(3, other, good('r3'))];
    await expect(judgeBatch(fleet.engine, { ...input, submissions: more })).rejects.toThrow(
      /takes no more runs/,
    );
  });
});
