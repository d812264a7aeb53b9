import { describe, expect, it } from 'vitest';
import { heldPlaybooks, judgeChoice } from '../../../src/doctor/sandbox.js';

const none: string[] = [];

describe('another choice than bubblewrap', () => {
  it.each([
    ['off', false, none, ['warn']],
    ['container', false, none, ['warn']],
    ['off', false, ['plans.require_enforced'], ['warn', 'fail']],
    ['container', false, ['plans.require_enforced'], ['warn', 'fail']],
  ] as const)('%s, which holds: %s, demanded by %j, is %j', (sandbox, isEnforced, demandedBy, statuses) => {
    const found = judgeChoice({ sandbox, isEnforced, demandedBy });
    expect(found.map(({ status }) => status)).toEqual(statuses);
    expect(found[0]?.found).toContain(`sandbox: ${sandbox} in the settings`);
    const says = found.map(({ advice }) => advice).join(' ');
    expect(says.includes('read_only: declared')).toBe(!isEnforced);
  });

  it('names the settings that make errors of what it does not hold', () => {
    const demandedBy = ['evaluation.require_enforced', 'plans.require_enforced'];
    const [, demanded] = judgeChoice({ sandbox: 'off', isEnforced: false, demandedBy });
    expect(demanded?.found).toMatch(/^evaluation\.require_enforced and plans\.require_enforced /);
    expect(demanded?.advice).toMatch(/^Every required check of commands, playbooks, .* is an error/);
  });
});

describe('what holds playbooks', () => {
  it.each([
    ['bubblewrap', true, /run in the sandbox/],
    ['container', false, /^No sandbox keeps playbooks from writing here \(sandbox: container\)/],
    ['off', false, /^No sandbox keeps playbooks from writing here \(sandbox: off\)/],
  ] as const)('with %s, enforced: %s', (sandbox, isEnforced, words) => {
    expect(heldPlaybooks({ sandbox, isEnforced, demandedBy: [] })).toMatch(words);
  });
});
