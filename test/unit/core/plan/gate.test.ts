import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gateDigest, judgePlan, settlePlanResults } from '../../../../src/core/plan/gate.js';
import type { PlanCheck, PlanManifest } from '../../../../src/core/plan/model.js';
import { type CheckResult, OUTCOMES, type Outcome } from '../../../../src/core/result.js';
import { result } from '../build.js';
import { advice, check, chunkWith } from './build.js';

const three = [check('lint'), check('tests'), advice('style')];
const of = (...outcomes: Outcome[]) => outcomes.map((outcome) => result(outcome));

function judge(checks: PlanCheck[], results: CheckResult[], manifest: Partial<PlanManifest> = {}) {
  return judgePlan(chunkWith(checks, manifest), results, null);
}

describe('the plan gate', () => {
  it.each<[string, Outcome[], boolean, string]>([
    ['opens when all passed', ['pass', 'pass', 'pass'], true, 'passed'],
    ['opens when an informational check fails', ['pass', 'pass', 'fail'], true, 'passed'],
    ['opens when an informational check errors', ['pass', 'pass', 'error'], true, 'passed'],
    ['is shut by a failure', ['fail', 'pass', 'pass'], false, 'failed'],
    ['is shut by an error', ['pass', 'error', 'pass'], false, 'errored'],
    ['is shut by a failure and an error', ['fail', 'error', 'pass'], false, 'errored'],
    ['is shut by a required check that was skipped', ['skipped', 'pass', 'pass'], false, 'failed'],
    ['is a failure when only an informational check errored', ['fail', 'pass', 'error'], false, 'failed'],
  ])('%s', (_name, outcomes, passed, status) => {
    const judgement = judge(three, of(...outcomes));
    expect(judgement).toMatchObject({ status, gate: { passed }, verdict: { passed } });
  });

  it('says in one sentence which of the required checks did not pass', () => {
    expect(judge(three, of('fail', 'error', 'fail')).gate.reason).toBe(
      '2 of 2 required checks did not pass (local/lint on repo/app failed, local/tests on repo/app errored)',
    );
    const many = Array.from({ length: 5 }, (_, n) => check(`c${n}`));
    expect(
      judge(
        many,
        many.map(() => result('fail')),
      ).gate.reason,
    ).toMatch(/c2 on repo\/app failed and 2 more\)$/);
    expect(judge([check('a')], of('pass')).gate.reason).toBe('the required check passed');
    expect(judge(three, of('pass', 'pass', 'fail')).gate.reason).toBe('all 2 required checks passed');
    expect(judge([advice('a')], of('fail')).gate.reason).toBe('no required check to pass');
  });

  it('takes a result that is not there for an error', () => {
    expect(judge(three, of('pass'))).toMatchObject({ status: 'errored', verdict: { failing: ['tests'] } });
  });

  it('counts every outcome, vacuous passes and advisories', () => {
    const results = [result('pass', { vacuous: true }), result('fail'), result('error')];
    expect(judge(three, results).counts).toEqual({
      passed: 1,
      failed: 1,
      errored: 1,
      skipped: 0,
      vacuous: 1,
      advisories: 1,
    });
  });

  it('is shut by errors alone only where nothing else shuts it', () => {
    const alone = (outcomes: Outcome[], manifest: Partial<PlanManifest> = {}) =>
      judge(three, of(...outcomes), manifest).verdict.errorsAlone;
    expect(alone(['error', 'pass', 'pass'])).toBe(true);
    expect(alone(['error', 'error', 'fail'])).toBe(true);
    expect(alone(['error', 'fail', 'pass'])).toBe(false);
    expect(alone(['error', 'skipped', 'pass'])).toBe(false);
    expect(alone(['pass', 'pass', 'error'])).toBe(false);
    const without = { unvalidated: ['repo/b'] };
    expect(alone(['error', 'pass', 'pass'], without)).toBe(true);
    expect(alone(['error', 'pass', 'pass'], { ...without, requireValidations: true })).toBe(false);
  });

  it('knows the smallest retry limit, and whether a fix can help, of what failed alone', () => {
    const limits = [check('a', { retryLimit: 2 }), check('b', { retryLimit: 0 }), check('c')];
    const judged = (outcomes: CheckResult[]) => judge(limits, outcomes).verdict;
    expect(judged(of('fail', 'pass', 'fail'))).toMatchObject({ retryLimit: 2, retryable: true });
    expect(judged(of('fail', 'error', 'fail')).retryLimit).toBe(0);
    expect(judged(of('pass', 'pass', 'fail')).retryLimit).toBeNull();
    expect(judged([result('fail', { retryable: false }), ...of('fail', 'pass')]).retryable).toBe(false);
    expect(judged([result('pass', { retryable: false }), ...of('fail', 'pass')]).retryable).toBe(true);
  });
});

describe('resources without a validation', () => {
  const unvalidated = ['repo/b'];

  it('do not shut the gate', () => {
    expect(judge([check('a')], of('pass'), { unvalidated }).gate.passed).toBe(true);
  });

  it('shut it where validations are required, and may be the only reason', () => {
    const judgement = judge([check('a')], of('pass'), { unvalidated, requireValidations: true });
    expect(judgement).toMatchObject({
      status: 'failed',
      verdict: { passed: false, failing: [], errorsAlone: false, retryable: true },
      gate: { reason: 'a validation is required for every resource, and there is none for repo/b' },
    });
  });
});

describe('a vacuous pass', () => {
  const nothing = result('pass', { vacuous: true });

  it.each<[string, PlanCheck[], CheckResult[], boolean]>([
    ['no check at all', [], [], true],
    ['data that was not there', [check('a'), check('b')], [nothing, nothing], true],
    ['one check that had data', [check('a'), check('b')], [nothing, result('pass')], false],
    ['an informational check that failed', [advice('a')], of('fail'), false],
    ['an informational check that could not tell', [advice('a')], of('error'), true],
    ['a shut gate', [check('a')], of('fail'), false],
  ])('%s', (_name, checks, results, vacuous) => {
    expect(judge(checks, results)).toMatchObject({ vacuous, verdict: { vacuous } });
  });
});

describe('the second stage', () => {
  const first = { passed: true, checks: [check('lint', { subject: 'digest 1' })], results: of('pass') };
  const rest = chunkWith([check('tests'), advice('style')], { stage: 'rest', earlier: 'e0' });
  const verdict = (earlier: Parameters<typeof judgePlan>[2]) =>
    judgePlan(rest, of('pass', 'fail'), earlier).verdict;

  it('passes with the first, and the gate opens on the checks of both', () => {
    const { passed, all, outcomes, checks } = verdict(first);
    expect(passed).toBe(true);
    expect(all.map(({ attachment }) => attachment)).toEqual(['lint', 'tests', 'style']);
    expect(outcomes).toEqual(['pass', 'pass', 'fail']);
    expect(checks).toHaveLength(2);
  });

  it.each([
    ['is not there', null],
    ['did not pass', { ...first, passed: false }],
    ['says that it passed while a required result did not', { ...first, results: of('fail') }],
    ['has no results', { ...first, results: [] }],
    ['looked at other snapshots', { ...first, checks: [check('lint', { subject: 'digest 0' })] }],
  ])('does not pass when the first %s', (_name, earlier) => {
    expect(verdict(earlier)).toMatchObject({ passed: false, errorsAlone: false, failing: [] });
  });
});

describe('the reason of a stage that does not pass', () => {
  it('says that only what had failed was judged', () => {
    const manifest = { stage: 'failed_first', rest: [check('tests'), advice('style')] } as const;
    expect(judge([check('lint')], of('fail'), { ...manifest, rest: [...manifest.rest] }).gate.reason).toBe(
      '1 of 1 required check that had failed did not pass again, with 2 other checks not run (local/lint on repo/app failed)',
    );
  });

  it('says that what had failed was judged before', () => {
    const first = { passed: true, checks: [check('lint', { subject: 'digest 1' })], results: of('pass') };
    const rest = chunkWith([check('tests')], { stage: 'rest', earlier: 'e0' });
    expect(judgePlan(rest, of('fail'), first).gate.reason).toBe(
      'after what had failed, 1 of 1 other required check did not pass (local/tests on repo/app failed)',
    );
  });
});

describe('settling', () => {
  const manifest = chunkWith(three).plan as PlanManifest;

  it('gives one result a check, and makes what is missing, malformed or skipped an error', () => {
    const settled = settlePlanResults(manifest, [result('skipped'), { passed: true }]);
    expect(settled.map(({ outcome }) => outcome)).toEqual(['error', 'error', 'error']);
    const kept = [result('pass'), result('fail'), result('error')];
    expect(settlePlanResults(manifest, kept)).toEqual(kept);
  });

  it('lets a required check pass only where something kept it from writing, when that is demanded', () => {
    const declared = (outcome: Outcome) => ({ ...result(outcome), read_only: 'declared' as const });
    const demanding = { ...manifest, requireEnforced: true };
    const raw = [declared('pass'), declared('fail'), declared('pass')];
    const settled = settlePlanResults(demanding, raw);
    expect(settled.map(({ outcome }) => outcome)).toEqual(['error', 'fail', 'pass']);
    expect(settled[0]?.data.reason).toBe('not_enforced');
    expect(settlePlanResults(demanding, [result('pass')])[0]?.outcome).toBe('pass');
    expect(settlePlanResults(manifest, raw)).toEqual(raw);
    expect(settlePlanResults(demanding, settled)).toEqual(settled);
  });

  it('never throws, and never passes what is malformed', () => {
    fc.assert(
      fc.property(fc.array(fc.anything(), { maxLength: 4 }), (raw) => {
        const settled = settlePlanResults(manifest, raw);
        expect(settled).toHaveLength(3);
        settled.forEach((one, n) => {
          if (one.outcome === 'pass') expect(raw[n]).toMatchObject({ outcome: 'pass' });
        });
      }),
      { numRuns: 40 },
    );
  });
});

describe('for any results', () => {
  const outcome = fc.constantFrom(...OUTCOMES);
  const judged = fc.record({ required: fc.boolean(), outcome, other: outcome });
  const some = fc.array(judged, { maxLength: 8 });
  type Some = { required: boolean; outcome: Outcome; other: Outcome }[];
  const checksOf = (all: Some) => all.map(({ required }, n) => (required ? check(`c${n}`) : advice(`c${n}`)));

  it('the gate opens exactly when every required check passed', () => {
    fc.assert(
      fc.property(some, (all) => {
        const { gate } = judge(
          checksOf(all),
          all.map((one) => result(one.outcome)),
        );
        expect(gate.passed).toBe(all.every((one) => !one.required || one.outcome === 'pass'));
      }),
    );
  });

  it('their order never matters', () => {
    const shuffled = some.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray([...all.keys()], { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, order]) => {
        const checks = checksOf(all);
        const results = all.map((one) => result(one.outcome));
        const one = judge(checks, results);
        const other = judge(
          order.map((n) => checks[n] as PlanCheck),
          order.map((n) => results[n] as CheckResult),
        );
        expect(other.counts).toEqual(one.counts);
        expect(other.status).toBe(one.status);
        const { verdict } = one;
        const { passed, errorsAlone, retryable, retryLimit, vacuous } = other.verdict;
        expect({ passed, errorsAlone, retryable, retryLimit, vacuous }).toEqual({
          passed: verdict.passed,
          errorsAlone: verdict.errorsAlone,
          retryable: verdict.retryable,
          retryLimit: verdict.retryLimit,
          vacuous: verdict.vacuous,
        });
        expect(new Set(other.verdict.failing)).toEqual(new Set(verdict.failing));
        expect(gateDigest(other.verdict.all)).toBe(gateDigest(verdict.all));
      }),
    );
  });

  it('what an informational check came to never closes the gate, and never opens it', () => {
    fc.assert(
      fc.property(some, (all) => {
        const gates = (['outcome', 'other'] as const).map((which) => {
          const results = all.map((one) => result(one.required ? one.outcome : one[which]));
          return judge(checksOf(all), results).gate;
        });
        expect(gates[1]?.passed).toBe(gates[0]?.passed);
      }),
    );
  });

  it('an error never opens the gate', () => {
    fc.assert(
      fc.property(some, fc.nat(7), (all, at) => {
        const before = judge(
          checksOf(all),
          all.map((one) => result(one.outcome)),
        );
        const after = judge(
          checksOf(all),
          all.map((one, n) => result(n === at ? 'error' : one.outcome)),
        );
        if (after.gate.passed) expect(before.gate.passed || !all[at]?.required).toBe(true);
        if (all[at]?.required) expect(after.gate.passed).toBe(false);
      }),
    );
  });
});

describe('the digest of a set of checks', () => {
  const [lint, tests] = [check('lint', { arguments: { a: 1, b: 2 } }), check('tests')];
  const digest = gateDigest([lint, tests]);

  it('minds neither order, snapshots, nor the order of keys', () => {
    expect(gateDigest([tests, { ...lint, subject: 'x' }])).toBe(digest);
    expect(gateDigest([{ ...lint, arguments: { b: 2, a: 1 } }, tests])).toBe(digest);
  });

  it.each<[string, Partial<PlanCheck>]>([
    ['attachment', { attachment: 'x' }],
    ['version', { version: 'x' }],
    ['arguments', { arguments: { a: 1, b: 3 } }],
    ['resource', { resource: 'x' }],
    ['mode', { mode: 'informational' }],
  ])('minds the %s', (_name, extra) => {
    expect(gateDigest([{ ...lint, ...extra }, tests])).not.toBe(digest);
    expect(gateDigest([lint])).not.toBe(digest);
  });
});
