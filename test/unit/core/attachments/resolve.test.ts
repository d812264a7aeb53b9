import { describe, expect, it } from 'vitest';
import { explainResource, resolveAttachments } from '../../../../src/core/attachments/resolve.js';
import type { Attachment } from '../../../../src/core/registry/model.js';
import { attachment, ids, inPlan, inProject, registryOf, validation, without } from './build.js';

const registry = registryOf([
  validation('lint'),
  validation('audit'),
  validation('style', { mode: 'informational' }),
  validation('advice', { mode: 'informational' }),
]);

function resolved(attachments: Attachment[], project: string | null = null, plan: string | null = null) {
  return ids(resolveAttachments({ ...registry, attachments }, { resources: ['repo/api'], project, plan }));
}

const everywhere = [
  attachment('01', { validation: 'local/lint' }),
  attachment('02', { validation: 'local/audit', ...inProject('web') }),
  attachment('03', { validation: 'local/style', ...inPlan('p1') }),
];

describe('resolveAttachments', () => {
  it.each<[string, string | null, string | null, string[]]>([
    ['without project and plan: the direct ones', null, null, ['01']],
    ['through the project: those of the project too', 'web', null, ['02', '01']],
    ['through another project: not those', 'shop', null, ['01']],
    ['in the plan: those of the plan too', null, 'p1', ['01', '03']],
    ['in another plan: not those', null, 'p2', ['01']],
    ['in the plan through the project: the union', 'web', 'p1', ['02', '01', '03']],
    ['a plan named like the project is another thing', 'p1', 'web', ['01']],
  ])('%s', (_name, project, plan, expected) => {
    expect(resolved(everywhere, project, plan)).toEqual(expected);
  });

  it('leaves other resources out, those of a similar name too', () => {
    const others = ['repo/api2', 'repo/api/v1', 'api', 'repo/ap', 'Repo/api'];
    const attachments = others.map((resource, n) => attachment(`0${n}`, { resource }));
    expect(resolved(attachments)).toEqual([]);
  });

  it('takes each resource once', () => {
    const where = { resources: ['repo/api', 'repo/api'], project: null, plan: null };
    expect(ids(resolveAttachments({ ...registry, attachments: [attachment('01')] }, where))).toEqual(['01']);
  });

  it.each<[string, Attachment[], string[]]>([
    [
      'plan over project over direct',
      [attachment('01'), attachment('02', inProject('web')), attachment('03', inPlan('p1'))],
      ['03'],
    ],
    ['project over direct', [attachment('01'), attachment('02', inProject('web'))], ['02']],
    ['plan over direct', [attachment('02'), attachment('01', inPlan('p1'))], ['01']],
    ['the oldest within a scope', [attachment('03'), attachment('01'), attachment('02')], ['01']],
    ['nothing of what does not apply', [attachment('01'), attachment('02', inProject('shop'))], ['01']],
  ])('with the same arguments: %s', (_name, attachments, expected) => {
    expect(resolved(attachments, 'web', 'p1')).toEqual(expected);
  });

  it.each<[string, Partial<Attachment>]>([
    ['arguments', { arguments: { depth: 2 } }],
    ['validation', { validation: 'local/audit' }],
    ['slot', { slot: 'copy' }],
  ])('takes both when they differ in %s', (_what, more) => {
    const attachments = [attachment('01', { slot: 'repo' }), attachment('02', { slot: 'repo', ...more })];
    expect(resolved(attachments).toSorted()).toEqual(['01', '02']);
  });

  it('compares arguments as JSON, whatever the order of their keys', () => {
    const attachments = [
      attachment('01', { arguments: { a: 1, b: { c: [1], d: null } } }),
      attachment('02', { arguments: { b: { d: null, c: [1] }, a: 1 } }),
      attachment('03', { arguments: { a: 1, b: { c: ['1'], d: null } } }),
    ];
    expect(resolved(attachments)).toEqual(['01', '03']);
  });

  it('sorts by resource, required first, validation and id', () => {
    const attachments = [
      attachment('06', { resource: 'db/a', validation: 'local/style' }),
      attachment('05', { resource: 'db/a', validation: 'local/advice' }),
      attachment('04', { resource: 'db/a', validation: 'local/lint', arguments: { n: 2 } }),
      attachment('03', { resource: 'db/B', validation: 'local/lint' }),
      attachment('02', { resource: 'db/a', validation: 'local/audit' }),
      attachment('01', { resource: 'db/a', validation: 'local/lint', arguments: { n: 1 } }),
    ];
    const where = { resources: ['db/a', 'db/B'], project: null, plan: null };
    const order = ids(resolveAttachments({ ...registry, attachments }, where));
    expect(order).toEqual(['03', '02', '01', '04', '05', '06']);
  });

  it('keeps an attachment whose validation is gone, as a required one', () => {
    const attachments = [attachment('01', { validation: 'local/style' }), attachment('02')];
    const where = { resources: ['repo/api'], project: null, plan: null };
    const left = without({ ...registry, attachments }, 'local/style');
    expect(ids(resolveAttachments(left, where))).toEqual(['02', '01']);
    expect(explainResource(left, 'repo/api', null, null)[1]).toMatchObject({ mode: 'required' });
  });
});

describe('explainResource', () => {
  const reasons = (attachments: Attachment[], project: string | null = null, plan: string | null = null) =>
    explainResource({ ...registry, attachments }, 'repo/api', project, plan).map((each) => [
      each.attachment.id,
      each.applies,
      each.reason,
    ]);

  it('says where those of a scope apply when neither project nor plan is asked for', () => {
    expect(reasons(everywhere)).toEqual([
      ['02', false, 'applies only through project web'],
      ['01', true, 'applies always: attached to the resource itself'],
      ['03', false, 'applies only in plan p1'],
    ]);
  });

  it('says which project and plan they belong to when others are asked for', () => {
    expect(reasons(everywhere, 'shop', 'p2')).toEqual([
      ['02', false, 'applies only through project web, not through project shop'],
      ['01', true, 'applies always: attached to the resource itself'],
      ['03', false, 'applies only in plan p1, not in plan p2'],
    ]);
  });

  it('says through what they apply', () => {
    expect(reasons(everywhere, 'web', 'p1')).toEqual([
      ['02', true, 'applies through project web'],
      ['01', true, 'applies always: attached to the resource itself'],
      ['03', true, 'applies in plan p1'],
    ]);
  });

  it('names what shadows, and why', () => {
    const attachments = [attachment('01'), attachment('02'), attachment('03', inPlan('p1'))];
    const shadowed = (plan: string | null) =>
      explainResource({ ...registry, attachments }, 'repo/api', null, plan).map((each) => [
        each.shadowedBy,
        each.reason,
      ]);
    const same = 'the same validation with the same arguments';
    const specific = `shadowed by 03, ${same}: the plan scope is more specific than the direct scope`;
    expect(shadowed('p1')).toEqual([
      ['03', specific],
      ['03', specific],
      [null, 'applies in plan p1'],
    ]);
    expect(shadowed(null)).toEqual([
      [null, 'applies always: attached to the resource itself'],
      ['01', `shadowed by 01, ${same}: the direct scope has it already, and the oldest wins`],
      [null, 'applies only in plan p1'],
    ]);
  });

  it('tells the mode of each, in the order of checking', () => {
    const modes = explainResource({ ...registry, attachments: everywhere }, 'repo/api', null, null);
    expect(modes.map(({ mode }) => mode)).toEqual(['required', 'required', 'informational']);
  });

  it('answers nothing for a resource without attachments', () => {
    expect(explainResource({ ...registry, attachments: everywhere }, 'repo/web', null, null)).toEqual([]);
  });

  it('says of a validation that is gone that it keeps the gate shut', () => {
    const left = without({ ...registry, attachments: [attachment('01')] }, 'local/lint');
    expect(explainResource(left, 'repo/api', null, null)).toMatchObject([
      {
        applies: true,
        reason:
          'applies always: attached to the resource itself; validation local/lint is not registered any more, which keeps the gate shut',
      },
    ]);
  });
});
