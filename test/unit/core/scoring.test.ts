import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EvaluationOptions } from '../../../src/core/manifest.js';
import type { Outcome } from '../../../src/core/result.js';
import type { Rule } from '../../../src/core/scenario/model.js';
import { judge } from '../../../src/core/scoring.js';
import { DIRECT, result } from './build.js';

type Short = `${'R' | 'I' | 'A' | 'a'}${'+' | '-' | '!' | 'o' | 'v'}`;
const OUTCOMES: Record<string, Outcome> = { '+': 'pass', '-': 'fail', '!': 'error', o: 'skipped', v: 'pass' };

/** R required, I informational, A required ansible, a informational ansible; + pass, - fail, ! error, o skipped, v vacuous pass. */
function judged(all: readonly Short[], options: Partial<EvaluationOptions> = {}) {
  const rules = all.map((short, index): Rule => {
    const ansible = short[0] === 'A' || short[0] === 'a';
    return {
      scope: 'job',
      index,
      label: `rule ${index}`,
      validator: ansible ? 'ansible' : 'task_count',
      required: short[0] === 'R' || short[0] === 'A',
      negate: false,
      params: {},
    };
  });
  const results = all.map((short) => {
    return result(OUTCOMES[short[1] ?? ''] ?? 'error', short[1] === 'v' ? { vacuous: true } : {});
  });
  return judge({ rules }, { ...DIRECT, ...options }, results);
}

describe('judge', () => {
  it.each<[Short[], number, number, number | null, boolean, boolean, string]>([
    [['R+'], 1, 1, 100, true, true, 'passed'],
    [['R+', 'R-'], 1, 2, 50, false, false, 'failed'],
    [['R+', 'R!'], 1, 2, 50, false, false, 'errored'],
    [['R+', 'R+', 'R+', 'R+', 'I-'], 4, 5, 80, true, true, 'passed'],
    [['R+', 'R+', 'R+', 'R+', 'I!'], 4, 5, 80, true, true, 'passed'],
    [['R+', 'R+', 'R+', 'I-'], 3, 4, 75, true, false, 'failed'],
    [['R+', 'R+', 'R+', 'I!'], 3, 4, 75, true, false, 'errored'],
    [['R+', 'R+', 'I-'], 2, 3, 66, true, false, 'failed'],
    [['I-', 'A+'], 0, 1, 0, true, true, 'passed'],
    [['R-', 'A+'], 0, 1, 0, false, true, 'failed'],
    [['R+', 'A-'], 1, 1, 100, true, false, 'failed'],
    [['R+', 'A!'], 1, 1, 100, true, false, 'errored'],
    [['R+', 'a-'], 1, 1, 100, true, false, 'failed'],
    [['R+', 'A+', 'a!'], 1, 1, 100, true, false, 'errored'],
    [['A+'], 0, 0, null, true, true, 'passed'],
    [['Ao', 'R+'], 1, 1, 100, true, true, 'passed'],
    [['Ao', 'Ro'], 0, 0, null, true, false, 'failed'],
    [['Ro', 'R+'], 1, 1, 100, true, true, 'passed'],
    [[], 0, 0, null, true, false, 'failed'],
  ])(
    '%j: %i of %i, %s %%, compliance %s, resolution %s, %s',
    (all, passed, total, percent, comp, res, status) => {
      const judgement = judged(all);
      expect(judgement.score).toEqual({ passed, total, percent });
      expect(judgement.gates.compliance.passed).toBe(comp);
      expect(judgement.gates.resolution.passed).toBe(res);
      expect(judgement.status).toBe(status);
      expect(judgement.passed).toBe(comp && res);
    },
  );

  it('compares the threshold in integers', () => {
    const mix = (passes: number, fails: number): Short[] => [
      ...Array<Short>(passes).fill('R+'),
      ...Array<Short>(fails).fill('I-'),
    ];
    expect(judged(mix(796, 199)).passed).toBe(true);
    expect(judged(mix(795, 200)).passed).toBe(false);
    expect(judged(mix(795, 200)).score.percent).toBe(79);
  });

  it('closes the compliance gate on informational errors only when told to', () => {
    const all: Short[] = ['R+', 'R+', 'R+', 'R+', 'I!'];
    expect(judged(all, { informationalErrors: 'block' }).gates.compliance.passed).toBe(false);
    expect(judged(all, { informationalErrors: 'block' }).gates.compliance.reason).toContain(
      '"rule 4" errored',
    );
    expect(judged(['R+', 'R+', 'R+', 'R+', 'I-'], { informationalErrors: 'block' }).passed).toBe(true);
  });

  it('says why a gate is closed, by label', () => {
    const { gates } = judged(['R-', 'R!', 'R+', 'R-', 'R-', 'R-']);
    expect(gates.compliance.reason).toBe(
      '5 of 6 required rules did not pass: "rule 0" failed, "rule 1" errored, "rule 3" failed and 2 more',
    );
    expect(gates.resolution.reason).toBe('the compliance gate did not pass');
    expect(judged(['R+', 'R+', 'I-']).gates.resolution.reason).toBe(
      'only 2 of 3 rules passed (66 %), at least 80 % are needed',
    );
    expect(judged([]).gates.resolution.reason).toContain('nothing was verified');
    expect(judged(['A-']).gates.resolution.reason).toBe('1 of 1 ansible rule did not pass: "rule 0" failed');
  });

  it('counts outcomes, vacuous passes and advisories', () => {
    expect(judged(['R+', 'Rv', 'R-', 'I-', 'I!', 'Ro', 'a-']).counts).toEqual({
      passed: 2,
      failed: 3,
      errored: 1,
      skipped: 1,
      vacuous: 1,
      advisories: 3,
    });
  });

  it('takes a missing result for an error', () => {
    const rules: Rule[] = [
      {
        scope: 'job',
        index: 0,
        label: 'l',
        validator: 'task_count',
        required: true,
        negate: false,
        params: {},
      },
    ];
    expect(judge({ rules }, DIRECT, [])).toMatchObject({ status: 'errored', score: { passed: 0, total: 1 } });
  });
});

const kind = fc.constantFrom('R', 'I', 'A', 'a');
const outcome = fc.constantFrom('+', '-', '!', 'o', 'v');
const shorts = fc.array(
  fc.tuple(kind, outcome).map(([k, o]) => `${k}${o}` as Short),
  { maxLength: 12 },
);

describe('judge, whatever the results', () => {
  it('never closes the compliance gate for an informational rule', () => {
    fc.assert(
      fc.property(shorts, fc.constantFrom<Short>('I-', 'I!', 'a-', 'a!'), (all, more) => {
        expect(judged([...all, more]).gates.compliance.passed).toBe(judged(all).gates.compliance.passed);
      }),
    );
  });

  it('never opens a gate when a result turns into an error', () => {
    fc.assert(
      fc.property(shorts, fc.nat(), (all, at) => {
        fc.pre(all.length > 0 && all[at % all.length]?.[1] !== 'o');
        const worse = all.map((short, i) => (i === at % all.length ? (`${short[0]}!` as Short) : short));
        const [before, after] = [judged(all), judged(worse)];
        for (const gate of ['compliance', 'resolution'] as const) {
          if (!before.gates[gate].passed) expect(after.gates[gate].passed).toBe(false);
        }
      }),
    );
  });

  it('does not depend on the order of results', () => {
    const pair = shorts.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    const bare = (all: Short[]) => {
      const { gates, ...rest } = judged(all);
      return { ...rest, compliance: gates.compliance.passed, resolution: gates.resolution.passed };
    };
    fc.assert(
      fc.property(pair, ([all, shuffled]) => {
        expect(bare(shuffled)).toEqual(bare(all));
      }),
    );
  });

  it('passes only when both gates pass, and never without a passing rule', () => {
    fc.assert(
      fc.property(shorts, (all) => {
        const { passed, gates, counts } = judged(all);
        expect(passed).toBe(gates.compliance.passed && gates.resolution.passed);
        if (passed) expect(counts.passed).toBeGreaterThan(0);
      }),
    );
  });
});
