import { describe, expect, it } from 'vitest';
import { parseResource } from '../../../../src/core/attachments/resource.js';
import { bindSlot } from '../../../../src/core/attachments/slots.js';
import type { ResourceSlot } from '../../../../src/core/registry/model.js';

const slot = (name: string, type: string, required = false): ResourceSlot => ({ name, type, required });
const repo = slot('repo', 'repo');
const copy = slot('copy', 'repo');
const db = slot('db', 'db');
const any = slot('any', '*');

function bind(slots: ResourceSlot[], resource: string, named?: string) {
  const parsed = parseResource(resource);
  if (parsed === undefined) throw new Error(resource);
  const answer = bindSlot(slots, parsed, named);
  return answer.ok ? answer.slot : answer.problems.map((problem) => problem.code);
}

describe('bindSlot', () => {
  it.each<[string, ResourceSlot[], string, string | undefined, string | null | string[]]>([
    ['takes any resource where there are no slots', [], 'repo/api', undefined, null],
    ['refuses a slot name where there are no slots', [], 'repo/api', 'repo', ['UNKNOWN_SLOT']],
    ['binds the one slot of its type', [repo, db], 'repo/api', undefined, 'repo'],
    ['binds the one slot for any type', [any, db], 'repo/api', undefined, 'any'],
    ['refuses when no slot fits', [db], 'repo/api', undefined, ['NO_SLOT_FITS']],
    ['a resource without a type fits no typed slot', [repo], 'api', undefined, ['NO_SLOT_FITS']],
    ['a resource without a type fits a slot for any type', [repo, any], 'api', undefined, 'any'],
    ['asks for a name when two fit', [repo, copy], 'repo/api', undefined, ['SLOT_AMBIGUOUS']],
    ['its own type and any type are two', [repo, any], 'repo/api', undefined, ['SLOT_AMBIGUOUS']],
    ['binds the named one of two', [repo, copy], 'repo/api', 'copy', 'copy'],
    ['refuses a name that is not there', [repo, copy], 'repo/api', 'kopy', ['UNKNOWN_SLOT']],
    ['refuses a named slot of another type', [repo, db], 'repo/api', 'db', ['SLOT_TYPE']],
    ['an untyped resource does not fit a named typed slot', [repo], 'api', 'repo', ['SLOT_TYPE']],
    ['binds the required slot', [slot('repo', 'repo', true), db], 'repo/api', undefined, 'repo'],
    [
      'refuses when another required slot would stay empty',
      [repo, slot('db', 'db', true)],
      'repo/api',
      undefined,
      ['SLOT_UNBOUND'],
    ],
    [
      'refuses a validation with two required slots whatever is bound',
      [slot('repo', 'repo', true), slot('db', 'db', true)],
      'repo/api',
      'repo',
      ['SLOT_UNBOUND'],
    ],
    [
      'tells both when two fit and two are required',
      [slot('repo', 'repo', true), slot('copy', 'repo', true)],
      'repo/api',
      undefined,
      ['SLOT_AMBIGUOUS', 'SLOT_UNBOUND'],
    ],
    ['a slot named like a built-in is not there', [repo], 'repo/api', 'constructor', ['UNKNOWN_SLOT']],
  ])('%s', (_name, slots, resource, named, expected) => {
    expect(bind(slots, resource, named)).toEqual(expected);
  });

  it('names what would fit, and the nearest name', () => {
    const resource = { type: 'repo', name: 'api' };
    expect(bindSlot([repo, copy], resource, undefined)).toMatchObject({
      problems: [{ path: 'slot', allowed: ['repo', 'copy'] }],
    });
    expect(bindSlot([repo, copy], resource, 'kopy')).toMatchObject({
      problems: [{ found: '"kopy"', allowed: ['repo', 'copy'], nearest: 'copy' }],
    });
    expect(bindSlot([db, slot('queue', 'queue')], resource, undefined)).toMatchObject({
      problems: [{ found: 'repo', allowed: ['db (db)', 'queue (queue)'] }],
    });
  });
});
