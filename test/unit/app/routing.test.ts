import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Routing } from '../../../src/app/routing.js';
import { ScenarioCache } from '../../../src/app/scenarios.js';
import type { Chunk } from '../../../src/core/manifest.js';
import { sealTool } from '../../../src/core/registry/closure.js';
import type { CallableDocument } from '../../../src/core/registry/model.js';
import type { Scenario } from '../../../src/core/scenario/model.js';
import type { Blob, Store } from '../../../src/ports/store.js';
import { openMemoryStore } from '../../../src/store/memory/index.js';
import { blobOf, checkResult, chunkOf, openingOf, packOf, sealed } from '../../support/evidence.js';
import { check, chunkWith } from '../core/plan/build.js';

const NOW = 1_700_000_000_000;
const FLEET = 'f';

const pure = sealed('pure', { job: [{ label: 'few', validator: 'task_count', max: 3 }] });
const mixed = sealed('mixed', {
  job: [
    { label: 'few', validator: 'task_count', max: 3 },
    { label: 'disk', validator: 'ansible', ansiblePath: 'a.yml' },
    { label: 'gone', validator: 'ansible', ansiblePath: 'b.yml' },
  ],
});

const tool = (fields: Partial<CallableDocument>): Blob => {
  const document = { kind: 'tool', name: 'local/t', description: '', lifecycle: {}, ...fields };
  const { digest, json } = sealTool({ chain: [document as CallableDocument] });
  return { digest, content: json };
};
const command = tool({ source: 'command', command: ['true'] });
const scan = tool({ source: 'mcp', mcp_server: 'x', mcp_tool_name: 'scan' });
const graph = tool({ source: 'graph' });

describe('a look at what waits for a runner', () => {
  let store: Store;
  let now: number;
  beforeEach(async () => {
    now = NOW;
    store = openMemoryStore({ outboxCap: 1000 });
    await store.batches.openBatch(openingOf('b', []));
  });

  const routing = () => {
    const scenarios = new ScenarioCache(store.evaluations);
    return new Routing({ store, clock: { now: () => now }, fleet: FLEET, scenarios });
  };
  const alive = (id: string, ...serves: string[]) => store.roster.beat('worker', id, now, serves);
  const accept = async (chunk: Chunk, blobs: readonly Blob[]) => {
    const open = { ...chunk, batch: 'b' };
    await store.evaluations.accept(open, blobs, [], NOW, NOW + 1e6);
    return open;
  };
  const ofScenario = (scenario: Scenario, n = 1) =>
    accept(chunkOf('b', 'e', n, { scenario: scenario.digest }), [blobOf(scenario)]);
  const ofPlan = (...versions: Blob[]) => {
    const checks = versions.map(({ digest }, n) => check(`a${n}`, { runner: 'runner', version: digest }));
    return accept(chunkWith([check('pure'), ...checks]), versions);
  };
  const marks = async () => (await store.unserved.list(10)).map(({ needs }) => needs);
  const events = async () =>
    (await store.outbox.events('', 100, 0)).map(({ event }) => JSON.parse(event.json));

  it('costs nothing where no check has a runner', async () => {
    const many = await ofScenario(mixed, 2);
    const one = await accept(chunkOf('b', 'p', 1, { scenario: pure.digest }), [blobOf(pure)]);
    const plan = await accept(chunkWith([check('a')]), []);
    const recorded = vi.spyOn(store.evaluations, 'recorded');
    const roster = vi.spyOn(store.roster, 'alive');
    for (const chunk of [many, one, plan]) await routing().look(chunk);
    await routing().lookAgain();
    expect(recorded).not.toHaveBeenCalled();
    expect(roster).not.toHaveBeenCalled();
  });

  it('notes the playbooks of a scenario while no living worker runs any', async () => {
    const chunk = await ofScenario(mixed);
    await alive('w', 'command', 'graph', 'pure');
    await routing().look(chunk);
    expect(await marks()).toEqual([['ansible']]);
    expect(await events()).toMatchObject([
      { subject: 'e-0', data: { scenario: 'mixed', needs: ['ansible'], checks: 2, workers_total: 1 } },
    ]);
    now += 10_000;
    await routing().look(chunk);
    expect(await events()).toHaveLength(1);
  });

  it('takes a worker for dead that has not beaten for six seconds', async () => {
    const chunk = await ofScenario(mixed);
    await alive('w', 'ansible', 'graph', 'pure');
    await routing().look(chunk);
    expect(await marks()).toEqual([]);
    now += 6001;
    await routing().look(chunk);
    expect(await marks()).toEqual([['ansible']]);
  });

  it('names what is lacking of a plan, and nothing that has its result', async () => {
    const chunk = await ofPlan(command, scan, graph);
    await alive('w', 'pure');
    await routing().look(chunk);
    expect(await marks()).toEqual([['command', 'graph', 'mcp:x']]);
    await alive('w', 'command', 'graph', 'pure');
    await routing().lookAgain();
    expect(await marks()).toEqual([['mcp:x']]);
    await store.evaluations.record(chunk.id, packOf(0, 2, [checkResult('pass')]));
    await routing().look(chunk);
    expect(await marks()).toEqual([]);
    expect((await events()).map(({ data }) => data.checks)).toEqual([3, 1]);
  });

  it('forgets what is served again, and tells anew when it is not', async () => {
    const chunk = await ofPlan(command);
    await routing().look(chunk);
    await alive('w', 'command', 'graph', 'pure');
    await routing().lookAgain();
    expect(await marks()).toEqual([]);
    now += 10_000;
    await routing().look(chunk);
    expect(await marks()).toEqual([['command']]);
    expect(new Set((await events()).map(({ id }) => id)).size).toBe(2);
  });

  describe('at the deadline', () => {
    const recorded = async (chunk: Chunk) =>
      (await store.evaluations.recorded(chunk.id)).flatMap(({ texts, evaluations }) =>
        evaluations.flatMap(({ firstCheck, rows }) =>
          rows.map(
            (row, n) => row && [firstCheck + n, texts[row[1]], (row[2] as { reason?: string }).reason],
          ),
        ),
      );

    it('gives those alone that waited in vain a result that says so', async () => {
      const chunk = await ofPlan(command, scan);
      await alive('w', 'command', 'graph', 'pure');
      await routing().look(chunk);
      now += 1000;
      await routing().giveUp(chunk);
      const since = new Date(NOW).toISOString();
      const message = `no result: no living worker served mcp:x from ${since} until the deadline`;
      expect((await recorded(chunk)).filter((row) => row !== null)).toEqual([[2, message, 'no_runner']]);
    });

    it('says so as well where the deadline came before the first look', async () => {
      const chunk = await ofScenario(mixed);
      await routing().giveUp(chunk);
      const message = 'no result: no living worker served ansible at the deadline';
      expect(await recorded(chunk)).toEqual([null, [1, message, 'no_runner'], [2, message, 'no_runner']]);
    });

    it('says nothing where it was served', async () => {
      const chunk = await ofPlan(command);
      await alive('w', 'command', 'graph', 'pure');
      await routing().giveUp(chunk);
      expect(await recorded(chunk)).toEqual([]);
    });
  });
});
