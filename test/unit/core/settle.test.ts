import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ruleResultSchema } from '../../../src/core/result.js';
import { materialize } from '../../../src/core/scenario/materialize.js';
import { judge } from '../../../src/core/scoring.js';
import { normalizeReturn, rawOutput, settleResults } from '../../../src/core/settle.js';
import { DIRECT, GATEWAY, result, scenarioWith } from './build.js';

const scenario = scenarioWith(
  {
    gateway: [{ label: 'ticket', validator: 'ticket_status', pattern: 'x' }],
    job: [{ label: 'count', validator: 'task_count', min: 1, negate: true }],
    tasks: [
      { label: 'match', validator: 'pattern_match', pattern: 'x', where: 'task_plan', required: false },
    ],
  },
  { key: 'k' },
);
const OK = result('pass', { n: 1 });

describe('settleResults', () => {
  it('keeps good results as they are and skips gateway rules whatever came', () => {
    const settled = settleResults(scenario, DIRECT, [OK, OK, result('fail')]);
    expect(settled.map(({ outcome }) => outcome)).toEqual(['skipped', 'pass', 'fail']);
    expect(settled[0]).toMatchObject({ tries: 0, worker: null, data: {} });
    expect(settled[1]).toEqual(OK);
    expect(settleResults(scenario, GATEWAY, [OK, OK, OK])[0]).toEqual(OK);
  });

  it('lets required and ansible rules pass only where something kept them from writing, when that is demanded', () => {
    const declared = { ...OK, read_only: 'declared' as const };
    const demanding = { ...DIRECT, requireEnforced: true };
    const outcomes = settleResults(scenario, demanding, [declared, declared, declared]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['skipped', 'error', 'pass']);
    const playbook = scenarioWith(
      { job: [{ label: 'p', validator: 'ansible', ansiblePath: 'p.yml', required: false }] },
      { key: 'k' },
    );
    const [first] = settleResults(playbook, demanding, [declared]);
    expect(first).toMatchObject({ outcome: 'error', data: { reason: 'not_enforced' } });
    expect(settleResults(playbook, demanding, [OK])[0]?.outcome).toBe('pass');
  });

  it('makes what is missing an error', () => {
    for (const raw of [[], [OK], [OK, undefined, null]]) {
      const settled = settleResults(scenario, GATEWAY, raw);
      expect(settled).toHaveLength(3);
      expect(settled[2]).toMatchObject({
        outcome: 'error',
        message: expect.stringMatching(/^no result: /),
        tries: 0,
      });
      expect(settled[2]?.data).toEqual({});
    }
  });

  it.each<[string, unknown]>([
    ['text', 'passed'],
    ['a boolean', true],
    ['a list', [OK]],
    ['an unknown outcome', { ...OK, outcome: 'passed' }],
    ['a check that calls itself skipped', { ...OK, outcome: 'skipped' }],
    ['no data', { ...OK, data: undefined }],
    ['a list as data', { ...OK, data: [] }],
    ['a negative duration', { ...OK, duration_ms: -1 }],
    ['a duration that is no number', { ...OK, duration_ms: Number.NaN }],
    ['half a try', { ...OK, tries: 0.5 }],
    ['an unknown read_only', { ...OK, read_only: 'maybe' }],
  ])('makes %s an error that keeps the original', (_, raw) => {
    const [, settled] = settleResults(scenario, DIRECT, [undefined, raw]);
    expect(settled?.outcome).toBe('error');
    expect(settled?.message).toMatch(/^no result: .*malformed/);
    expect(settled?.data.raw_output).toBe(typeof raw === 'string' ? raw : JSON.stringify(raw));
  });

  it('fails vacuous passes under strict, and still counts them', () => {
    const raw = [undefined, result('pass', { vacuous: true }), OK];
    const strict = { ...DIRECT, strict: true };
    const settled = settleResults(scenario, strict, raw);
    expect(settled[1]).toMatchObject({ outcome: 'fail', data: { vacuous: true } });
    expect(judge(scenario, strict, settled).counts.vacuous).toBe(1);
    expect(settleResults(scenario, DIRECT, raw)[1]?.outcome).toBe('pass');
  });

  it('never throws, gives one result a rule, never a pass for what is malformed, and is idempotent', () => {
    const raw = fc.array(fc.oneof(fc.jsonValue(), fc.anything(), fc.constantFrom(OK, undefined)), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(raw, fc.boolean(), (results, strict) => {
        const options = { ...DIRECT, strict };
        const settled = settleResults(scenario, options, results);
        expect(settled).toHaveLength(3);
        settled.forEach((each, i) => {
          if (each.outcome === 'pass') expect(results[i]).toEqual(OK);
        });
        expect(settleResults(scenario, options, settled).map(({ outcome }) => outcome)).toEqual(
          settled.map(({ outcome }) => outcome),
        );
      }),
    );
    for (const raw of [null, 4, {}, 'x']) {
      expect(settleResults(scenario, DIRECT, raw as never)).toHaveLength(3);
    }
  });
});

describe('normalizeReturn', () => {
  it.each<[unknown, object]>([
    [{ passed: true }, { outcome: 'pass', data: {} }],
    [
      { passed: false, message: 'no', data: { n: 1 } },
      { outcome: 'fail', message: 'no', data: { n: 1 } },
    ],
    [{ passed: true, message: null, data: null, more: 1 }, { outcome: 'pass' }],
    [
      { passed: 'true' },
      { outcome: 'error', data: { reason: 'malformed', raw_output: '{"passed":"true"}' } },
    ],
    [{}, { outcome: 'error' }],
    [{ passed: true, data: [] }, { outcome: 'error' }],
    [{ passed: true, message: 4 }, { outcome: 'error' }],
    [null, { outcome: 'error', data: { raw_output: 'null' } }],
    [undefined, { outcome: 'error', data: { raw_output: 'undefined' } }],
    ['all fine', { outcome: 'error', data: { raw_output: 'all fine' } }],
    [[{ passed: true }], { outcome: 'error' }],
    [10n, { outcome: 'error' }],
  ])('of %o', (value, verdict) => {
    expect(normalizeReturn(value)).toMatchObject(verdict);
  });

  it('never throws and passes only on a boolean true', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const { outcome } = normalizeReturn(value);
        if (outcome === 'pass') expect((value as { passed: unknown }).passed).toBe(true);
      }),
    );
  });
});

describe('rawOutput', () => {
  it('cuts at 64 KiB of UTF-8, on a code point', () => {
    const cut = rawOutput(`a${'😀'.repeat(40_000)}`);
    expect(Buffer.byteLength(cut)).toBe(65_533);
    expect(cut.endsWith('😀')).toBe(true);
    expect(rawOutput('x'.repeat(65_536))).toHaveLength(65_536);
  });

  it('hides secrets and survives cycles', () => {
    expect(rawOutput({ password: 'hunter2' })).not.toContain('hunter2');
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(rawOutput(cycle)).toMatch(/not JSON/);
  });
});

describe('materialize', () => {
  const settled = settleResults(scenario, DIRECT, [OK, OK, result('fail')]);
  const results = materialize(scenario, { id: 'e' }, { attempt: 2 }, settled);

  it('shows every rule in order, skipped ones included', () => {
    expect(results.map(({ rule, outcome, passed }) => [rule.label, outcome, passed])).toEqual([
      ['ticket', 'skipped', false],
      ['count', 'pass', true],
      ['match', 'fail', false],
    ]);
    for (const each of results) expect(ruleResultSchema.parse(each)).toEqual(each);
  });

  it('fills in what the scenario knows', () => {
    expect(results[2]).toEqual({
      validation: `scenario/r${scenario.digest}-tasks-0`,
      mode: 'informational',
      outcome: 'fail',
      passed: false,
      message: 'm',
      data: {},
      duration_ms: 1,
      attempt: 2,
      tries: 1,
      worker: 'w',
      read_only: 'enforced',
      attachment_id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      attachment_resource: 'scenario/k',
      attachment_scope: 'direct',
      attachment_scope_target: null,
      rule: {
        scope: 'tasks',
        index: 0,
        label: 'match',
        validator: 'pattern_match',
        required: false,
        negate: false,
      },
    });
    expect(new Set(results.map(({ attachment_id }) => attachment_id)).size).toBe(3);
  });

  it('shows a missing result as an error', () => {
    expect(materialize(scenario, { id: 'e' }, { attempt: 1 }, [])[0]).toMatchObject({
      outcome: 'error',
      passed: false,
    });
  });
});
