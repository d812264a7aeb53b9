import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Attachment } from '../../../src/core/registry/model.js';
import { lastResults, openInline, refusal, type Stage } from './support.js';

// ADR, Compliance: "Tests verify correct resolution across direct, project-scoped, and plan-scoped
// attachments."

const LIMITED = `({ subject, args }) => ({
  passed: subject.size <= args.max,
  message: subject.size + ' of ' + args.max,
})`;
const SCHEMA = {
  type: 'object',
  properties: { max: { type: 'integer' }, unit: { type: 'string' } },
  required: ['max'],
  additionalProperties: false,
};

let stage: Stage;
beforeAll(async () => {
  stage = await openInline();
  for (const name of ['size', 'depth', 'width'])
    await stage.fleet.registerValidation({ name, code: LIMITED, input_schema: SCHEMA });
  await stage.fleet.registerValidation({
    name: 'advice',
    mode: 'informational',
    code: LIMITED,
    input_schema: SCHEMA,
  });
});
afterAll(() => stage.close());

interface Scope {
  project?: string;
  plan?: string;
}

function attach(resource: string, validation: string, max: number, scope: Scope = {}): Promise<Attachment> {
  // Two scopes are refused by the types as well.
  return stage.fleet.attach({ resource, validation, arguments: { max }, ...(scope as { plan?: never }) });
}

/** The checks that apply: validation, maximum and scope of each. */
async function applying(resource: string, where: Scope = {}): Promise<string[]> {
  const { checks } = await stage.fleet.resolve({ resources: [resource], ...where });
  return checks.map(({ validation, arguments: given, scope }) => `${validation} ${given.max} ${scope}`);
}

describe('Given one attachment in each scope', () => {
  const resource = 'repo/one-each';
  let attachments: Attachment[];
  beforeAll(async () => {
    attachments = [
      await attach(resource, 'size', 1),
      await attach(resource, 'depth', 2, { project: 'shop' }),
      await attach(resource, 'width', 3, { plan: 'release' }),
    ];
  });

  it('when they are attached, then each has an id of its own that sorts by time', () => {
    const ids = attachments.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort());
    for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it.each<[string, Scope, string[]]>([
    ['from nowhere in particular', {}, ['local/size 1 direct']],
    ['through the project', { project: 'shop' }, ['local/depth 2 project', 'local/size 1 direct']],
    ['in the plan', { plan: 'release' }, ['local/size 1 direct', 'local/width 3 plan']],
    [
      'in the plan, through the project',
      { project: 'shop', plan: 'release' },
      ['local/depth 2 project', 'local/size 1 direct', 'local/width 3 plan'],
    ],
    ['through another project', { project: 'bank' }, ['local/size 1 direct']],
    [
      'in another plan of the project',
      { project: 'shop', plan: 'hotfix' },
      ['local/depth 2 project', 'local/size 1 direct'],
    ],
    ['in a plan of the project’s name', { plan: 'shop' }, ['local/size 1 direct']],
    ['through a project of the plan’s name', { project: 'release' }, ['local/size 1 direct']],
  ])(
    'when the resource is reached %s, then the union of what applies there is checked',
    async (_how, where, checks) => {
      expect(await applying(resource, where)).toEqual(checks);
    },
  );

  it('when another resource is reached, then none of them applies, and that is told', async () => {
    const where = { resources: ['repo/other', resource], project: 'shop' };
    const { checks, unvalidated } = await stage.fleet.resolve(where);
    expect(new Set(checks.map((check) => check.resource))).toEqual(new Set([resource]));
    expect(unvalidated).toEqual(['repo/other']);
  });

  it('when the resource is explained, then every attachment says why it applies or does not', async () => {
    const explained = await stage.fleet.explain(resource, { project: 'shop', plan: 'hotfix' });
    expect(explained.map(({ attachment, applies, reason }) => [attachment.scope, applies, reason])).toEqual([
      ['project', true, 'applies through project shop'],
      ['direct', true, 'applies always: attached to the resource itself'],
      ['plan', false, 'applies only in plan release, not in plan hotfix'],
    ]);
  });

  it('when a plan runs, then its evaluation has exactly these checks', async () => {
    for (const [plan, project, names] of [
      ['release', 'shop', ['local/depth', 'local/size', 'local/width']],
      ['hotfix', 'shop', ['local/depth', 'local/size']],
      ['elsewhere', undefined, ['local/size']],
    ] as const) {
      const story = stage.story(plan);
      const where = project === undefined ? {} : { project };
      await stage.fleet.submitPlan({ plan, ...where, snapshots: { [resource]: { size: 1 } } });
      await story.until('plan.gate.passed');
      expect(Object.keys(await lastResults(story))).toEqual(names);
    }
  });
});

describe('Given the same validation with the same arguments in several scopes', () => {
  const resource = 'repo/shadowed';
  let direct: Attachment;
  let project: Attachment;
  let plan: Attachment;
  beforeAll(async () => {
    plan = await attach(resource, 'size', 9, { plan: 'p1' });
    project = await attach(resource, 'size', 9, { project: 'shop' });
    direct = await attach(resource, 'size', 9);
  });

  it.each<[string, Scope, string]>([
    ['direct, where no narrower one applies', {}, 'direct'],
    ['the project’s, over the direct one', { project: 'shop' }, 'project'],
    ['the plan’s, over the direct one', { plan: 'p1' }, 'plan'],
    ['the plan’s, over all', { project: 'shop', plan: 'p1' }, 'plan'],
  ])('when it is resolved, then one of them applies: %s', async (_which, where, scope) => {
    expect(await applying(resource, where)).toEqual([`local/size 9 ${scope}`]);
  });

  it('when it is explained, then the others are shadowed by the most specific one', async () => {
    const explained = await stage.fleet.explain(resource, { project: 'shop', plan: 'p1' });
    const by = Object.fromEntries(explained.map(({ attachment, shadowedBy }) => [attachment.id, shadowedBy]));
    expect(by).toEqual({ [direct.id]: plan.id, [project.id]: plan.id, [plan.id]: null });
  });

  it('when its arguments differ, then it is another check, and both apply', async () => {
    await attach(resource, 'size', 10, { plan: 'p1' });
    expect(await applying(resource, { plan: 'p1' })).toEqual(['local/size 9 plan', 'local/size 10 plan']);
  });

  it('when its arguments are the same in another order, then it is the same check', async () => {
    const twice = { resource: 'repo/order', validation: 'size' };
    await stage.fleet.attach({ ...twice, arguments: { max: 1, unit: 'm' } });
    await stage.fleet.attach({ ...twice, arguments: { unit: 'm', max: 1 }, project: 'shop' });
    expect(await applying('repo/order', { project: 'shop' })).toEqual(['local/size 1 project']);
  });

  it('when it is attached again in the same scope, then the attachment that stands is the answer', async () => {
    expect((await attach(resource, 'size', 9, { project: 'shop' })).id).toBe(project.id);
  });

  it('when the narrower ones are detached, then the wider one applies again', async () => {
    await stage.fleet.detach(plan.id);
    expect(await applying(resource, { project: 'shop', plan: 'p1' })).toEqual([
      'local/size 9 project',
      'local/size 10 plan',
    ]);
  });
});

describe('Given what attaching refuses', () => {
  it.each<[string, () => Promise<unknown>, string[]]>([
    [
      'both scopes together',
      () => attach('repo/x', 'size', 1, { project: 'a', plan: 'b' }),
      ['BOTH_SCOPES '],
    ],
    ['a plain tool', () => attach('repo/x', 'builtin/task_count', 1), ['NOT_A_VALIDATION validation']],
    ['what is not registered', () => attach('repo/x', 'sise', 1), ['UNKNOWN_VALIDATION validation']],
    [
      'arguments against the schema',
      () => stage.fleet.attach({ resource: 'repo/x', validation: 'size', arguments: { mx: 1 } }),
      ['VALUE_MISSING arguments.max', 'VALUE_UNKNOWN arguments.mx'],
    ],
    ['a bad name of a resource', () => attach('repo//x y', 'size', 1), ['BAD_RESOURCE resource']],
  ])('when %s is given, then nothing is attached', async (_what, work, problems) => {
    const refused = await refusal(work());
    expect(refused.code).toBe('INVALID_ATTACHMENT');
    expect(refused.problems.sort()).toEqual(problems.sort());
    expect(await stage.fleet.explain('repo/x')).toEqual([]);
  });

  it('when a mode is given, then it is refused, and the validation’s own stands', async () => {
    const resource = 'repo/mode';
    const request = { resource, validation: 'advice', arguments: { max: 0 } };
    const moded = { ...request, mode: 'required' };
    expect(await refusal(stage.fleet.attach(moded))).toEqual({ code: 'USAGE', problems: ['USAGE mode'] });
    await stage.fleet.attach(request);
    const story = stage.story('mode');
    await stage.fleet.submitPlan({ plan: 'mode', snapshots: { [resource]: { size: 1 } } });
    await story.until('plan.gate.passed');
    expect(await lastResults(story)).toMatchObject({
      'local/advice': { mode: 'informational', outcome: 'fail' },
    });
  });
});

describe('Given a plan whose gate is open', () => {
  const resource = 'repo/changed';

  it('when another validation is attached before it is applied, then the gate closes and everything is judged again', async () => {
    const { fleet } = stage;
    await attach(resource, 'size', 5);
    const snapshots = { [resource]: { size: 4 } };
    const story = stage.story('changed');
    await fleet.submitPlan({ plan: 'changed', project: 'shop', snapshots });
    await story.until('plan.gate.passed');
    await attach(resource, 'depth', 3, { project: 'shop' });
    expect((await fleet.apply('changed', { snapshots })).plan.phase).toBe('validate');
    const { data } = await story.until('plan.retry.requested');
    expect(data.diagnosis.failed).toMatchObject([{ validation: 'local/depth', message: '4 of 3' }]);
  });

  it('when one is attached for another plan, then it is applied all the same', async () => {
    const { fleet } = stage;
    const snapshots = { 'repo/kept': { size: 4 } };
    await attach('repo/kept', 'size', 5);
    const story = stage.story('kept');
    await fleet.submitPlan({ plan: 'kept', snapshots });
    await story.until('plan.gate.passed');
    await attach('repo/kept', 'depth', 3, { plan: 'another' });
    expect((await fleet.apply('kept', { snapshots })).plan.phase).toBe('applied');
  });
});
