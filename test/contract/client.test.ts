import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Tokens } from '../../src/app/tokens.js';
import { type Client, ClientError, createClient, type SluiceEvent } from '../../src/client.js';
import type { HttpDeps } from '../../src/http/deps.js';
import { makeDeps } from '../../src/http/make-deps.js';
import { createOperations } from '../../src/http/operations/built-in.js';
import { EXAMPLE_RUN, EXAMPLE_SCENARIO } from '../../src/http/operations/examples.js';
import { createServer } from '../../src/http/server.js';
import { configWith, openTestFleet, outboxOf, type TestFleet } from '../support/fleet.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let redis: TestRedis;
let fleet: TestFleet;
let app: FastifyInstance;
let draining: AbortController;
let port = 0;
let token: string;
let client: Client;

async function serve(): Promise<void> {
  draining = new AbortController();
  const { engine } = fleet;
  app = await createServer(makeDeps(engine, draining.signal), engine.config.http);
  await app.listen({ host: '127.0.0.1', port });
  port = (app.server.address() as AddressInfo).port;
}

/** As when the process dies: whatever is connected is cut off. */
async function cutOff(): Promise<void> {
  const closed = app.close();
  app.server.closeAllConnections();
  await closed;
  draining.abort();
}

/** What did not arrive, in a fetch that loses the answers of these tries. */
function losing(lost: readonly number[], seen: string[] = []): typeof fetch {
  let tries = 0;
  return async (input, init) => {
    const nth = tries++;
    const headers = init?.headers as Record<string, string>;
    seen.push(headers['idempotency-key'] ?? '');
    const response = await fetch(input, init);
    if (!lost.includes(nth)) return response;
    await response.arrayBuffer();
    throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
  };
}

const connect = (more: Partial<Parameters<typeof createClient>[0]> = {}): Client =>
  createClient({ url: `http://127.0.0.1:${port}`, token, ...more });

const failureOf = (work: Promise<unknown>): Promise<ClientError> =>
  work.then(
    () => expect.fail('it was taken'),
    (error: ClientError) => error,
  );

const runs = (count: number) => Array.from({ length: count }, (_, n) => ({ ...EXAMPLE_RUN, id: `run-${n}` }));

beforeAll(async () => {
  redis = await startTestRedis();
  fleet = await openTestFleet(redis.url, configWith({ http: { rate: 1_000_000 } }));
  const { store, clock } = fleet.engine;
  token = (await new Tokens({ tokens: store.tokens, clock }).add('ci', 'operate')).value;
  await serve();
  client = connect();
});

afterAll(async () => {
  draining.abort();
  await app.close();
  await fleet.close();
  await redis.stop();
});

describe('the client', () => {
  it('has a method for each operation that needs a token, but for the page that Prometheus reads', () => {
    const ids = createOperations({} as HttpDeps).flatMap(({ id, role }) =>
      role === null || id === 'getMetrics' ? [] : [id],
    );
    expect(Object.keys(client)).toEqual(expect.arrayContaining(ids));
  });

  it('judges a run, and names its token as the actor', async () => {
    const { evaluation } = await client.submitEvaluation({ scenario: EXAMPLE_SCENARIO, run: EXAMPLE_RUN });
    const { decision, actor } = await client.waitForEvaluation(evaluation, { timeout: 20_000 });
    expect(decision.passed).toBe(true);
    expect(actor).toBe('ci');
  });

  it('asks again with the same key when an answer is lost: one evaluation comes of it', async () => {
    const keys: string[] = [];
    const shaky = connect({ fetch: losing([0, 1], keys) });
    const answer = await shaky.submitEvaluation({
      scenario: EXAMPLE_SCENARIO,
      run: { ...EXAMPLE_RUN, id: 'lost-answer' },
    });
    expect(answer.repeated).toBe(true);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    const events = await outboxOf(fleet.engine.store);
    const accepted = events.filter(
      ({ type, data }) => type.includes('evaluation.accepted') && data.run === 'lost-answer',
    );
    expect(accepted).toHaveLength(1);
  });

  it('takes what is gone when it asks again for removed', async () => {
    await client.registerDocuments({ kind: 'tool', name: 'gone', description: '', code: '() => 1' });
    const shaky = connect({ fetch: losing([0]) });
    expect(await shaky.removeTool('gone')).toEqual({
      removed: { kind: 'tool', name: 'local/gone' },
      attachments: [],
    });
    expect(await failureOf(client.removeTool('gone'))).toMatchObject({ code: 'NOT_FOUND', status: 404 });
  });

  it('throws every problem of a request with its code', async () => {
    const error = await failureOf(
      client.submitEvaluation({ scenario: { key: 'x', validation: { tasks: [{ validator: 'nope' }] } } }),
    );
    expect(error).toBeInstanceOf(ClientError);
    expect(error.status).toBeGreaterThanOrEqual(400);
    expect(error.problems.length).toBeGreaterThan(0);
    const stranger = await failureOf(connect({ token: 'slu_wrong' }).listPlans());
    expect(stranger).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    const nobody = createClient({ url: 'http://127.0.0.1:1', token, retries: 1 });
    expect(await failureOf(nobody.listPlans())).toMatchObject({ code: 'NETWORK', status: null });
  });

  it('is told that something else than the API answers', async () => {
    const other: typeof fetch = async () => new Response('<html>a page</html>', { status: 200 });
    expect(await failureOf(connect({ fetch: other }).listPlans())).toMatchObject({ code: 'BAD_ANSWER' });
    const moved: typeof fetch = async () => new Response(null, { status: 302 });
    expect(await failureOf(connect({ fetch: moved }).listPlans())).toMatchObject({
      code: 'BAD_ANSWER',
      status: 302,
    });
  });

  it('waits for as long as a busy server asks, and ends with its signal', async () => {
    let tries = 0;
    const busy: typeof fetch = async (input, init) => {
      tries += 1;
      return tries === 1
        ? new Response('', { status: 503, headers: { 'retry-after': '1' } })
        : fetch(input, init);
    };
    const begun = performance.now();
    await connect({ fetch: busy }).listPlans();
    expect(performance.now() - begun).toBeGreaterThanOrEqual(990);
    const never: typeof fetch = async () => new Response('', { status: 503 });
    const signal = AbortSignal.timeout(100);
    const ended = await connect({ fetch: never })
      .listPlans({}, { signal })
      .catch((error: Error) => error);
    expect((ended as Error).name).toBe('TimeoutError');
  });

  it('takes a plan from its submission to apply', async () => {
    await client.registerDocuments({
      kind: 'validation',
      name: 'good',
      code: '({ subject }) => ({ passed: subject.good === true, message: "good or not" })',
    });
    await client.attach({ resource: 'r/x', validation: 'good' });
    const { plan } = await client.createPlan({ plan: 'client-plan', snapshots: { 'r/x': { good: false } } });
    const phase = async () => (await client.getPlan(plan.id)).plan.phase;
    await expect.poll(phase, { timeout: 10_000 }).toBe('fix');
    await client.fixPlan(plan.id, { snapshots: { 'r/x': { good: true } } });
    await expect.poll(phase, { timeout: 10_000 }).toBe('ready');
    const applied = await client.applyPlan(plan.id, { snapshots: { 'r/x': { good: true } } });
    expect(applied.plan.phase).toBe('applied');
    const refused = await failureOf(client.cancelPlan(plan.id));
    expect(refused).toMatchObject({ code: 'PLAN_REFUSED', status: 409, body: { plan: { id: plan.id } } });
  });
});

describe('uploads of the client', () => {
  it('begin again when the server is restarted in the middle: every run is judged once', async () => {
    const count = 1500;
    await client.openBatch('restarted', { scenarios: [EXAMPLE_SCENARIO] });
    let begun = 0;
    let restart: Promise<void> | undefined;
    async function* lines() {
      begun += 1;
      for (const [n, run] of runs(count).entries()) {
        // Long lines, so that the connection takes but a part of them before it is cut off.
        yield { ...run, job: { ...run.job, plan: 'x'.repeat(2000) } };
        if (n !== count / 2 || restart !== undefined) continue;
        restart = cutOff().then(serve);
        await restart;
      }
    }
    const answer = await client.uploadRuns('restarted', lines);
    expect(begun).toBeGreaterThan(1);
    expect(answer.accepted + answer.repeated).toBe(count);
    const batch = await client.waitForBatch('restarted', { timeout: 25_000 });
    expect(batch).toMatchObject({ state: 'completed', total: count, passed: count, pending: 0 });
    const again = await client.uploadRuns('restarted', lines);
    expect(again).toMatchObject({ accepted: 0, repeated: count });
  });

  it('that can be gone through only once are not begun again', async () => {
    await client.openBatch('once', { scenarios: [EXAMPLE_SCENARIO] });
    async function* once() {
      yield EXAMPLE_RUN;
      await cutOff();
      await serve();
      yield { ...EXAMPLE_RUN, id: 'second' };
    }
    const error = await failureOf(client.uploadRuns('once', once()));
    expect(error.code).toBe('NETWORK');
    expect(error.message).toContain('only once');
    expect(await client.getBatch('once')).toMatchObject({ total: 0, sealed: false });
  });

  it('fail with what their source throws', async () => {
    await client.openBatch('thrown', { scenarios: [EXAMPLE_SCENARIO] });
    let begun = 0;
    const source = () => {
      begun += 1;
      return (async function* () {
        yield EXAMPLE_RUN;
        throw new RangeError('the file is gone');
      })();
    };
    const error = await client.uploadRuns('thrown', source).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RangeError);
    expect(begun).toBe(1);
  });

  it('tell which lines are broken', async () => {
    await client.openBatch('broken', { scenarios: [EXAMPLE_SCENARIO] });
    const error = await failureOf(client.uploadRuns('broken', [JSON.stringify(EXAMPLE_RUN), '{"id": 5}']));
    expect(error).toMatchObject({ code: 'INVALID_RUNS', problems: [{ line: 2 }] });
  });
});

describe('events of the client', () => {
  const closing: AbortController[] = [];
  afterEach(() => {
    for (const each of closing.splice(0)) each.abort();
  });

  it('go on where they were when the server is restarted, and none is missing or doubled', async () => {
    const controller = new AbortController();
    closing.push(controller);
    const seen: string[] = [];
    const stream = client.events({ from: 'oldest', signal: controller.signal });
    const reading = (async () => {
      for await (const event of stream) seen.push(event.id);
    })();
    const write = async (n: number) => {
      await client.createPlan({ plan: `events-${n}`, resources: ['r/events'] });
    };
    for (let n = 0; n < 5; n += 1) await write(n);
    const all = async () => (await outboxOf(fleet.engine.store)).map(({ id }) => id);
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBe((await all()).length);
    await cutOff();
    const { plans } = makeDeps(fleet.engine, new AbortController().signal);
    await plans.run({ type: 'create', plan: 'while-away', resources: ['r/events'], actor: 'x' });
    await serve();
    for (let n = 5; n < 10; n += 1) await write(n);
    const ids = await all();
    await expect.poll(() => seen.length, { timeout: 15_000 }).toBe(ids.length);
    expect(seen).toEqual(ids);
    controller.abort();
    await reading;
    // Another stream goes on where this one was left.
    const next = connect().events({ ...(stream.position === undefined ? {} : { after: stream.position }) });
    const first = next[Symbol.asyncIterator]();
    const coming = first.next();
    await write(10);
    const { value } = (await coming) as { value: SluiceEvent };
    expect(value).toMatchObject({ type: 'dev.sluice.plan.phase.changed.v1', subject: 'events-10' });
    await first.return?.();
  });

  it('are told apart by type and plan', async () => {
    const stream = client.events({ type: ['plan.cancelled'], plan: 'filtered', from: 'oldest' });
    await client.createPlan({ plan: 'filtered', resources: ['r/events'] });
    await client.cancelPlan('filtered', { reason: 'enough' });
    for await (const event of stream) {
      expect(event.data).toMatchObject({ plan: 'filtered', reason: 'enough', actor: 'ci' });
      break;
    }
    const page = await client.listEvents({ plan: 'filtered', limit: 1, from: 'oldest' });
    expect(page.events).toHaveLength(1);
    expect(page.more).toBe(true);
  });

  it('end with an error when what they ask for is kept no more, unless they hear of it', async () => {
    const iterate = async (onGap?: (gap: unknown) => void) => {
      const options = { after: '1-1', ...(onGap === undefined ? {} : { onGap }) };
      for await (const event of client.events(options)) return event;
      return undefined;
    };
    expect(await failureOf(iterate())).toMatchObject({ code: 'EVENTS_GONE' });
    const gaps: unknown[] = [];
    const first = await iterate((gap) => gaps.push(gap));
    const [oldest] = await outboxOf(fleet.engine.store);
    expect(first?.id).toBe(oldest?.id);
    expect(gaps).toEqual([{ after: '1-1', from: expect.stringMatching(/^\d+-\d+$/) }]);
    expect(
      await iterate(() => {
        throw new RangeError('mine');
      }).catch((error: unknown) => error),
    ).toBeInstanceOf(RangeError);
  });

  it('end at once when the token is none', async () => {
    const follow = async () => {
      for await (const event of connect({ token: 'slu_wrong' }).events()) return event;
    };
    expect(await failureOf(follow())).toMatchObject({ code: 'UNAUTHORIZED' });
  });
});
