import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../src/core/digest.js';
import type {
  Attachment,
  RegistryChange,
  RegistryDocument,
  RegistryEntry,
  SkillDocument,
} from '../../src/core/registry/model.js';
import type { Store } from '../../src/ports/store.js';
import { openMemoryStore } from '../../src/store/memory/index.js';
import { openRedisStore } from '../../src/store/redis/index.js';
import { useTestRedis } from '../support/use-redis.js';

const redis = useTestRedis();

const openFleet = (fleet = `f${randomBytes(4).toString('hex')}`) =>
  openRedisStore({ url: redis.url, fleet, outboxCap: 10 });

const adapters = [
  { name: 'redis', open: () => openFleet() },
  { name: 'memory', open: async () => openMemoryStore({ outboxCap: 10 }) },
];

const toolOf = (name: string, description = 'a tool'): RegistryDocument => ({
  kind: 'tool',
  name,
  description,
  source: 'code',
  capability: { read_only: true, writes: false, checkpointable: false, network: false },
  lifecycle: {},
  code: '({ args }) => args',
  idempotent: true,
});

const entryOf = (document: RegistryDocument, previous: string[] = []): RegistryEntry => ({
  document,
  version: digestOf(document),
  registeredAt: 1_700_000_000_000,
  actor: 'anna',
  previous,
});

const attachmentOf = (id: string, more: Partial<Attachment> = {}): Attachment => ({
  id,
  validation: 'local/v',
  resource: 'repo/a',
  arguments: { deep: { list: [1, 'ü', null] } },
  scope: 'direct',
  target: null,
  slot: null,
  attachedAt: 1_700_000_000_000,
  actor: 'anna',
  ...more,
});

const changeOf = (change: Partial<RegistryChange>): RegistryChange => ({
  put: [],
  remove: [],
  attach: [],
  detach: [],
  ...change,
});

const a = entryOf(toolOf('local/a'));
const b = entryOf(toolOf('local/b'));
const skill: SkillDocument = { kind: 'skill', name: 'local/s', description: 'a skill', tools: ['local/a'] };

describe.each(adapters)('the registry on $name', ({ open }) => {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  it('is empty at revision 0', async () => {
    expect(await store.registry.read()).toEqual({ revision: 0, entries: new Map(), attachments: [] });
    expect(await store.registry.version('nobody')).toBeUndefined();
  });

  it('puts documents of every kind and attachments in one step, and gives them back as they were', async () => {
    const change = changeOf({
      put: [b, entryOf(skill), a],
      attach: [attachmentOf('02'), attachmentOf('01', { scope: 'plan', target: 'p', slot: 'repo' })],
    });
    const after = await store.registry.change(0, change);
    expect(after).toEqual(await store.registry.read());
    expect(after?.revision).toBe(1);
    expect([...(after?.entries ?? [])]).toEqual([
      ['local/a', a],
      ['local/b', b],
      ['local/s', entryOf(skill)],
    ]);
    expect(after?.attachments).toEqual([change.attach[1], change.attach[0]]);
  });

  it('is the same object until it changes', async () => {
    const before = await store.registry.read();
    expect(await store.registry.read()).toBe(before);
    const first = await store.registry.change(0, changeOf({ put: [a] }));
    expect(first).not.toBe(before);
    expect(before.entries.size).toBe(0);
    const reads = await Promise.all([1, 2, 3].map(() => store.registry.read()));
    for (const read of reads) expect(read).toBe(first);
  });

  it('replaces and removes by name, detaches by id, and counts every change', async () => {
    await store.registry.change(
      0,
      changeOf({ put: [a, b], attach: ['1', '2', '3'].map((id) => attachmentOf(id)) }),
    );
    const newer = entryOf(toolOf('local/a', 'another'), [a.version]);
    const change = changeOf({ put: [newer], remove: ['local/b', 'local/nobody'], detach: ['2', 'nobody'] });
    const after = await store.registry.change(1, change);
    expect(after?.revision).toBe(2);
    expect([...(after?.entries.values() ?? [])]).toEqual([newer]);
    expect(after?.attachments.map(({ id }) => id)).toEqual(['1', '3']);
    expect((await store.registry.change(2, changeOf({})))?.revision).toBe(3);
  });

  it('lets what is put win over what is removed under the same name', async () => {
    await store.registry.change(0, changeOf({ put: [a], attach: [attachmentOf('1')] }));
    const newer = entryOf(toolOf('local/a', 'another'));
    const moved = attachmentOf('1', { resource: 'repo/b' });
    const change = changeOf({ put: [newer], remove: ['local/a'], attach: [moved], detach: ['1'] });
    const after = await store.registry.change(1, change);
    expect(after?.entries.get('local/a')).toEqual(newer);
    expect(after?.attachments).toEqual([moved]);
  });

  it('keeps every version readable when it is replaced or removed', async () => {
    const newer = entryOf(toolOf('local/a', 'another'), [a.version]);
    await store.registry.change(0, changeOf({ put: [a] }));
    await store.registry.change(1, changeOf({ put: [newer] }));
    await store.registry.change(2, changeOf({ remove: ['local/a'] }));
    expect(await store.registry.version(a.version)).toEqual(a.document);
    expect(await store.registry.version(newer.version)).toEqual(newer.document);
    expect((await store.registry.read()).entries.size).toBe(0);
  });

  it('changes nothing when another change came first', async () => {
    await store.registry.change(0, changeOf({ put: [a], attach: [attachmentOf('1')] }));
    const before = await store.registry.read();
    const late = changeOf({ put: [b], remove: ['local/a'], attach: [attachmentOf('2')], detach: ['1'] });
    for (const expected of [0, 2]) expect(await store.registry.change(expected, late)).toBeUndefined();
    expect(await store.registry.read()).toBe(before);
    expect(await store.registry.version(b.version)).toBeUndefined();
  });

  it('lets one of many changes at the same revision win', async () => {
    const entries = Array.from({ length: 8 }, (_, n) => entryOf(toolOf(`local/t${n}`)));
    const answers = await Promise.all(
      entries.map((entry) => store.registry.change(0, changeOf({ put: [entry] }))),
    );
    expect(answers.filter((answer) => answer !== undefined)).toHaveLength(1);
    const { revision, entries: stand } = await store.registry.read();
    expect([revision, stand.size]).toEqual([1, 1]);
  });

  it('holds nothing that the caller changes afterwards', async () => {
    const entry = structuredClone(a);
    await store.registry.change(0, changeOf({ put: [entry] }));
    entry.document.description = 'changed';
    expect((await store.registry.read()).entries.get('local/a')).toEqual(a);
    expect(await store.registry.version(a.version)).toEqual(a.document);
  });

  it('holds hundreds of documents in one change', async () => {
    const put = Array.from({ length: 500 }, (_, n) => entryOf(toolOf(`local/t${n}`, 'x'.repeat(2_000))));
    expect((await store.registry.change(0, changeOf({ put })))?.entries.size).toBe(500);
  });
});

describe('the registry of a fleet on Redis', () => {
  it('is one for all processes, and apart from that of another fleet', async () => {
    const [one, two, other] = await Promise.all([openFleet('one'), openFleet('one'), openFleet('other')]);
    await one.registry.change(0, changeOf({ put: [a] }));
    expect([...(await two.registry.read()).entries.keys()]).toEqual(['local/a']);
    await two.registry.change(1, changeOf({ remove: ['local/a'] }));
    expect((await one.registry.read()).entries.size).toBe(0);
    expect((await other.registry.read()).revision).toBe(0);
    for (const store of [one, two, other]) await store.close();
  });

  it('is read anew when Redis lost it and it came to the same revision again', async () => {
    const [one, two] = await Promise.all([openFleet('lost'), openFleet('lost')]);
    await one.registry.change(0, changeOf({ put: [a] }));
    await redis.client.flushall();
    expect((await two.registry.read()).revision).toBe(0);
    await two.registry.change(0, changeOf({ put: [b] }));
    expect([...(await one.registry.read()).entries.keys()]).toEqual(['local/b']);
    for (const store of [one, two]) await store.close();
  });

  it('never expires', async () => {
    const store = await openFleet('kept');
    await store.registry.change(0, changeOf({ put: [a], attach: [attachmentOf('1')] }));
    const keys = await redis.client.keys('kept:*');
    expect(keys.sort()).toEqual(
      ['registry', 'registry:attachments', 'registry:entries', `version:${a.version}`].map(
        (k) => `kept:{0}:${k}`,
      ),
    );
    for (const key of keys) expect(await redis.client.pttl(key)).toBe(-1);
    await store.close();
  });

  it('changes nothing by halves when the memory of Redis is used up', async () => {
    const store = await openFleet('full');
    await store.registry.change(0, changeOf({ put: [a], attach: [attachmentOf('1')] }));
    const change = changeOf({ put: [b], remove: ['local/a'], detach: ['1'] });
    await redis.client.config('SET', 'maxmemory', '1');
    await expect(store.registry.change(1, change)).rejects.toThrow(/OOM/);
    await redis.client.config('SET', 'maxmemory', '0');
    const stands = await store.registry.read();
    expect([stands.revision, [...stands.entries.keys()], stands.attachments.length]).toEqual([
      1,
      ['local/a'],
      1,
    ]);
    expect((await store.registry.change(1, change))?.revision).toBe(2);
    await store.close();
  });
});
