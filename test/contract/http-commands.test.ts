import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Engine, openInline } from '../../src/compose.js';
import { EXAMPLE_RUN, EXAMPLE_SCENARIO } from '../../src/http/operations/examples.js';
import { configWith, outboxOf, silent } from '../support/fleet.js';
import { startTestServer, type TestServer } from '../support/http.js';

let engine: Engine;
let server: TestServer;

beforeEach(async () => {
  engine = openInline(configWith({ http: { body_limit: 200_000 } }), silent);
  server = await startTestServer(engine);
});

afterEach(async () => {
  await server.close();
  await engine.close();
});

const event = (id: string, name: string, data: unknown, more: Record<string, unknown> = {}) => ({
  specversion: '1.0',
  id,
  source: '/tests',
  type: `dev.sluice.${name}.v1`,
  datacontenttype: 'application/json',
  data,
  ...more,
});
const evaluation = (id: string, run: unknown = EXAMPLE_RUN) =>
  event(id, 'evaluation.requested', { scenario: EXAMPLE_SCENARIO, run });
const plan = (id: string, name: string, data: object) => event(id, name, { plan: 'p', ...data });

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what the API answers is looked at key by key
  body: any;
}

async function post(
  body: unknown,
  type = 'application/cloudevents+json',
  headers: Record<string, string> = {},
): Promise<Answered> {
  const token = server.tokens.submit;
  const response = await server.ask('POST', '/v1/events', {
    body,
    token,
    headers: { 'content-type': type, ...headers },
  });
  return { status: response.status, body: await response.json() };
}
const batch = (events: unknown[]) => post(events, 'application/cloudevents-batch+json');

describe('commands over HTTP', () => {
  it('are taken once, with the token as actor', async () => {
    const first = await post(evaluation('e1'));
    expect(first).toMatchObject({ status: 202, body: { results: [{ id: 'e1', outcome: 'accepted' }] } });
    const again = await post(evaluation('e1'));
    expect(again.body.results[0]).toMatchObject({
      outcome: 'repeated',
      evaluation: first.body.results[0].evaluation,
    });
    const [accepted] = await outboxOf(engine.store);
    expect(accepted?.data).toMatchObject({ actor: 'submitter' });
  });

  it('cannot use up the keys of another token', async () => {
    const data = { scenario: EXAMPLE_SCENARIO, run: EXAMPLE_RUN };
    const squat = (source: string) => post(event('k', 'evaluation.requested', data, { source }));
    expect((await squat('/tokens/submitter')).status).toBe(202);
    expect((await squat('<submitter>')).status).toBe(422);
    const body = { scenario: EXAMPLE_SCENARIO, run: { id: 'mine' } };
    const headers = { 'idempotency-key': 'k' };
    const mine = await server.ask('POST', '/v1/evaluations', { body, headers, token: server.tokens.submit });
    expect([mine.status, await mine.json()]).toMatchObject([202, { repeated: false }]);
  });

  it('come in binary mode as well, with headers that are encoded', async () => {
    const headers = {
      'ce-specversion': '1.0',
      'ce-id': 'b%C3%A91',
      'ce-source': '/tests',
      'ce-type': 'dev.sluice.plan.created.v1',
      'ce-subject': 'binary-plan',
    };
    const { status, body } = await post({ resources: ['r/x'] }, 'application/json', headers);
    expect(status).toBe(202);
    expect(body.results[0]).toMatchObject({ id: 'bé1', plan: { id: 'binary-plan', phase: 'strategize' } });
  });

  it('are told apart in a batch: in order, each with its own outcome', async () => {
    const { status, body } = await batch([
      plan('c1', 'plan.created', { resources: ['r/x'] }),
      plan('c2', 'plan.strategized', {}),
      plan('c3', 'plan.strategized', {}),
      { ...evaluation('c4'), source: undefined },
      event('c5', 'evaluation.reqested', {}),
      event('c6', 'plan.failed', {}),
      evaluation('c7'),
      plan('c1', 'plan.created', { resources: ['r/other'] }),
    ]);
    expect(status).toBe(202);
    expect(body.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      ...['accepted', 'accepted', 'refused', 'refused', 'refused', 'ignored', 'accepted', 'refused'],
    ]);
    expect(body.results[2].problem).toMatchObject({
      code: 'PLAN_REFUSED',
      plan: { id: 'p', phase: 'execute', created_at: expect.any(String) },
    });
    expect(body.results[3]).toMatchObject({
      id: 'c4',
      problem: { code: 'INVALID_EVENT', problems: [{ path: '[3].source' }] },
    });
    expect(body.results[4].problem.problems[0]).toMatchObject({
      code: 'UNKNOWN_TYPE',
      nearest: 'dev.sluice.evaluation.requested.v1',
    });
    expect(body.results[7].problem).toMatchObject({ code: 'COMMAND_CONFLICT' });
  });

  it.each<[string, unknown, number, string]>([
    ['no JSON', '{"specversion": ', 422, 'INVALID_EVENT'],
    ['no event', '[]x', 422, 'INVALID_EVENT'],
    ['no id', { ...evaluation('x'), id: undefined }, 422, 'INVALID_EVENT'],
    ['an unknown type', event('x', 'plan.exploded', {}), 422, 'INVALID_EVENT'],
    ['a later version', { ...evaluation('x'), type: 'dev.sluice.plan.created.v9' }, 422, 'INVALID_EVENT'],
    ['unknown data', plan('x', 'plan.created', { resurces: [] }), 422, 'INVALID_EVENT'],
    ['an unknown plan', plan('x', 'plan.strategized', {}), 404, 'NOT_FOUND'],
    ['too much', 'x'.repeat(300_000), 413, 'TOO_LARGE'],
  ])('are answered with the problem: %s', async (_what, body, status, code) => {
    const answered = await post(body);
    expect(answered).toMatchObject({ status, body: { code, problems: expect.any(Array) } });
    expect((await engine.store.letters.list({}, '', 10)).letters).toEqual([]);
    expect(await outboxOf(engine.store)).toEqual([]);
  });

  it('are refused with the plan as it stands', async () => {
    await post(plan('c1', 'plan.created', { resources: ['r/x'] }));
    const { status, body } = await post(plan('c2', 'plan.executed', { snapshots: { 'r/x': 1 } }));
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: 'PLAN_REFUSED', plan: { id: 'p', phase: 'strategize' } });
  });
});
