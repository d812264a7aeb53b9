import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sha256 } from '../../src/core/digest.js';
import {
  blobOf,
  checkResult,
  chunkOf,
  decisionOf,
  event,
  openingOf,
  packOf,
  sealed,
  submission,
} from '../support/evidence.js';
import {
  configWith,
  evaluationsOf,
  judgeBatch,
  openTestFleet,
  outboxOf,
  type TestFleet,
} from '../support/fleet.js';
import { useTestRedis } from '../support/use-redis.js';

const scenario = sealed('s', {
  job: [{ label: 'ok', validator: 'job_resolution_status', pattern: 'success' }],
});

const redis = useTestRedis();

describe('a Redis whose memory is used up', () => {
  let fleet: TestFleet;
  beforeEach(async () => {
    // The events of these tests are made up.
    vi.stubEnv('SLUICE_CHECK_EVENTS', '0');
    fleet = await openTestFleet(redis.url, configWith(), []);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await redis.client.config('SET', 'maxmemory', '0');
    await fleet.close();
  });
  const full = () => redis.client.config('SET', 'maxmemory', '1');
  const free = () => redis.client.config('SET', 'maxmemory', '0');
  const accept = (name: string, subject: string) => {
    const chunk = chunkOf('b', name, 3, { scenario: scenario.digest, subject: sha256(subject) });
    const blobs = [blobOf(scenario), { digest: sha256(subject), content: subject }];
    const later = Date.now() + 10_000_000;
    return fleet.engine.store.evaluations.accept(chunk, blobs, [event(`${name}-e`)], 0, later);
  };

  it('accepts nothing by halves, and goes on when there is memory again', async () => {
    const { store } = fleet.engine;
    await store.batches.openBatch(openingOf('b', [scenario]));
    await accept('before', 'one');
    // A lease that is to be prolonged is a write that a full Redis takes.
    await redis.client.pexpire(`${fleet.engine.config.fleet}:{0}:blob:${scenario.digest}`, 5_000_000);
    await full();
    await expect(accept('during', 'two')).rejects.toThrow(/OOM/);
    await expect(accept('again', 'one')).rejects.toThrow(/OOM/);
    expect(await store.evaluations.chunks(['during-0', 'again-0'])).toEqual([undefined, undefined]);
    expect(await store.evaluations.locate(['during-0', 'again-2'])).toEqual([undefined, undefined]);
    expect(await store.evaluations.dueChunks(Date.now(), 10)).toEqual(['before-0']);
    expect((await store.batches.batch('b'))?.accepted).toBe(3);
    expect(await outboxOf(store)).toHaveLength(1);
    await free();
    expect(await accept('during', 'two')).toEqual({ accepted: true });
    expect(await store.evaluations.blobs([sha256('two')])).toEqual(['two']);
  });

  it('decides nothing by halves, and goes on when there is memory again', async () => {
    const { store } = fleet.engine;
    await store.batches.openBatch(openingOf('b', [scenario]));
    await accept('c', 'one');
    const chunk = chunkOf('b', 'c', 3);
    const decisions = [0, 1, 2].map((position) => decisionOf(chunk, position, 'passed'));
    const commit = () => store.evaluations.commit(chunk, 's', 'results', decisions, Date.now(), 60_000);
    await full();
    await expect(store.evaluations.record('c-0', packOf(0, 0, [checkResult('pass')]))).rejects.toThrow(/OOM/);
    await expect(commit()).rejects.toThrow();
    expect(await store.evaluations.decisions('c-0')).toEqual([]);
    expect((await store.batches.batch('b'))?.decided).toBe(0);
    await free();
    expect(await commit()).toMatchObject({ fresh: [0, 1, 2], chunkDone: true });
    expect((await store.evaluations.decisions('c-0')).map((d) => d.results)).toEqual([
      'results',
      'results',
      'results',
    ]);
  });

  it('refuses a batch cleanly, and finishes it when it is called again', async () => {
    const submissions = Array.from({ length: 20 }, (_, i) =>
      submission(i, scenario, { id: `r${i}`, job: { resolution_status: 'success', plan: `p${i}` } }),
    );
    const input = { id: 'b', scenarios: [scenario], submissions };
    await fleet.engine.store.batches.openBatch(openingOf('b', [scenario]));
    await full();
    await expect(judgeBatch(fleet.engine, input)).rejects.toThrow(/OOM/);
    await free();
    const workers = await openTestFleet(redis.url, fleet.engine.config);
    try {
      const batch = await judgeBatch(fleet.engine, input);
      expect(batch).toMatchObject({ state: 'completed', total: 20, passed: 20 });
      expect(await evaluationsOf(fleet.engine.store, 'b')).toHaveLength(20);
    } finally {
      await workers.close();
    }
  });

  it('is waited out by what is in hand, however often it refuses: no verdict is lost to it', async () => {
    const config = configWith({ worker: { tries: 1 } });
    const workers = await openTestFleet(redis.url, config);
    const { evaluations } = workers.engine.store;
    const record = evaluations.record.bind(evaluations);
    let refusals = 0;
    evaluations.record = async (chunk, results) => {
      refusals += 1;
      if (refusals <= 3) throw new Error("OOM command not allowed when used memory > 'maxmemory'.");
      return record(chunk, results);
    };
    try {
      const one = submission(0, scenario, { id: 'r', job: { resolution_status: 'success' } });
      const batch = await judgeBatch(workers.engine, { id: 'b', scenarios: [scenario], submissions: [one] });
      expect(batch).toMatchObject({ state: 'completed', passed: 1, errored: 0 });
      expect(refusals).toBe(4);
    } finally {
      await workers.close();
    }
  });
});
