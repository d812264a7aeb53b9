import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventName } from '../../../src/core/events.js';
import type { FleetEvent } from '../../../src/library/subscriptions.js';
import { lastResults, openInline, openRedis, refusal, type Stage, type Story } from './support.js';

// ADR, Compliance: "BDD scenarios exercise the full failure sequence: fix → revalidate → retry limit →
// strategy revision → escalation → terminal failure."

const REPO = 'repo/app';
const LIMITS = { plans: { fixes: 2, revisions: 1, escalations: 1 } };

interface Work {
  /** Tests that fail. */
  failures: number;
  tidy?: boolean;
}
const work = (failures: number, tidy = true): Record<string, Work> => ({ [REPO]: { failures, tidy } });

async function registerChecks({ fleet }: Stage): Promise<void> {
  await fleet.registerValidation({
    name: 'tests',
    code: `({ subject: { failures } }) => ({
      passed: failures === 0,
      message: failures + ' tests fail',
      data: { failures, excerpt: 'expected 0, got ' + failures },
    })`,
  });
  await fleet.registerValidation({ name: 'tidy', code: '({ subject }) => ({ passed: subject.tidy })' });
  await fleet.registerValidation({
    name: 'documented',
    mode: 'informational',
    code: '({ subject }) => ({ passed: subject.documented === true, message: "no word on it" })',
  });
  for (const validation of ['tests', 'tidy', 'documented'])
    await fleet.attach({ resource: REPO, validation });
}

/** What a failed judgement of everything tells, up to the change of phase. */
const FAILS = ['evaluation.accepted all', 'advisory.raised', 'evaluation.failed all'];
/** … and that of what had failed before. */
const FAILS_AGAIN = ['evaluation.accepted failed_first', 'evaluation.failed failed_first'];

/** One strategy whose two fixes are of no use, up to the change of phase that follows. */
const strategyFails = (from: string) => [
  `plan.phase.changed ${from} > validate`,
  ...FAILS,
  'plan.phase.changed validate > fix',
  'plan.retry.requested 1 of 2',
  'plan.phase.changed fix > validate',
  ...FAILS_AGAIN,
  'plan.phase.changed validate > fix',
  'plan.retry.requested 2 of 2',
  'plan.phase.changed fix > validate',
  ...FAILS_AGAIN,
];

const SEQUENCE = [
  ...strategyFails('-'),
  'plan.phase.changed validate > strategize',
  'plan.revision.requested 1 of 1: fixes_used_up',
  'plan.phase.changed strategize > execute',
  ...strategyFails('execute'),
  'plan.phase.changed validate > escalated',
  'plan.escalated revisions_used_up',
  'plan.phase.changed escalated > strategize',
  'plan.phase.changed strategize > execute',
  ...strategyFails('execute'),
  'plan.phase.changed validate > failed',
  'plan.failed escalations_used_up',
];

/** Both fixes that a strategy has, in vain; answers what they were asked for with. */
async function fixInVain(story: Story): Promise<FleetEvent<'plan.retry.requested'>['data'][]> {
  const asked = [];
  for (const failures of [2, 1]) {
    const { data } = await story.until('plan.retry.requested');
    asked.push(data);
    await story.fleet.fix(story.plan, work(failures), { actor: 'agent' });
  }
  return asked;
}

describe.each([
  ['in this process', () => openInline(LIMITS)],
  ['on a fleet with Redis', () => openRedis(LIMITS)],
])('Given a plan whose required validation fails for ever, judged %s', (_where, open) => {
  let stage: Stage;
  let story: Story;
  let asked: FleetEvent<'plan.retry.requested'>['data'][];
  let revision: FleetEvent<'plan.revision.requested'>;
  let escalation: FleetEvent<'plan.escalated'>;
  let failure: FleetEvent<'plan.failed'>;

  beforeAll(async () => {
    stage = await open();
    await registerChecks(stage);
    const { fleet } = stage;
    story = stage.story('sequence');
    await fleet.submitPlan({ plan: story.plan, snapshots: work(3), actor: 'agent' });
    asked = await fixInVain(story);
    revision = await story.until('plan.revision.requested');
    await fleet.strategized(story.plan, { actor: 'agent' });
    await fleet.executed(story.plan, work(3), { actor: 'agent' });
    asked.push(...(await fixInVain(story)));
    escalation = await story.until('plan.escalated');
    await fleet.respond(story.plan, 'retry', { guidance: 'leave the index alone', actor: 'kim' });
    await fleet.strategized(story.plan, { actor: 'agent' });
    await fleet.executed(story.plan, work(3), { actor: 'agent' });
    asked.push(...(await fixInVain(story)));
    failure = await story.until('plan.failed');
  });
  afterAll(() => stage.close());

  it('when it goes all the way, then it tells every step, in order and once', () => {
    expect(story.lines()).toEqual(SEQUENCE);
    const ids = story.events().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('when fixes are asked for, then each says which of how many, and what its failure leads to', () => {
    expect(asked.map(({ fix, limit, next_on_failure }) => [fix, limit, next_on_failure])).toEqual([
      [1, 2, 'fix'],
      [2, 2, 'strategize'],
      [1, 2, 'fix'],
      [2, 2, 'escalated'],
      [1, 2, 'fix'],
      [2, 2, 'failed'],
    ]);
    expect(asked.map(({ attempt }) => attempt)).toEqual([1, 2, 4, 5, 7, 8]);
  });

  it('when the first fix is asked for, then the diagnosis says what failed, what passed and what is advised', () => {
    const { diagnosis, expects, failing } = asked[0] as (typeof asked)[0];
    expect(expects).toBe('plan.fixed');
    expect(diagnosis).toMatchObject({
      attempt: 1,
      failed: [
        {
          validation: 'local/tests',
          resource: REPO,
          mode: 'required',
          outcome: 'fail',
          message: '3 tests fail',
          data: { failures: 3 },
          excerpt: 'expected 0, got 3',
          attachment_id: failing[0],
        },
      ],
      errored: [],
      advisories: [{ validation: 'local/documented', mode: 'informational', message: 'no word on it' }],
      passed: [{ validation: 'local/tidy', resource: REPO }],
      not_run: [],
      truncated: false,
    });
  });

  it('when a fix fails, then the diagnosis is of the fix, and says what was not judged yet', () => {
    expect(asked[1]?.diagnosis).toMatchObject({
      attempt: 2,
      failed: [{ validation: 'local/tests', message: '2 tests fail' }],
      passed: [],
      not_run: [{ validation: 'local/tidy' }, { validation: 'local/documented' }],
    });
  });

  it('when fixes are used up, then another strategy is asked for, with the diagnosis and what it will have to meet', () => {
    expect(revision.data).toMatchObject({
      reason: 'fixes_used_up',
      expects: 'plan.strategized',
      counters: { fixes: 0, revisions: 1, escalations: 0 },
      diagnosis: { failed: [{ message: '1 tests fail' }] },
      applicable_total: 3,
    });
  });

  it('when revisions are used up as well, then a person is asked, with the diagnosis', () => {
    expect(escalation.data).toMatchObject({
      reason: 'revisions_used_up',
      expects: 'plan.responded',
      counters: { fixes: 2, revisions: 1, escalations: 0 },
      limits: { fixes: 2, revisions: 1, escalations: 1 },
      diagnosis: { failed: [{ message: '1 tests fail' }] },
    });
  });

  it('when the person answers with guidance, then whoever tries again is told', () => {
    const guided = story.events().filter(({ data }) => 'guidance' in data && data.guidance !== null);
    expect(guided.map(({ data }) => data)).toMatchObject([
      {
        from: 'escalated',
        to: 'strategize',
        guidance: 'leave the index alone',
        actor: 'kim',
        counters: { fixes: 0, revisions: 1, escalations: 1 },
      },
    ]);
  });

  it('when everything is used up, then the plan has failed for good', async () => {
    expect(failure.data).toMatchObject({
      phase: 'failed',
      reason: 'escalations_used_up',
      counters: { fixes: 2, revisions: 1, escalations: 1 },
      diagnosis: { failed: [{ validation: 'local/tests' }] },
    });
    const { fleet, plan } = story;
    for (const command of [
      () => fleet.fix(plan, work(0)),
      () => fleet.executed(plan, work(0)),
      () => fleet.strategized(plan),
      () => fleet.respond(plan, 'retry'),
      () => fleet.apply(plan, { snapshots: work(1) }),
      () => fleet.cancelPlan(plan),
    ])
      expect(await refusal(command())).toEqual({ code: 'PLAN_REFUSED', problems: ['WRONG_PHASE '] });
  });

  it('when its history is read, then every attempt, fix and decision is there, the first and the final result apart', async () => {
    const { timeline, evaluations, checks } = await stage.fleet.plan(story.plan);
    expect(timeline.map(({ revision: n }) => n)).toEqual(timeline.map((_, n) => n + 1));
    expect(timeline.filter(({ command }) => command !== 'decided').map(({ command }) => command)).toEqual([
      ...['submit', 'fix', 'fix', 'strategized', 'executed', 'fix', 'fix'],
      ...['respond', 'strategized', 'executed', 'fix', 'fix'],
    ]);
    expect(new Set(timeline.map(({ actor }) => actor))).toEqual(
      new Set(['agent', 'kim', 'sluice/aggregator']),
    );
    expect(evaluations.map(({ attempt, decision }) => [attempt, decision?.passed])).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempt) => [attempt, false]),
    );
    expect(checks.find(({ validation }) => validation === 'local/tests')).toMatchObject({
      first: { attempt: 1, outcome: 'fail', message: '3 tests fail' },
      final: { attempt: 9, outcome: 'fail', message: '1 tests fail' },
      judged: 9,
    });
  });
});

describe('Given the limits that the ADR names', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openInline();
    await registerChecks(stage);
  });
  afterAll(() => stage.close());

  /** Starts a plan with these snapshots, and listens to it. */
  async function begin(plan: string, snapshots: Record<string, unknown>): Promise<Story> {
    const story = stage.story(plan);
    await stage.fleet.submitPlan({ plan, snapshots });
    return story;
  }

  /** A resource of its own, with one check of this code. */
  async function only(name: string, document: { code: string; retry?: { limit: number }; confirm?: number }) {
    await stage.fleet.registerValidation({ name, ...document });
    await stage.fleet.attach({ resource: `thing/${name}`, validation: name });
    return (value: unknown) => ({ [`thing/${name}`]: value });
  }

  it('when nothing else is set, then three fixes are asked for before another strategy is', async () => {
    const story = await begin('defaults', work(1));
    const fixes: number[] = [];
    for (;;) {
      const { name, data } = await story.until('plan.retry.requested', 'plan.revision.requested');
      if (name === 'plan.revision.requested') break;
      fixes.push((data as { fix: number }).fix);
      await stage.fleet.fix('defaults', work(1));
    }
    expect(fixes).toEqual([1, 2, 3]);
  });

  it('when a fix mends what failed, then the rest is judged again on the same snapshots before the gate opens', async () => {
    const story = await begin('second-stage', work(1));
    await story.until('plan.retry.requested');
    const { plan } = await stage.fleet.fix('second-stage', work(0));
    const { data } = await story.until('plan.gate.passed');
    expect(data).toMatchObject({ digests: plan.snapshots, results_total: 3 });
    expect(story.lines().slice(6)).toEqual([
      'plan.phase.changed fix > validate',
      'evaluation.accepted failed_first',
      'evaluation.passed failed_first',
      'evaluation.accepted rest',
      'advisory.raised',
      'evaluation.passed rest',
      'plan.phase.changed validate > ready',
      'plan.gate.passed',
    ]);
    expect((await stage.fleet.apply('second-stage', { snapshots: work(0) })).plan.phase).toBe('applied');
    await story.until('plan.applied');
    expect(story.lines().slice(14)).toEqual(['plan.phase.changed ready > applied', 'plan.applied']);
  });

  it('when a fix breaks what had passed, then the second stage finds it and the gate stays shut', async () => {
    const story = await begin('broken-fix', work(1));
    await story.until('plan.retry.requested');
    await stage.fleet.fix('broken-fix', work(0, false));
    const { data } = await story.until('plan.retry.requested');
    expect(data).toMatchObject({ fix: 2, diagnosis: { failed: [{ validation: 'local/tidy' }] } });
  });

  it('when a result says that no fix can help, then fixes are skipped, but no other step', async () => {
    const snapshots = await only('hopeless', {
      code: '() => ({ passed: false, data: { retryable: false } })',
    });
    const story = await begin('hopeless', snapshots(1));
    expect((await story.until('plan.revision.requested')).data.reason).toBe('not_retryable');
    expect(story.lines()).not.toContain('plan.retry.requested 1 of 3');
    for (const _revision of [2, 3]) {
      await stage.fleet.strategized('hopeless');
      await stage.fleet.executed('hopeless', snapshots(1));
      await story.until('plan.revision.requested');
    }
    await stage.fleet.strategized('hopeless');
    await stage.fleet.executed('hopeless', snapshots(1));
    await story.until('plan.escalated');
  });

  it('when the validation sets a smaller retry limit, then that one holds', async () => {
    const snapshots = await only('strict', { code: '() => ({ passed: false })', retry: { limit: 1 } });
    const story = await begin('strict', snapshots(1));
    expect((await story.until('plan.retry.requested')).data).toMatchObject({ fix: 1, limit: 1 });
    await stage.fleet.fix('strict', snapshots(2));
    expect((await story.until('plan.revision.requested')).data.reason).toBe('fixes_used_up');
  });

  it('when the validation sets a larger retry limit than the plan, then the plan’s holds', async () => {
    const snapshots = await only('lenient', { code: '() => ({ passed: false })', retry: { limit: 9 } });
    const story = await begin('lenient', snapshots(1));
    expect((await story.until('plan.retry.requested')).data).toMatchObject({ fix: 1, limit: 3 });
  });

  it('when checks only errored, then they are judged again twice before a fix is asked for', async () => {
    const snapshots = await only('breaks', { code: '() => { throw new Error("no disk"); }' });
    const story = await begin('breaks', snapshots(1));
    const { data } = await story.until('plan.retry.requested');
    expect(data).toMatchObject({
      fix: 1,
      attempt: 3,
      diagnosis: { failed: [], errored: [{ outcome: 'error' }] },
    });
    expect(story.lines()).toEqual([
      'plan.phase.changed - > validate',
      ...Array(3).fill(['evaluation.accepted all', 'evaluation.failed all']).flat(),
      'plan.phase.changed validate > fix',
      'plan.retry.requested 1 of 3',
    ]);
  });

  it('when a failure is confirmed, then every run is kept, and it stays a failure', async () => {
    const snapshots = await only('confirmed', { code: '() => ({ passed: false })', confirm: 2 });
    const story = await begin('confirmed', snapshots(1));
    await story.until('plan.retry.requested');
    expect(await lastResults(story)).toMatchObject({
      'local/confirmed': { outcome: 'fail', data: { confirmations: ['fail', 'fail'] } },
    });
  });

  it.each<[string, Record<string, string>, EventName, string]>([
    ['a fix', { fix: '1ms' }, 'plan.revision.requested', 'fix_deadline'],
    ['a strategy', { strategize: '1ms' }, 'plan.escalated', 'strategize_deadline'],
  ])(
    'when %s does not come in time, then the plan moves on by itself',
    async (_what, deadlines, name, reason) => {
      const hasty = await openInline({ plans: { deadlines } });
      await registerChecks(hasty);
      const story = hasty.story('late');
      if ('strategize' in deadlines) await hasty.fleet.createPlan({ plan: 'late', resources: [REPO] });
      else await hasty.fleet.submitPlan({ plan: 'late', snapshots: work(1) });
      expect((await story.until(name)).data).toMatchObject({ reason });
      await hasty.close();
    },
  );
});

describe('Given a plan that a person ends', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openInline({ plans: { fixes: 0, revisions: 0, escalations: 1 } });
    await registerChecks(stage);
  });
  afterAll(() => stage.close());

  it('when the escalation is answered with abort, then it has failed for good', async () => {
    const story = stage.story('aborted');
    await stage.fleet.submitPlan({ plan: 'aborted', snapshots: work(1) });
    await story.until('plan.escalated');
    await stage.fleet.respond('aborted', 'abort', { guidance: 'not worth it', actor: 'kim' });
    expect((await story.until('plan.failed')).data).toMatchObject({ reason: 'aborted' });
    expect(story.lines().slice(-2)).toEqual(['plan.phase.changed escalated > failed', 'plan.failed aborted']);
  });

  it('when it is cancelled while it waits for a person, then it is over', async () => {
    const story = stage.story('cancelled');
    await stage.fleet.submitPlan({ plan: 'cancelled', snapshots: work(1) });
    await story.until('plan.escalated');
    await stage.fleet.cancelPlan('cancelled', { reason: 'superseded', actor: 'kim' });
    expect((await story.until('plan.cancelled')).data).toMatchObject({
      from: 'escalated',
      reason: 'superseded',
    });
    expect(await refusal(stage.fleet.respond('cancelled', 'retry'))).toMatchObject({ code: 'PLAN_REFUSED' });
  });
});

describe('Given a plan that is being judged', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openRedis({}, ['aggregator']);
    await registerChecks(stage);
  });
  afterAll(() => stage.close());

  it('when it is cancelled, then its evaluation is decided as cancelled with it', async () => {
    const story = stage.story('interrupted');
    await stage.fleet.submitPlan({ plan: 'interrupted', snapshots: work(0) });
    expect(await refusal(stage.fleet.fix('interrupted', work(0)))).toEqual({
      code: 'PLAN_REFUSED',
      problems: ['WRONG_PHASE '],
    });
    await stage.fleet.cancelPlan('interrupted', { reason: 'superseded' });
    await story.until('plan.cancelled');
    expect(story.lines()).toEqual([
      'plan.phase.changed - > validate',
      'evaluation.accepted all',
      'evaluation.failed all',
      'plan.phase.changed validate > cancelled',
      'plan.cancelled',
    ]);
    const { evaluations } = await stage.fleet.plan('interrupted');
    expect(evaluations.map(({ decision }) => decision?.status)).toEqual(['cancelled']);
  });

  it('when the same command comes twice, then it is one transition, and other content is refused', async () => {
    const submit = { plan: 'twice', snapshots: work(0), command: 'c-1' };
    const first = await stage.fleet.submitPlan(submit);
    const second = await stage.fleet.submitPlan(submit);
    expect([first.repeated, second.repeated]).toEqual([false, true]);
    expect(second.plan.revision).toBe(1);
    const other = { ...submit, snapshots: work(1) };
    expect(await refusal(stage.fleet.submitPlan(other))).toMatchObject({ code: 'COMMAND_CONFLICT' });
  });
});
