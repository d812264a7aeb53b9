import { describe, expect, it } from 'vitest';
import {
  type AttachRequest,
  planAttachment,
  planDetachment,
} from '../../../../src/core/attachments/attach.js';
import type { Registry } from '../../../../src/core/registry/model.js';
import { applied, attachment, inProject, registryOf, skill, tool, validation, without } from './build.js';

const schema = {
  type: 'object',
  properties: { depth: { type: 'integer' }, level: { enum: ['low', 'high'] } },
  required: ['depth'],
  additionalProperties: false,
};
const registry = registryOf([
  tool('count'),
  skill('care', ['lint', 'count']),
  validation('lint', { input_schema: { type: 'object' } }),
  validation('bare'),
  validation('deep', { input_schema: schema }),
  validation('repo-only', { resource_slots: [{ name: 'repo', type: 'repo', required: true }] }),
  validation('compare', {
    resource_slots: [
      { name: 'left', type: 'repo', required: false },
      { name: 'right', type: 'repo', required: false },
    ],
  }),
  validation('narrow', { code: undefined, wraps: 'repo-only', transform: '(out) => out' }),
]);

const request = (more: Partial<AttachRequest> = {}): AttachRequest => ({
  resource: 'repo/api',
  validation: 'lint',
  arguments: {},
  ...more,
});
const attach = (more: Partial<AttachRequest>, to: Registry = registry) =>
  planAttachment(to, request(more), '01ID', 7, 'ann');

function problemsOf(more: Partial<AttachRequest>, to: Registry = registry) {
  const answer = attach(more, to);
  return answer.ok ? [] : answer.problems;
}
const codes = (more: Partial<AttachRequest>) => problemsOf(more).map(({ code }) => code);

describe('planAttachment', () => {
  it('attaches directly, with the name in full', () => {
    const expected = attachment('01ID', { attachedAt: 7, actor: 'ann' });
    expect(attach({})).toEqual({
      ok: true,
      attachment: expected,
      existing: false,
      change: { put: [], remove: [], attach: [expected], detach: [] },
    });
    expect(attach({ validation: 'local/lint' })).toMatchObject({ attachment: { validation: 'local/lint' } });
  });

  it.each([
    [{ project: 'web' }, { scope: 'project', target: 'web' }],
    [{ plan: 'p1' }, { scope: 'plan', target: 'p1' }],
    [{}, { scope: 'direct', target: null }],
  ])('takes the scope from %j', (more, expected) => {
    expect(attach(more)).toMatchObject({ attachment: expected });
  });

  it('binds the slot that fits, and the named one of two', () => {
    expect(attach({ validation: 'repo-only' })).toMatchObject({ attachment: { slot: 'repo' } });
    expect(attach({ validation: 'compare', slot: 'right' })).toMatchObject({ attachment: { slot: 'right' } });
  });

  it('binds by the slots that a wrapping validation inherits', () => {
    expect(attach({ validation: 'narrow' })).toMatchObject({ attachment: { slot: 'repo' } });
    expect(codes({ validation: 'narrow', resource: 'db/a' })).toEqual(['NO_SLOT_FITS']);
  });

  it.each<[string, Partial<AttachRequest>, string[]]>([
    ['a validation that is not there', { validation: 'lnt' }, ['UNKNOWN_VALIDATION']],
    ['a name that could not be one', { validation: '' }, ['UNKNOWN_VALIDATION']],
    ['a name of the language', { validation: '__proto__' }, ['UNKNOWN_VALIDATION']],
    ['a plain tool', { validation: 'count' }, ['NOT_A_VALIDATION']],
    ['a built-in tool', { validation: 'builtin/pattern_match' }, ['NOT_A_VALIDATION']],
    ['a skill', { validation: 'care' }, ['NOT_A_VALIDATION']],
    ['both scopes', { project: 'web', plan: 'p1' }, ['BOTH_SCOPES']],
    ['a bad resource', { resource: '../etc' }, ['BAD_RESOURCE']],
    ['a bad project', { project: 'a b' }, ['BAD_PROJECT']],
    ['a bad plan', { plan: '' }, ['BAD_PLAN']],
    [
      'an argument of a validation without an input_schema',
      { validation: 'bare', arguments: { a: 1 } },
      ['VALUE_UNKNOWN'],
    ],
    ['a missing argument', { validation: 'deep' }, ['VALUE_MISSING']],
    ['no slot that fits', { validation: 'repo-only', resource: 'db/a' }, ['NO_SLOT_FITS']],
    ['two slots and no name', { validation: 'compare' }, ['SLOT_AMBIGUOUS']],
    ['a slot that is not there', { slot: 'repo' }, ['UNKNOWN_SLOT']],
  ])('refuses %s', (_what, more, expected) => {
    expect(codes(more)).toEqual(expected);
  });

  it('tells every problem at once', () => {
    const answer = problemsOf({
      resource: 'a b',
      project: 'a b',
      plan: 'p1',
      validation: 'deep',
      arguments: { dpth: 1, level: 'hihg' },
      slot: 'x',
    });
    expect(answer.map(({ code, path }) => [code, path]).toSorted()).toEqual([
      ['BAD_PROJECT', 'project'],
      ['BAD_RESOURCE', 'resource'],
      ['BOTH_SCOPES', ''],
      ['VALUE_MISSING', 'arguments.depth'],
      ['VALUE_NOT_ALLOWED', 'arguments.level'],
      ['VALUE_UNKNOWN', 'arguments.dpth'],
    ]);
    expect(answer.find(({ path }) => path === 'arguments.dpth')).toMatchObject({ nearest: 'depth' });
    expect(answer.find(({ path }) => path === 'arguments.level')).toMatchObject({ nearest: 'high' });
  });

  it('names the nearest validation, never a tool, and nothing that is not like it', () => {
    expect(problemsOf({ validation: 'nope' })[0]).not.toHaveProperty('nearest');
    expect(problemsOf({ validation: 'lnt' })).toMatchObject([{ nearest: 'local/lint', found: '"lnt"' }]);
    expect(problemsOf({ validation: 'cuont' })[0]?.nearest).not.toBe('local/count');
  });

  it('says how a plain tool becomes a validation, and what a skill is', () => {
    const [plain] = problemsOf({ validation: 'count' });
    expect(plain).toMatchObject({
      found: 'plain tool local/count',
      message: expect.stringMatching(/wraps.*transform/),
    });
    expect(problemsOf({ validation: 'care' })[0]).toMatchObject({ found: 'skill local/care' });
  });

  it('refuses arguments that no manifest could carry', () => {
    let nested: unknown = 1;
    for (let level = 0; level < 5_000; level++) nested = [nested];
    const bad: unknown[] = [
      { nested },
      { text: 'x'.repeat(20_000) },
      { n: Number.NaN },
      { f: () => 1 },
      { u: undefined },
      { b: 1n },
      JSON.parse('{"__proto__": {"x": 1}}'),
      [],
      null,
    ];
    for (const each of bad) expect(codes({ arguments: each as never })).toEqual(['BAD_ARGUMENTS']);
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(codes({ arguments: loop as never })).toEqual(['BAD_ARGUMENTS']);
  });

  it('keeps the arguments as they were when attached', () => {
    const given = { list: [1] };
    const answer = attach({ arguments: given });
    given.list.push(2);
    expect(answer).toMatchObject({ attachment: { arguments: { list: [1] } } });
  });

  it('refuses a validation that could not be run any more', () => {
    const [problem] = problemsOf({ validation: 'narrow' }, without(registry, 'local/repo-only'));
    expect(problem).toMatchObject({ code: 'UNKNOWN_VALIDATION', message: expect.stringContaining('wraps') });
  });
});

describe('attaching twice', () => {
  const first = attach({ arguments: { a: 1, b: 2 } });
  if (!first.ok) throw new Error('refused');
  const standing = applied(registry, first.change);
  const again = (more: Partial<AttachRequest>) =>
    planAttachment(standing, request({ arguments: { b: 2, a: 1 }, ...more }), '02ID', 9, 'bob');

  it('in the same words answers the one that stands, and changes nothing', () => {
    expect(again({})).toEqual({
      ok: true,
      attachment: first.attachment,
      existing: true,
      change: { put: [], remove: [], attach: [], detach: [] },
    });
  });

  it.each<[string, Partial<AttachRequest>]>([
    ['arguments', { arguments: { a: 1 } }],
    ['scope', { project: 'web' }],
    ['resource', { resource: 'repo/web' }],
    ['validation', { validation: 'deep', arguments: { depth: 1 } }],
  ])('with another %s attaches another', (_what, more) => {
    expect(again(more)).toMatchObject({ ok: true, existing: false, attachment: { id: '02ID' } });
  });

  it('for another project attaches another', () => {
    const web = { ...registry, attachments: [attachment('01ID', inProject('web'))] };
    const answer = planAttachment(web, request({ project: 'shop' }), '02ID', 9, 'bob');
    expect(answer).toMatchObject({ existing: false, attachment: { target: 'shop' } });
  });

  it('for a plan named like the project attaches another', () => {
    const web = { ...registry, attachments: [attachment('01ID', inProject('web'))] };
    const answer = planAttachment(web, request({ plan: 'web' }), '02ID', 9, 'bob');
    expect(answer).toMatchObject({ existing: false, attachment: { scope: 'plan' } });
  });

  it('in another slot attaches another', () => {
    const left = attach({ validation: 'compare', slot: 'left' });
    if (!left.ok) throw new Error('refused');
    const right = request({ validation: 'compare', slot: 'right' });
    expect(planAttachment(applied(registry, left.change), right, '02ID', 9, 'bob')).toMatchObject({
      existing: false,
    });
  });

  it('under an id that another attachment has is a mistake of the caller', () => {
    expect(() => planAttachment(standing, request(), '01ID', 9, 'bob')).toThrow(/01ID belongs/);
  });
});

describe('planDetachment', () => {
  const standing = { ...registry, attachments: [attachment('01'), attachment('02')] };

  it('takes off the one of this id alone', () => {
    const answer = planDetachment(standing, '01');
    expect(answer).toMatchObject({ ok: true, attachment: { id: '01' } });
    if (answer.ok) expect(applied(standing, answer.change).attachments).toEqual([attachment('02')]);
  });

  it('refuses an id that is not there', () => {
    expect(planDetachment(standing, '03')).toMatchObject({
      ok: false,
      problems: [{ code: 'UNKNOWN_ATTACHMENT', found: '03' }],
    });
  });
});
