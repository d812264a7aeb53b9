import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { configSchema } from '../../config/schema.js';
import { forgetEndedPlans } from '../../src/app/plan/ended.js';
import { type Engine, openInline } from '../../src/compose.js';
import { SluiceError } from '../../src/core/problem.js';
import type { PlanStep } from '../../src/ports/plans.js';
import { attach, eventsOfPlan, type PlanPlace, placeOf, register } from '../support/plan-play.js';

const GOOD = {
  name: 'good',
  description: 'The snapshot says that it is good',
  code: '({ subject }) => ({ passed: subject.good === true, message: JSON.stringify(subject) })',
};
const engines: Engine[] = [];

async function opened(settings: Record<string, unknown> = {}): Promise<PlanPlace> {
  const engine = openInline(configSchema.parse(settings), pino({ level: 'silent' }));
  engines.push(engine);
  const place = placeOf(engine);
  await register(place, [GOOD]);
  await attach(place, 'r/x', ['good']);
  return place;
}

const agent = { actor: 'agent' } as const;
const submit = (place: PlanPlace, snapshot: unknown, plan = 'p') =>
  place.plans.run({ ...agent, type: 'submit', plan, snapshots: { 'r/x': snapshot } });
const phaseOf = async (place: PlanPlace, plan = 'p') => (await place.plans.status(plan)).plan.phase;
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail('it was taken'),
    (error: SluiceError) => error,
  );

describe('plans', () => {
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
  });

  it('are judged by their own evidence when an id is used again after its plan was forgotten', async () => {
    const place = await opened({ plans: { retention: '1ms' } });
    await submit(place, { good: true });
    const first = await eventsOfPlan(place.engine.store, 'p');
    await place.plans.run({ ...agent, type: 'cancel', plan: 'p' });
    await expect.poll(() => place.engine.store.plans.plan('p')).toBeUndefined();
    await submit(place, { good: false });
    expect(await phaseOf(place)).toBe('fix');
    const all = (await eventsOfPlan(place.engine.store, 'p')).map(({ id }) => id);
    expect(all.length).toBeGreaterThan(first.length);
    expect(new Set(all).size).toBe(all.length);
  });

  it.each([
    ['whole numbers beyond 2^53', { n: JSON.parse('9007199254740993') }],
    ['numbers too large for one', { n: JSON.parse('1e400') }],
    ['dates', { d: new Date(1) }],
    ['maps', { m: new Map([[1, 2]]) }],
    ['functions', { f() {} }],
  ])('are refused snapshots with %s, which could not be told from others', async (_what, snapshot) => {
    const place = await opened();
    const error = await refusal(submit(place, snapshot));
    expect(error).toBeInstanceOf(SluiceError);
    expect(error).toMatchObject({ code: 'INVALID_SNAPSHOT', problems: [{ code: 'BAD_SNAPSHOT' }] });
  });

  it('are not applied past an attachment that came in while they were', async () => {
    const place = await opened();
    await submit(place, { good: true });
    const { plans } = place.engine.store;
    const step = plans.step.bind(plans);
    await register(place, [{ ...GOOD, name: 'never', code: '() => ({ passed: false })' }]);
    plans.step = async (given: PlanStep) => {
      plans.step = step;
      await attach(place, 'r/x', ['never']);
      return step(given);
    };
    const answer = await place.plans.run({
      ...agent,
      type: 'apply',
      plan: 'p',
      snapshots: { 'r/x': { good: true } },
    });
    expect(answer.row).toBe('apply-changed');
    expect(await phaseOf(place)).toBe('fix');
  });

  it('are validated again on the evidence that comes with apply, when what was stored is gone', async () => {
    const place = await opened();
    const { store } = place.engine;
    await submit(place, { good: true });
    await register(place, [{ ...GOOD, name: 'too' }]);
    await attach(place, 'r/x', ['too']);
    const blobs = store.evaluations.blobs.bind(store.evaluations);
    const given = new Set<string>();
    const step = store.plans.step.bind(store.plans);
    store.plans.step = (each) => {
      for (const { digest } of each.accept?.blobs ?? []) given.add(digest);
      return step(each);
    };
    store.evaluations.blobs = async (digests) =>
      (await blobs(digests)).map((content, n) => (given.has(digests[n] ?? '') ? content : undefined));
    await place.plans.run({ ...agent, type: 'apply', plan: 'p', snapshots: { 'r/x': { good: true } } });
    expect(await phaseOf(place)).toBe('ready');
  });

  it('have up to a thousand resources', async () => {
    const place = await opened();
    const snapshots = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`r/${n}`, n]));
    const run = (plan: string, count: number) =>
      place.plans.run({ ...agent, type: 'submit', plan, snapshots: snapshots(count) });
    await run('many', 1000);
    expect(await refusal(run('more', 1001))).toMatchObject({
      problems: [{ code: 'BAD_RESOURCE', found: '1001' }],
    });
  });

  it('take no answer to an escalation but retry and abort', async () => {
    const place = await opened({ plans: { fixes: 0, revisions: 0 } });
    await submit(place, { good: false });
    const answer = 'Retry' as 'retry';
    const error = await refusal(place.plans.run({ ...agent, type: 'respond', plan: 'p', answer }));
    expect(error).toMatchObject({ problems: [{ code: 'BAD_ANSWER', allowed: ['retry', 'abort'] }] });
    expect(await phaseOf(place)).toBe('escalated');
  });

  it('leave no attachments of their own behind once they have ended and were looked at', async () => {
    const place = await opened({ plans: { retention: '1h' } });
    const { store } = place.engine;
    for (const plan of ['over', 'live', 'not-yet'])
      await place.registry.attach({ resource: 'r/x', validation: 'good', arguments: {}, plan }, 'agent');
    for (const plan of ['over', 'live']) await submit(place, { good: true }, plan);
    await place.plans.run({ ...agent, type: 'cancel', plan: 'over' });
    const later = (minutes: number) => ({
      store,
      registry: place.registry,
      clock: { now: () => Date.now() + minutes * 60_000 },
    });
    expect(await forgetEndedPlans(later(29), 10)).toBe(0);
    expect(await forgetEndedPlans(later(31), 10)).toBe(1);
    const left = (await place.registry.attachments()).map(({ target }) => target);
    expect(new Set(left)).toEqual(new Set([null, 'live', 'not-yet']));
  });

  it('keep no secrets of what people say', async () => {
    const place = await opened();
    await submit(place, { good: true });
    await place.plans.run({ ...agent, type: 'cancel', plan: 'p', reason: 'password=hunter22 leaked' });
    const told = [await place.plans.status('p'), await eventsOfPlan(place.engine.store, 'p')];
    expect(JSON.stringify(told)).not.toContain('hunter22');
    expect(JSON.stringify(told)).toContain('leaked');
  });
});
