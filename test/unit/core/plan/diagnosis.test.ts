import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIAGNOSIS_BYTES, diagnose } from '../../../../src/core/plan/diagnosis.js';
import type { Diagnosis } from '../../../../src/core/plan/model.js';
import type { CheckResult } from '../../../../src/core/result.js';
import { result } from '../build.js';
import { advice, check, chunkWith } from './build.js';

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;
const named = (name: string) => ({ validation: `local/${name}`, resource: 'repo/app' });

describe('a diagnosis', () => {
  it('tells failures, errors, advisories and what passed apart, with message, data and excerpt', () => {
    const checks = [check('lint', { arguments: { max: 3 } }), check('tests'), check('docs'), advice('style')];
    const results: CheckResult[] = [
      { ...result('fail', { where: 'job_plan', excerpt: 'rm -rf /', line: 3 }), message: 'found a deletion' },
      result('error', { reason: 'deadline' }),
      result('pass'),
      result('fail', { match: 'tab' }),
    ];
    expect(diagnose(chunkWith(checks), results)).toEqual({
      evaluation: 'e1',
      attempt: 1,
      failed: [
        {
          ...named('lint'),
          attachment_id: 'lint',
          mode: 'required',
          arguments: { max: 3 },
          outcome: 'fail',
          message: 'found a deletion',
          data: { where: 'job_plan', excerpt: 'rm -rf /', line: 3 },
          excerpt: 'rm -rf /',
        },
      ],
      errored: [
        expect.objectContaining({ ...named('tests'), outcome: 'error', data: { reason: 'deadline' } }),
      ],
      advisories: [expect.objectContaining({ ...named('style'), mode: 'informational', excerpt: 'tab' })],
      passed: [named('docs')],
      not_run: [],
      unvalidated: [],
      truncated: false,
    });
  });

  it('names what waits for the second stage', () => {
    const chunk = chunkWith([check('lint')], {
      stage: 'failed_first',
      rest: [check('tests'), advice('style')],
    });
    expect(diagnose(chunk, [result('fail')]).not_run).toEqual([named('tests'), named('style')]);
  });

  it('keeps a skipped required check among the failures, and a skipped informational one out', () => {
    const diagnosis = diagnose(chunkWith([check('a'), advice('b')]), [result('skipped'), result('skipped')]);
    expect(diagnosis).toMatchObject({ failed: [{ outcome: 'skipped' }], advisories: [], passed: [] });
  });

  it('names resources without a validation only where that shuts the gate', () => {
    const unvalidated = ['repo/b'];
    expect(diagnose(chunkWith([], { unvalidated }), []).unvalidated).toEqual([]);
    expect(diagnose(chunkWith([], { unvalidated, requireValidations: true }), []).unvalidated).toEqual(
      unvalidated,
    );
  });
});

describe('a diagnosis that is too long', () => {
  const huge = (outcome: 'fail' | 'error') =>
    ({
      ...result(outcome, {
        line: 7,
        log: 'x'.repeat(60_000),
        list: Array.from({ length: 5000 }, (_, n) => n),
      }),
      message: 'm'.repeat(20_000),
    }) satisfies CheckResult;

  const within = (diagnosis: Diagnosis) => {
    expect(bytes(diagnosis)).toBeLessThanOrEqual(DIAGNOSIS_BYTES);
    expect(diagnosis.truncated).toBe(true);
  };

  it('keeps the small fields of data and cuts the texts', () => {
    const diagnosis = diagnose(chunkWith([check('a')]), [huge('fail')]);
    within(diagnosis);
    const [entry] = diagnosis.failed;
    expect(entry).toMatchObject({ ...named('a'), data: { line: 7 } });
    expect(entry?.message).toMatch(/^m{100,}…$/);
    expect(entry?.data.log).toMatch(/^x{100,}…$/);
    expect(entry?.data).not.toHaveProperty('list');
  });

  it('names every failure before it tells much about one', () => {
    const checks = Array.from({ length: 60 }, (_, n) => check(`c${n}`));
    const diagnosis = diagnose(
      chunkWith(checks),
      checks.map((_, n) => huge(n % 2 === 0 ? 'fail' : 'error')),
    );
    within(diagnosis);
    expect(diagnosis.failed).toHaveLength(30);
    expect(diagnosis.errored).toHaveLength(30);
  });

  it('gives failures the room that lists of names would take', () => {
    const passed = Array.from({ length: 2000 }, (_, n) => check(`passed-${n}`));
    const chunk = chunkWith([...passed, check('bad')], { stage: 'failed_first', rest: passed });
    const results = [
      ...passed.map(() => result('pass')),
      { ...result('fail'), message: 'why '.repeat(1000) },
    ];
    const diagnosis = diagnose(chunk, results);
    within(diagnosis);
    expect(diagnosis.failed[0]?.message).toMatch(/^(?:why ){500,}/);
    expect(diagnosis.passed.length).toBeGreaterThan(10);
    expect(diagnosis.not_run.length).toBeGreaterThan(10);
  });

  it('leaves out the last of a great many, errors before failures', () => {
    const checks = Array.from({ length: 3000 }, (_, n) => check(`c${n}`));
    const diagnosis = diagnose(
      chunkWith(checks),
      checks.map((_, n) => result(n % 2 === 0 ? 'fail' : 'error')),
    );
    within(diagnosis);
    expect(diagnosis.failed.length).toBeGreaterThan(100);
    expect(diagnosis.errored).toEqual([]);
  });

  it('stays within its bytes whatever results say, and never splits a character', () => {
    const text = fc
      .tuple(fc.constantFrom('a', 'ä', '字', '😀', '"', '\u0000', '\n'), fc.nat(3000))
      .map(([unit, count]) => unit.repeat(count));
    const one = fc.record({
      outcome: fc.constantFrom('fail', 'error', 'pass'),
      required: fc.boolean(),
      message: text,
      data: fc.dictionary(fc.constantFrom('excerpt', 'log', 'x'), fc.oneof(text, fc.jsonValue())),
      given: fc.dictionary(fc.constantFrom('a', 'b'), text),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 30 }), (all) => {
        const checks = all.map(({ required, given }, n) =>
          check(`c${n}`, { mode: required ? 'required' : 'informational', arguments: given }),
        );
        const results = all.map(({ outcome, message, data }) => ({
          ...result(outcome as 'fail'),
          message,
          data: data as Record<string, unknown>,
        }));
        const diagnosis = diagnose(chunkWith(checks), results);
        expect(bytes(diagnosis)).toBeLessThanOrEqual(DIAGNOSIS_BYTES);
        expect(JSON.stringify(diagnosis)).not.toMatch(/\\ud[89a-f]/i);
        if (!diagnosis.truncated)
          expect(diagnosis.failed.length + diagnosis.errored.length).toBe(
            all.filter(({ outcome, required }) => required && outcome !== 'pass').length,
          );
      }),
      { numRuns: 60 },
    );
  });
});
