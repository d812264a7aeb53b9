import { describe, expect, it } from 'vitest';
import { type AttachSkillRequest, planSkillAttachment } from '../../../../src/core/attachments/attach.js';
import type { Registry } from '../../../../src/core/registry/model.js';
import { applied, attachment, ids, registryOf, skill, tool, validation, without } from './build.js';

const closed = { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false };
const registry = registryOf([
  tool('count'),
  validation('lint'),
  validation('style', { mode: 'informational' }),
  validation('strict', { input_schema: closed }),
  validation('db-only', { resource_slots: [{ name: 'db', type: 'db', required: true }] }),
  skill('care', ['style', 'count', 'lint']),
  skill('mixed', ['lint', 'strict', 'db-only']),
  skill('plain', ['count']),
]);

function attach(more: Partial<AttachSkillRequest>, to: Registry = registry) {
  let next = 0;
  const request = { resource: 'repo/api', skill: 'care', arguments: {}, ...more };
  return planSkillAttachment(to, request, () => `N${++next}`, 7, 'ann');
}
function problemsOf(more: Partial<AttachSkillRequest>, to: Registry = registry) {
  const answer = attach(more, to);
  return answer.ok ? [] : answer.problems.map(({ code, path, message }) => [code, path, message]);
}

describe('planSkillAttachment', () => {
  it('attaches every validation of the skill, and names the plain tools that it passed over', () => {
    const answer = attach({ project: 'web' });
    expect(answer).toMatchObject({ ok: true, passedOver: ['local/count'] });
    if (!answer.ok) return;
    expect(answer.attachments.map((each) => each.validation).toSorted()).toEqual([
      'local/lint',
      'local/style',
    ]);
    expect(answer.attachments.every((each) => each.target === 'web')).toBe(true);
    expect(answer.change).toEqual({ put: [], remove: [], attach: answer.attachments, detach: [] });
    expect(ids(answer.attachments)).toEqual(['N1', 'N2']);
  });

  it('leaves alone what is attached in the same words already', () => {
    const standing = { ...registry, attachments: [attachment('01')] };
    const answer = attach({}, standing);
    expect(answer).toMatchObject({ ok: true });
    if (!answer.ok) return;
    expect(ids(answer.attachments).toSorted()).toEqual(['01', 'N1']);
    expect(ids(answer.change.attach)).toEqual(['N1']);
    expect(answer.existing).toEqual(['01']);
    const again = attach({}, applied(standing, answer.change));
    expect(again).toMatchObject({ ok: true, change: { attach: [] } });
  });

  it('attaches none when one is refused, and says which', () => {
    expect(problemsOf({ skill: 'mixed', arguments: { m: 1 } }).toSorted()).toEqual([
      ['NO_SLOT_FITS', 'slot', expect.stringContaining('(validation local/db-only)')],
      ['VALUE_UNKNOWN', 'arguments.m', 'is known to no validation of the skill'],
    ]);
  });

  describe('with arguments', () => {
    const needs = { ...closed, required: ['n'] };
    const several = registryOf([
      validation('bare'),
      validation('counts', { input_schema: needs }),
      validation('open', { input_schema: { properties: { size: { type: 'integer' } } } }),
      validation('any', { input_schema: { type: 'object' } }),
      skill('some', ['bare', 'counts', 'open']),
      skill('loose', ['bare', 'any']),
    ]);
    const given = (answer: ReturnType<typeof attach>) =>
      answer.ok && Object.fromEntries(answer.attachments.map((each) => [each.validation, each.arguments]));

    it('gives each validation those that its schema knows', () => {
      expect(given(attach({ skill: 'some', arguments: { n: 1, size: 2 } }, several))).toEqual({
        'local/bare': {},
        'local/counts': { n: 1 },
        'local/open': { size: 2 },
      });
      expect(given(attach({ skill: 'loose', arguments: { z: 1 } }, several))).toEqual({
        'local/bare': {},
        'local/any': { z: 1 },
      });
    });

    it('refuses one that none knows, once, and asks each for what it requires', () => {
      const answer = attach({ skill: 'some', arguments: { sise: 2 } }, several);
      expect(answer.ok ? [] : answer.problems).toEqual([
        {
          code: 'VALUE_UNKNOWN',
          path: 'arguments.sise',
          message: 'is known to no validation of the skill',
          allowed: ['n', 'size'],
          nearest: 'size',
        },
        { code: 'VALUE_MISSING', path: 'arguments.n', message: 'is missing (validation local/counts)' },
      ]);
    });

    it('refuses arguments that none could carry, and those of validations that are gone', () => {
      const gone = without(several, 'local/open');
      expect(problemsOf({ skill: 'some', arguments: { size: 1, n: 1 } }, gone).map(([code]) => code)).toEqual(
        ['UNKNOWN_VALIDATION'],
      );
      const codes = problemsOf({ skill: 'loose', arguments: [] as never }, several).map(([code]) => code);
      expect(codes).toEqual(['BAD_ARGUMENTS', 'BAD_ARGUMENTS']);
    });
  });

  it.each<[string, Partial<AttachSkillRequest>, string[]]>([
    ['a skill that is not there', { skill: 'cere' }, ['UNKNOWN_SKILL']],
    ['a validation', { skill: 'lint' }, ['NOT_A_SKILL']],
    ['a tool', { skill: 'count' }, ['NOT_A_SKILL']],
    ['a skill without validations', { skill: 'plain' }, ['SKILL_WITHOUT_VALIDATIONS']],
    ['both scopes', { project: 'web', plan: 'p1' }, ['BOTH_SCOPES']],
    ['a bad resource', { resource: '' }, ['BAD_RESOURCE']],
  ])('refuses %s', (_what, more, codes) => {
    expect(problemsOf(more).map(([code]) => code)).toEqual(codes);
  });

  it('names the nearest skill', () => {
    const answer = attach({ skill: 'cere' });
    expect(answer).toMatchObject({ problems: [{ nearest: 'local/care', found: '"cere"' }] });
  });

  it('refuses a skill that names what is gone, rather than pass it over', () => {
    const problems = problemsOf({}, without(registry, 'local/lint'));
    expect(problems).toEqual([['UNKNOWN_VALIDATION', 'validation', expect.stringContaining('local/lint')]]);
  });
});
