import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Engine, openInline } from '../../src/compose.js';
import { sha256 } from '../../src/core/digest.js';
import { statusSchema } from '../../src/http/operations/evaluations.js';
import { configWith, silent } from '../support/fleet.js';
import { startTestServer, type TestServer } from '../support/http.js';

let engine: Engine;
let server: TestServer;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-http-plans-'));
  const config = configWith({ references: { folders: [folder] } });
  engine = openInline(config, silent);
  server = await startTestServer(engine);
  const code = '({ subject }) => ({ passed: subject.good === true, message: "good or not" })';
  await server.ask('POST', '/v1/documents', { body: { kind: 'validation', name: 'good', code } });
  await server.ask('POST', '/v1/attachments', { body: { resource: 'r/x', validation: 'good' } });
});

afterEach(async () => {
  await server.close();
  await engine.close();
  await rm(folder, { recursive: true });
});

async function send(path: string, body: unknown, headers: Record<string, string> = {}) {
  const token = server.tokens.submit;
  const response = await server.ask('POST', `/v1/plans${path}`, { body, token, headers });
  // biome-ignore lint/suspicious/noExplicitAny: what the API answers is looked at key by key
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}
async function show(path: string) {
  const response = await server.ask('GET', `/v1/plans${path}`, { token: server.tokens.read });
  // biome-ignore lint/suspicious/noExplicitAny: what the API answers is looked at key by key
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}
const phaseIs = (plan: string, phase: string) =>
  expect.poll(async () => (await show(`/${plan}`)).body.plan.phase).toBe(phase);
const good = { snapshots: { 'r/x': { good: true } } };
const bad = { snapshots: { 'r/x': { good: false } } };

describe('plans over HTTP', () => {
  it('go their whole way, and their timeline names the token', async () => {
    const created = await send('', { plan: 'p', project: 'web', resources: ['r/x'] });
    expect(created.status).toBe(200);
    expect(created.headers.get('location')).toBe('/v1/plans/p');
    expect(created.body).toMatchObject({ row: expect.any(String), repeated: false });
    expect(created.body.applicable.checks).toHaveLength(1);
    await send('/p/strategized', {});
    expect((await send('/p/executed', bad)).status).toBe(202);
    await phaseIs('p', 'fix');
    await send('/p/fixes', good);
    await phaseIs('p', 'ready');
    const wrong = await send('/p/apply', bad);
    expect(wrong).toMatchObject({
      status: 409,
      body: { code: 'PLAN_REFUSED', plan: { phase: 'ready', last_evaluation: expect.any(String) } },
    });
    expect((await send('/p/apply', good)).body.plan.phase).toBe('applied');
    const { body, headers } = await show('/p');
    expect(headers.get('etag')).toBe(`"${body.plan.revision}"`);
    expect(body.timeline.at(-1)).toMatchObject({ to: 'applied', actor: 'submitter' });
    expect(body.evaluations.length).toBeGreaterThan(1);
    expect(body.checks[0]).toMatchObject({ first: { outcome: 'fail' }, final: { outcome: 'pass' } });
    const list = await show('?project=web&phase=applied');
    expect(list.body.plans.map(({ id }: { id: string }) => id)).toEqual(['p']);
    expect((await show('?phase=fix')).body.plans).toEqual([]);
  });

  it('have evaluations that can be asked for, as the dataref of their events says', async () => {
    await send('', { plan: 'p', ...bad });
    await phaseIs('p', 'fix');
    const { plan, evaluations } = (await show('/p')).body;
    const [told] = evaluations;
    const response = await server.ask('GET', `/v1/evaluations/${plan.last_evaluation}`);
    expect(response.status).toBe(200);
    const body = statusSchema.parse(await response.json());
    expect(body).toMatchObject({
      id: told.evaluation,
      state: 'decided',
      plan: 'p',
      actor: 'submitter',
      stage: told.stage,
      decision: told.decision,
      results: told.results,
      unserved: null,
    });
    expect(told.results).toHaveLength(1);
    expect((await server.ask('GET', '/v1/evaluations/p')).status).toBe(404);
  });

  it('take a command once for each key of a token', async () => {
    const key = { 'idempotency-key': 'k1' };
    const first = await send('', { resources: ['r/x'] }, key);
    const again = await send('', { resources: ['r/x'] }, key);
    expect(again.body).toMatchObject({ repeated: true, plan: { id: first.body.plan.id } });
    const conflict = await send('', { resources: ['r/y'] }, key);
    expect(conflict).toMatchObject({ status: 409, body: { code: 'COMMAND_CONFLICT' } });
    const other = await server.ask('POST', '/v1/plans', { body: { resources: ['r/x'] }, headers: key });
    expect(((await other.json()) as { repeated: boolean }).repeated).toBe(false);
    expect((await send('', { resources: ['r/x'] })).body.plan.id).not.toBe(first.body.plan.id);
  });

  it('are changed at the revision alone that the caller saw', async () => {
    await send('', { plan: 'p', resources: ['r/x'] });
    const stale = await send('/p/strategized', {}, { 'if-match': '"7"' });
    expect(stale).toMatchObject({
      status: 409,
      body: { code: 'PLAN_REFUSED', problems: [{ code: 'STALE' }] },
    });
    expect((await send('/p/strategized', { revision: 7 })).status).toBe(409);
    const broken = await send('/p/strategized', {}, { 'if-match': 'yes' });
    expect(broken).toMatchObject({ status: 400, body: { problems: [{ path: 'If-Match' }] } });
    const two = await send('/p/strategized', { revision: 2 }, { 'if-match': '"1"' });
    expect(two).toMatchObject({ status: 400, body: { problems: [{ path: 'revision' }] } });
    expect((await send('/p/strategized', {}, { 'if-match': '"1"' })).status).toBe(200);
  });

  it('take evidence by reference', async () => {
    const text = JSON.stringify({ good: true });
    const file = join(folder, 'snapshot.json');
    await writeFile(file, text);
    const uri = `file://${file}`;
    const reference = (digest: string) => ({ references: { 'r/x': { uri, sha256: digest } } });
    expect((await send('', { plan: 'p', ...reference(sha256(text)) })).status).toBe(202);
    await phaseIs('p', 'ready');
    const other = await send('', { plan: 'q', ...reference(sha256('another')) });
    expect(other).toMatchObject({ status: 422, body: { code: 'BAD_REFERENCE' } });
    expect(other.body.problems[0].path).toMatch(/^references/);
    const twice = await send('', { plan: 'q', ...good, ...reference(sha256(text)) });
    expect(twice).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
  });

  it.each<[string, string, unknown, number, string]>([
    ['no evidence', '/p/executed', {}, 400, 'INVALID_REQUEST'],
    ['nothing to create from', '', {}, 400, 'INVALID_REQUEST'],
    ['an unknown key', '/p/cancel', { reasn: 'x' }, 400, 'INVALID_REQUEST'],
    ['no digests', '/p/apply', {}, 400, 'INVALID_REQUEST'],
    ['a bad name', '', { plan: 'a b', resources: ['r/x'] }, 422, 'INVALID_SNAPSHOT'],
    ['a plan that is none', '/plann/strategized', {}, 404, 'NOT_FOUND'],
    ['an answer that is none', '/p/responses', { answer: 'maybe' }, 400, 'INVALID_REQUEST'],
  ])('are refused: %s', async (_what, path, body, status, code) => {
    await send('', { plan: 'p', resources: ['r/x'] });
    const answered = await send(path, body);
    expect(answered).toMatchObject({ status, body: { code } });
    expect((await show('/p')).body.plan.revision).toBe(1);
  });

  it('that are none are told with the one that was meant', async () => {
    await send('', { plan: 'release-2026', resources: ['r/x'] });
    const { status, body } = await show('/release-2025');
    expect(status).toBe(404);
    expect(body.problems).toMatchObject([{ nearest: 'release-2026' }]);
  });
});
