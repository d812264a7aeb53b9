import { describe, expect, it } from 'vitest';
import { logOf } from '../../../src/app/plan/history.js';
import type { PlanCommand } from '../../../src/core/plan/model.js';
import { result } from '../core/build.js';
import {
  ACTOR,
  applying,
  check,
  type Input,
  type Life,
  NOW,
  SNAPSHOTS,
  submitted,
  USUAL,
} from '../core/plan/build.js';

/** The note of a plan's next step. */
function noteOf(life: Life, input: Input, now = NOW): string | null {
  const before = life.now();
  life.send(input, { now });
  const command = { now, actor: ACTOR, applicable: life.applicable, ...input } as PlanCommand;
  if (life.last === undefined) throw new Error('nothing was done');
  return logOf(before, command, life.last, undefined).note;
}

const decided = (life: Life, outcomes: Parameters<Life['verdict']>[0]): Input => ({
  type: 'decided',
  verdict: life.verdict(outcomes),
});

describe('the note of a plan’s history', () => {
  it('says of a decision why the gate is shut, while a fix is asked for', () => {
    const life = submitted();
    expect(noteOf(life, decided(life, { lint: 'fail' }))).toBe(
      '1 of 2 required checks did not pass (local/lint on repo/app failed)',
    );
  });

  it('says why no fix is asked for: none can help, or none is left', () => {
    const hopeless = submitted();
    const never = result('fail', { retryable: false });
    expect(noteOf(hopeless, decided(hopeless, { lint: never }))).toMatch(
      /^not_retryable: 1 of 2 .*retryable/,
    );
    const used = submitted({ fixes: 0 });
    expect(noteOf(used, decided(used, { lint: 'fail' }))).toMatch(/^fixes_used_up: .*\(0 of 0\)$/);
    const end = submitted({ fixes: 0, revisions: 0, escalations: 0 });
    expect(noteOf(end, decided(end, { lint: 'fail' }))).toMatch(/^escalations_used_up: /);
  });

  it('says which deadline has passed', () => {
    const life = submitted().decide({ lint: 'fail' });
    expect(noteOf(life, { type: 'deadline', diagnosis: null }, NOW + 3000)).toBe(
      'fix_deadline: no fix came before the deadline',
    );
  });

  it('says that attachments have changed when an apply applies nothing', () => {
    const life = submitted().decide();
    life.applicable = applying(...USUAL.checks, check('new'));
    expect(noteOf(life, { type: 'apply', digests: SNAPSHOTS })).toMatch(/^not applied: .*have changed/);
    expect(noteOf(submitted().decide(), { type: 'apply', digests: SNAPSHOTS })).toBeNull();
  });

  it('keeps what a person said', () => {
    const life = () => submitted({ fixes: 0, revisions: 0 }).decide({ lint: 'fail' });
    expect(noteOf(life(), { type: 'respond', answer: 'abort', guidance: 'too late' })).toBe('too late');
    expect(noteOf(life(), { type: 'cancel', reason: 'moot' })).toBe('moot');
  });
});
