import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlanRequest } from '../../src/app/plan/requests.js';
import { type Engine, openInline } from '../../src/compose.js';
import type { Phase } from '../../src/core/plan/model.js';
import { type CloudEventJson, configWith, openTestFleet, silent, type TestFleet } from '../support/fleet.js';
import {
  AGENT,
  attach,
  eventsOfPlan,
  type PlanPlace,
  placeOf,
  register,
  saying,
  settled,
  shortType,
  untilPlan,
  withPlainIds,
} from '../support/plan-play.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const VALIDATIONS = [
  saying('tests'),
  saying('lint'),
  saying('style', { mode: 'informational' }),
  saying('slow', { timeout: '1500ms' }),
];
const settings = { events: { per_check: true } };

type Wish = PlanRequest extends infer R ? (R extends unknown ? Omit<R, 'actor' | 'plan'> : never) : never;
/** What happens to a plan next; `while running`: nobody waits for its evaluation. */
type Happening = Wish | { attach: string } | { type: 'submit while running'; says: Record<string, string> };

interface Story {
  name: string;
  plans?: Record<string, unknown>;
  attached: string[];
  happens: (resource: string) => Happening[];
  /** Rows of the lifecycle that it goes through. */
  rows: string[];
  phase: Phase;
}

const says = (resource: string, snapshot: Record<string, string>) => ({
  snapshots: { [resource]: snapshot },
});
const submit = (r: string, snapshot: Record<string, string>): Wish => ({
  type: 'submit',
  ...says(r, snapshot),
});
const executed = (r: string, snapshot: Record<string, string>): Wish =>
  ({ type: 'executed', ...says(r, snapshot) }) as Wish;
const fix = (r: string, snapshot: Record<string, string>): Wish =>
  ({ type: 'fix', ...says(r, snapshot) }) as Wish;
const apply = (r: string, snapshot: Record<string, string>): Wish =>
  ({ type: 'apply', ...says(r, snapshot) }) as Wish;
const strategized = { type: 'strategized' } as Wish;

const STORIES: Story[] = [
  {
    name: 'passes at once and is applied',
    attached: ['tests', 'lint', 'style'],
    happens: (r) => [submit(r, {}), apply(r, {})],
    rows: ['submit', 'passed', 'apply'],
    phase: 'applied',
  },
  {
    name: 'fails, is fixed in two stages, passes and is applied',
    attached: ['tests', 'lint', 'style'],
    happens: (r) => [
      submit(r, { tests: 'fail', style: 'fail' }),
      fix(r, { tests: 'pass', lint: 'fail', style: 'error' }),
      fix(r, { lint: 'pass' }),
      apply(r, { lint: 'pass' }),
    ],
    rows: [
      'submit',
      'failed-fix',
      'fix',
      'passed-first',
      'failed-fix',
      'fix',
      'passed-first',
      'passed',
      'apply',
    ],
    phase: 'applied',
  },
  {
    name: 'errs alone, is judged again, and goes on as failed',
    attached: ['tests', 'lint'],
    happens: (r) => [submit(r, { tests: 'error' }), fix(r, { tests: 'error', lint: 'fail' })],
    rows: ['submit', 'errored', 'errored', 'failed-fix', 'fix', 'errored', 'errored', 'failed-fix'],
    phase: 'fix',
  },
  {
    name: 'goes through fixes, a revision, an escalation and guidance to its end',
    plans: { fixes: 1, revisions: 1, escalations: 1 },
    attached: ['tests'],
    happens: (r) => [
      { type: 'create', resources: [r] } as Wish,
      strategized,
      executed(r, { tests: 'fail' }),
      fix(r, { tests: 'fail' }),
      strategized,
      executed(r, { tests: 'fail' }),
      fix(r, { tests: 'fail' }),
      { type: 'respond', answer: 'retry', guidance: 'test less' } as Wish,
      strategized,
      executed(r, { tests: 'hopeless' }),
    ],
    rows: [
      'create',
      'strategized',
      'executed',
      'failed-fix',
      'fix',
      'failed-revise',
      'strategized',
      'executed',
      'failed-fix',
      'fix',
      'failed-escalate',
      'respond-retry',
      'strategized',
      'executed',
      'failed-end',
    ],
    phase: 'failed',
  },
  {
    name: 'is cancelled while its checks run',
    attached: ['slow', 'tests'],
    happens: () => [
      { type: 'submit while running', says: { slow: 'hang' } },
      { type: 'cancel', reason: 'no longer wanted' } as Wish,
    ],
    rows: ['submit', 'cancel'],
    phase: 'cancelled',
  },
  {
    name: 'is judged again when its attachments have changed before it is applied',
    attached: ['tests'],
    happens: (r) => [submit(r, {}), { attach: 'lint' }, apply(r, {}), apply(r, {})],
    rows: ['submit', 'passed', 'apply-changed', 'passed', 'apply'],
    phase: 'applied',
  },
  {
    name: 'passes vacuously without a validation',
    attached: [],
    happens: (r) => [submit(r, {})],
    rows: ['submit', 'passed'],
    phase: 'ready',
  },
  {
    name: 'stays shut without a validation where one is required',
    plans: { require_validations: true },
    attached: [],
    happens: (r) => [submit(r, {})],
    rows: ['submit', 'failed-fix'],
    phase: 'fix',
  },
  {
    name: 'fails at once when no fix is allowed and no revision is left',
    plans: { fixes: 0, revisions: 0, escalations: 0 },
    attached: ['style', 'tests', 'lint'],
    happens: (r) => [submit(r, { tests: 'fail', lint: 'error', style: 'error' })],
    rows: ['submit', 'failed-end'],
    phase: 'failed',
  },
];

let redis: TestRedis;
let fleet: TestFleet;
const inlines: Engine[] = [];
beforeAll(async () => {
  redis = await startTestRedis();
  fleet = await openTestFleet(redis.url, configWith(settings));
  await register(placeOf(fleet.engine), VALIDATIONS);
});
afterAll(async () => {
  await fleet.close();
  await redis.stop();
  for (const inline of inlines) await inline.close();
});

/** Plans with the story's limits, on the fleet or in this process. */
async function placeFor({ plans }: Story, kind: Engine['kind']): Promise<PlanPlace> {
  const own = { ...settings, ...(plans === undefined ? {} : { plans }), fleet: fleet.engine.config.fleet };
  if (kind === 'fleet') return placeOf({ ...fleet.engine, config: configWith(own) });
  const inline = openInline(configWith(own), silent);
  inlines.push(inline);
  await register(placeOf(inline), VALIDATIONS);
  return placeOf(inline);
}

/** Times, and what a machine's load decides, are no part of the comparison. */
function withoutTime(value: unknown): unknown {
  const varies = new Set(['duration_ms', 'results_digest', 'resultsDigest', 'worker', 'at', 'decidedAt']);
  const text = JSON.stringify(value, (key, item) => (varies.has(key) ? undefined : item));
  return JSON.parse(text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'T'));
}

async function play(story: Story, plan: string, kind: Engine['kind']) {
  const resource = `repo/${plan}`;
  const place = await placeFor(story, kind);
  const { store } = place.engine;
  await attach(place, resource, story.attached);
  const running: Promise<unknown>[] = [];
  for (const [n, happening] of story.happens(resource).entries()) {
    const common = { plan, command: `c${n}`, actor: AGENT };
    if ('attach' in happening) await attach(place, resource, [happening.attach]);
    else if (happening.type === 'submit while running') {
      running.push(place.plans.run({ ...common, type: 'submit', ...says(resource, happening.says) }));
      await untilPlan(store, plan, ({ awaits }) => awaits !== null);
    } else {
      await place.plans.run({ ...common, ...happening } as PlanRequest);
      await settled(store, plan);
    }
  }
  await Promise.all(running);
  const { plan: state, timeline, evaluations, checks } = await place.plans.status(plan);
  // Results of a cancelled evaluation may still come in; they must change nothing.
  await expect.poll(() => stillRuns(place, evaluations), { timeout: 20_000 }).toBe(false);
  const events = await eventsOfPlan(store, plan);
  const ids = events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const outcome = {
    phase: state.phase,
    rows: timeline.map(({ row }) => row),
    types: events.map(({ type }) => shortType(type)),
    whole: withoutTime({
      state: { ...state, createdAt: 0, updatedAt: 0, deadline: state.deadline !== null },
      timeline,
      evaluations: evaluations.map(({ acceptedAt, ...evaluation }) => evaluation),
      checks,
    }),
    events: withoutTime(events) as CloudEventJson[],
  };
  return withPlainIds(
    outcome,
    evaluations.map(({ evaluation }) => evaluation),
    ids,
  );
}

async function stillRuns({ engine }: PlanPlace, evaluations: readonly { evaluation: string }[]) {
  if (engine.queue !== fleet.engine.queue) return false;
  for (const { evaluation } of evaluations) {
    const record = await engine.store.evaluations.chunk(evaluation);
    if (record !== undefined && (await engine.queue.isAlive(record.chunk, record.generation))) return true;
  }
  return false;
}

describe('on the inline engine and on the fleet, with the same events in the same order, a plan', () => {
  it.each(STORIES.map((story, n) => [story.name, story, n] as const))('%s', async (_name, story, n) => {
    const inline = await play(story, `p${n}`, 'inline');
    expect(inline.rows).toEqual(story.rows);
    expect(inline.phase).toBe(story.phase);
    const onFleet = await play(story, `p${n}`, 'fleet');
    expect(onFleet.types).toEqual(inline.types);
    expect(onFleet).toEqual(inline);
  });
});
