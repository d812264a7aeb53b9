import { describe, expect, it } from 'vitest';
import type { Kind } from '../../../../src/core/registry/model.js';
import { planRemoval } from '../../../../src/core/registry/register.js';
import { apply, attachment, CODE, given, registryOf, TRANSFORM } from './build.js';

const before = registryOf([
  ...given('tool', { name: 'scan', code: CODE }, { name: 'idle', code: CODE }),
  ...given(
    'validation',
    { name: 'clean', wraps: 'scan', transform: TRANSFORM },
    { name: 'alone', code: CODE },
  ),
  ...given('skill', { name: 'kit', tools: ['scan', 'clean'] }),
]);
const registry = {
  ...before,
  attachments: [
    attachment('local/alone', { id: 'A' }),
    attachment('local/clean', { id: 'B' }),
    attachment('local/alone', { id: 'C' }),
  ],
};

describe('removing', () => {
  it('takes a validation’s attachments with it', () => {
    const planned = planRemoval(registry, 'validation', 'alone');
    expect(planned).toEqual({
      ok: true,
      change: { put: [], remove: ['local/alone'], attach: [], detach: ['A', 'C'] },
      attachments: ['A', 'C'],
    });
    if (!planned.ok) return;
    const after = apply(registry, planned.change);
    expect(after.entries.has('local/alone')).toBe(false);
    expect(after.attachments.map(({ id }) => id)).toEqual(['B']);
  });

  it.each<[Kind, string]>([
    ['tool', 'local/idle'],
    ['skill', 'kit'],
  ])('takes a %s that nothing needs', (kind, name) => {
    expect(planRemoval(registry, kind, name)).toMatchObject({ ok: true, attachments: [] });
  });

  it('is refused for what is wrapped or listed, with everything that needs it', () => {
    expect(planRemoval(registry, 'tool', 'scan')).toEqual({
      ok: false,
      code: 'IN_USE',
      problems: [
        {
          code: 'IN_USE',
          path: 'name',
          message: 'is wrapped by the validation local/clean',
          found: 'local/scan',
        },
        { code: 'IN_USE', path: 'name', message: 'is listed by the skill local/kit', found: 'local/scan' },
      ],
    });
  });

  it.each<[Kind, string, string, string?]>([
    ['tool', 'scn', 'is the name of no registered tool', 'local/scan'],
    ['tool', 'clean', 'is a validation, not a tool'],
    ['tool', 'builtin/task_count', 'comes with Sluice and cannot be removed'],
    ['skill', '__proto__', 'is the name of no registered skill'],
  ])('is refused for a %s %s: %s', (kind, name, message, nearest) => {
    expect(planRemoval(registry, kind, name)).toMatchObject({
      ok: false,
      code: 'NOT_FOUND',
      problems: [{ code: 'NOT_FOUND', message, ...(nearest === undefined ? {} : { nearest }) }],
    });
  });
});
