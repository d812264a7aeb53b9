import { describe, expect, it } from 'vitest';
import { scopeOf } from '../../../../src/core/attachments/scope.js';

describe('scopeOf', () => {
  it.each([
    [undefined, undefined, { ok: true, scope: 'direct', target: null }],
    ['web', undefined, { ok: true, scope: 'project', target: 'web' }],
    [undefined, 'plan-1', { ok: true, scope: 'plan', target: 'plan-1' }],
    ['a'.repeat(128), undefined, { ok: true, scope: 'project', target: 'a'.repeat(128) }],
  ])('project %s, plan %s', (project, plan, expected) => {
    expect(scopeOf(project, plan)).toEqual(expected);
  });

  it.each([
    ['web', 'plan-1', ['BOTH_SCOPES']],
    ['', undefined, ['BAD_PROJECT']],
    [undefined, '', ['BAD_PLAN']],
    ['a/b', undefined, ['BAD_PROJECT']],
    ['-web', undefined, ['BAD_PROJECT']],
    ['web\n', undefined, ['BAD_PROJECT']],
    ['a'.repeat(129), undefined, ['BAD_PROJECT']],
    ['we b', 'pl an', ['BOTH_SCOPES', 'BAD_PROJECT', 'BAD_PLAN']],
  ])('refuses project %j, plan %j', (project, plan, codes) => {
    const answer = scopeOf(project, plan);
    expect(answer.ok ? [] : answer.problems.map(({ code }) => code)).toEqual(codes);
  });

  it('says which grammar a name is against', () => {
    expect(scopeOf('we b', undefined)).toMatchObject({
      problems: [{ message: expect.stringContaining('[a-zA-Z0-9][a-zA-Z0-9._@:-]{0,127}'), found: '"we b"' }],
    });
  });
});
