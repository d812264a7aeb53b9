import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Engine, openInline } from '../../src/compose.js';
import type { DeadLetter } from '../../src/ports/dead-letters.js';
import { configWith, silent } from '../support/fleet.js';
import { startTestServer, type TestServer } from '../support/http.js';

let engine: Engine;
let server: TestServer;

beforeEach(async () => {
  engine = openInline(configWith(), silent);
  server = await startTestServer(engine);
});

afterEach(async () => {
  await server.close();
  await engine.close();
});

async function ask(method: string, path: string, body?: unknown) {
  const response = await server.ask(method, path, body === undefined ? {} : { body });
  // biome-ignore lint/suspicious/noExplicitAny: what the API answers is looked at key by key
  return { status: response.status, body: (await response.json()) as any };
}

const validation = (name: string, more: object = {}) => ({
  kind: 'validation',
  name,
  description: 'Always passes',
  code: '() => ({ passed: true, message: "" })',
  ...more,
});

describe('the registry over HTTP', () => {
  it('takes documents together, and shows them so that they can be registered again', async () => {
    const documents = [
      { kind: 'skill', name: 'acme/all', tools: ['acme/one', 'local/two'] },
      validation('acme/one'),
      validation('two'),
    ];
    const { status, body } = await ask('POST', '/v1/documents', documents);
    expect(status).toBe(200);
    expect(body.registered.map((each: { status: string }) => each.status)).toEqual([
      'added',
      'added',
      'added',
    ]);
    const shown = await ask('GET', '/v1/validations/acme/one');
    expect(shown.body).toMatchObject({ name: 'acme/one', 'x-registered': { actor: 'operator' } });
    const again = await ask('POST', '/v1/documents', shown.body);
    expect(again.body.registered).toMatchObject([{ name: 'acme/one', status: 'unchanged' }]);
  });

  it('tells every problem of every document, and registers none', async () => {
    const { status, body } = await ask('POST', '/v1/documents', [
      validation('fine'),
      validation('writes', { writes: true }),
      validation('9bad', { wraps: 'nothing' }),
    ]);
    expect(status).toBe(422);
    expect(body.code).toBe('INVALID_DOCUMENT');
    const about = new Set(body.problems.map(({ document }: { document: string }) => document));
    expect(about).toEqual(new Set(['local/writes', 'document 3']));
    expect((await ask('GET', '/v1/validations')).body.documents).toEqual([]);
    expect((await ask('POST', '/v1/documents', { name: 'x' })).body.problems[0]).toMatchObject({
      path: 'kind',
    });
  });

  it('lists page by page, with what comes with Sluice where it is asked for', async () => {
    const documents = Array.from({ length: 7 }, (_, n) => validation(`v${n}`));
    await ask('POST', '/v1/documents', documents);
    const names: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const place: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await ask('GET', `/v1/validations?limit=3${place}`);
      expect(body.documents.length).toBeLessThanOrEqual(3);
      names.push(...body.documents.map(({ name }: { name: string }) => name));
      cursor = body.cursor;
    }
    expect(names).toEqual(documents.map(({ name }) => `local/${name}`));
    expect((await ask('GET', '/v1/tools')).body.documents).toEqual([]);
    const tools = (await ask('GET', '/v1/tools?built_in=true&limit=1000')).body.documents;
    expect(tools.length).toBeGreaterThan(3);
    expect(tools[0]['x-registered']).toBeUndefined();
  });

  it('removes what nothing needs, and attachments with it', async () => {
    await ask('POST', '/v1/documents', [
      validation('used'),
      { kind: 'skill', name: 'list', tools: ['used'] },
      validation('free'),
    ]);
    const { body } = await ask('POST', '/v1/attachments', { resource: 'r/x', validation: 'free' });
    expect(await ask('DELETE', '/v1/validations/local/used')).toMatchObject({
      status: 409,
      body: { code: 'IN_USE' },
    });
    expect((await ask('DELETE', '/v1/validations/local/free')).body).toEqual({
      removed: { kind: 'validation', name: 'local/free' },
      attachments: [body.attachments[0].id],
    });
    expect(await ask('DELETE', '/v1/tools/local/free')).toMatchObject({ status: 404 });
    expect(await ask('GET', '/v1/validations/local/usd')).toMatchObject({ status: 404 });
  });

  it('attaches once, explains resources with slashes in their names, and detaches', async () => {
    await ask('POST', '/v1/documents', [validation('v'), { kind: 'skill', name: 's', tools: ['v'] }]);
    const wanted = { resource: 'host/web/1', validation: 'v', project: 'web' };
    const first = await ask('POST', '/v1/attachments', wanted);
    const again = await ask('POST', '/v1/attachments', wanted);
    const [{ id }] = first.body.attachments;
    expect(first.body.existing).toEqual([]);
    expect(again.body).toMatchObject({ attachments: [{ id }], existing: [id] });
    const { body } = await ask('POST', '/v1/attachments', { resource: 'host/web/1', skill: 's' });
    expect(body.attachments).toHaveLength(1);
    const path = `/v1/resources/${encodeURIComponent('host/web/1')}/explanation`;
    const explained = await ask('GET', `${path}?project=web`);
    expect(explained.body).toMatchObject({ resource: 'host/web/1', project: 'web' });
    expect(explained.body.attachments.map(({ applies }: { applies: boolean }) => applies).sort()).toEqual([
      ...[false, true],
    ]);
    expect((await ask('GET', '/v1/attachments?resource=host%2Fweb%2F1&limit=1')).body).toMatchObject({
      attachments: [{ id }],
      cursor: id,
    });
    expect((await ask('DELETE', `/v1/attachments/${id}`)).body).toEqual({ detached: id });
    expect((await ask('DELETE', `/v1/attachments/${id}`)).status).toBe(404);
  });

  it.each<[object, number, string]>([
    [{ resource: 'r/x' }, 400, 'validation'],
    [{ resource: 'r/x', validation: 'v', skill: 's' }, 400, 'validation'],
    [{ resource: 'r/x', validation: 'nothing' }, 422, 'validation'],
    [{ resource: '', validation: 'v' }, 422, 'resource'],
  ])('refuses to attach %j', async (body, status, path) => {
    await ask('POST', '/v1/documents', validation('v'));
    const answered = await ask('POST', '/v1/attachments', body);
    expect(answered.status).toBe(status);
    expect(answered.body.problems.map((each: { path: string }) => each.path)).toContain(path);
  });
});

const letter = (n: number, more: Partial<DeadLetter> = {}): DeadLetter => ({
  direction: 'out',
  endpoint: 'hook',
  id: `e${n}`,
  type: 'dev.sluice.evaluation.failed.v1',
  subject: 's',
  reason: 'it answered 400',
  code: 'refused',
  response: null,
  at: 1_700_000_000_000 + n,
  tries: 3,
  redriven: 0,
  content: '{}',
  ...more,
});

describe('dead letters and sinks over HTTP', () => {
  const put = async (...letters: DeadLetter[]) => {
    for (const each of letters) await engine.store.letters.put(each);
  };

  it('are listed by filter, page by page, and dropped', async () => {
    await put(letter(1), letter(2, { code: 'away' }), letter(3), letter(4, { endpoint: 'other' }));
    await put(letter(5, { direction: 'in', endpoint: 'bus', type: null, code: 'INVALID_EVENT' }));
    const ids = async (query: string) =>
      (await ask('GET', `/v1/dead-letters${query}`)).body.letters.map(({ id }: { id: string }) => id);
    expect(await ids('')).toEqual(['e1', 'e2', 'e3', 'e4', 'e5']);
    expect(await ids('?sink=hook&code=refused')).toEqual(['e1', 'e3']);
    expect(await ids('?source=bus')).toEqual(['e5']);
    expect(await ids('?type=evaluation.*&since=2023-11-14T22:13:20.003Z')).toEqual(['e3', 'e4']);
    expect(await ids('?sink=hook&id=e1,e3')).toEqual(['e1', 'e3']);
    const page = await ask('GET', '/v1/dead-letters?limit=2');
    expect(page.body.letters[0]).toMatchObject({ id: 'e1', set_aside_at: '2023-11-14T22:13:20.001Z' });
    expect(await ids(`?limit=2&cursor=${encodeURIComponent(page.body.cursor)}`)).toEqual(['e3', 'e4']);
    expect(await ask('POST', '/v1/dead-letters/drop', {})).toMatchObject({ status: 400 });
    expect((await ask('POST', '/v1/dead-letters/drop', { sink: 'hook', code: 'away' })).body).toEqual({
      dropped: 1,
    });
    expect((await ask('POST', '/v1/dead-letters/drop', { all: true })).body).toEqual({ dropped: 4 });
    expect(await ask('GET', '/v1/dead-letters?sink=a&source=b')).toMatchObject({ status: 400 });
    expect(await ask('GET', '/v1/dead-letters?since=yesterday')).toMatchObject({ status: 400 });
  });

  it('are redriven, and what really became of each is told', async () => {
    const command = {
      specversion: '1.0',
      id: 'c1',
      source: '/tests',
      type: 'dev.sluice.plan.created.v1',
      data: { plan: 'late', resources: ['r/x'] },
    };
    const content = JSON.stringify({
      body: JSON.stringify(command),
      content_type: 'application/cloudevents+json',
      attributes: {},
      place: 'a test',
    });
    await put(letter(1), letter(2, { direction: 'in', endpoint: 'bus', content }));
    const { status, body } = await ask('POST', '/v1/dead-letters/redrive', { all: true, wait: 500 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ matched: 2, delivered: 1, failed: 1, waiting: 0 });
    expect(body.failures).toMatchObject([{ id: 'e1', reason: expect.stringContaining('dispatcher') }]);
    expect((await engine.store.plans.plan('late'))?.phase).toBe('strategize');
  });

  it('name sinks, and let one deliver again that was disabled', async () => {
    const note = { name: 'hook', kind: 'webhook', target: 'https://example.com/' };
    await engine.store.sinks.note({ ...note, state: 'disabled', reason: '410', since: 1, nextTry: null });
    await put(letter(1));
    const listed = await ask('GET', '/v1/sinks');
    expect(listed.body.sinks).toMatchObject([{ name: 'hook', state: 'disabled', dead_letters: 1 }]);
    const enabled = await ask('POST', '/v1/sinks/hook/enable');
    expect(enabled.body).toMatchObject({ state: 'delivering', reason: null });
    expect(await ask('POST', '/v1/sinks/hok/enable')).toMatchObject({
      status: 404,
      body: { problems: [{ nearest: 'hook' }] },
    });
  });
});
