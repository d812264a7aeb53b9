import { describe, expect, it } from 'vitest';
import { text } from '../../../src/reports/text.js';
import { advisory, evaluation, plain, render, result } from './fixtures.js';

describe('text report', () => {
  it('shows advisories first, then scenarios with both gates, failing evaluations, and the totals', async () => {
    const shown = await render(text, [
      evaluation('ok', { results: [result('pass', { data: { vacuous: true } }), advisory('fail')] }),
      evaluation('bad', { passed: false }),
    ]);
    expect(shown).toBe(`Advisories: informational rules that did not hold
  nginx: tasks[1] Is quick: 1 failed
    such as ok: message of fail

nginx: 1 passed, 1 failed, 0 errored of 2
  score 50% (1 of 2 checks), 1 vacuous pass
  compliance gate passed by 1 of 2
  resolution gate passed by 1 of 2
  FAIL bad: score 0% (0 of 1 checks)
    compliance gate: 1 required rule failed
    resolution gate: compliance gate failed
    fail tasks[0] Uses find: message of fail

2 evaluations: 1 passed, 1 failed, 0 errored, 1 vacuous pass (1.5 s, inline engine, batch B1)
`);
  });

  it('gives the reasons of both gates for a single evaluation', async () => {
    const shown = await render(text, [evaluation('only')]);
    expect(shown).toContain('nginx: passed\n');
    expect(shown).toContain('  compliance gate passed: all required rules passed\n');
    expect(shown).toContain('  resolution gate passed: score is enough\n');
  });

  it('gives each reason once for a single evaluation that failed', async () => {
    const shown = await render(text, [evaluation('only', { passed: false })]);
    expect(shown.match(/1 required rule failed/g)).toHaveLength(1);
    expect(shown.match(/gate failed: compliance gate failed/g)).toHaveLength(1);
    expect(shown).toContain('FAIL only:');
  });

  it('tells an evaluation that errored from one that failed', async () => {
    const shown = await render(text, [evaluation('x', { passed: false, results: [result('error')] })]);
    expect(shown).toContain('nginx: errored\n');
    expect(shown).toContain('ERROR x:');
    expect(shown).toContain('error tasks[0] Uses find: message of error');
  });

  it('caps its lists and says how many are left', async () => {
    const failing = Array.from({ length: 30 }, (_, i) => evaluation(`bad-${i}`, { passed: false }));
    const noisy = evaluation('noisy', {
      results: Array.from({ length: 25 }, (_, i) => advisory('fail', i)),
    });
    const wide = evaluation('wide', {
      scenario: 'other',
      passed: false,
      results: Array.from({ length: 14 }, () => result('fail')),
    });
    const shown = await render(text, [...failing, noisy, wide]);
    expect(shown.match(/FAIL bad/g)).toHaveLength(10);
    expect(shown).toContain('  ... and 20 more that did not pass\n');
    expect(shown).toContain('  ... and 5 more\n');
    expect(shown).toContain('    ... and 4 more\n');
  });

  it('shows no more than fifty failing evaluations over all scenarios', async () => {
    const failing = Array.from({ length: 20 }, (_, s) =>
      Array.from({ length: 10 }, (_, i) => evaluation(`r${i}`, { scenario: `s${s}`, passed: false })),
    ).flat();
    const shown = await render(text, failing);
    expect(shown.match(/FAIL r/g)).toHaveLength(50);
    expect(shown.match(/\.\.\. and 10 more that did not pass/g)).toHaveLength(15);
  });

  it('colours only when asked, and lets no log steer the terminal', async () => {
    const evil = evaluation('a\u001b[2J\nb', { passed: false });
    const shown = await render(text, [evil]);
    expect(shown).not.toContain('\u001b');
    expect(shown).toContain('FAIL a [2J b:');
    expect(await render(text, [evil], { colour: true, width: 100 })).toContain('\u001b[31m');
  });

  it('cuts lines to the width, by characters', async () => {
    const long = evaluation('x', { passed: false, results: [result('fail', { message: '😀'.repeat(500) })] });
    for (const line of (await render(text, [long], { ...plain, width: 60 })).split('\n')) {
      expect(Array.from(line).length).toBeLessThanOrEqual(60);
      expect(line).not.toMatch(/\p{Surrogate}/u);
    }
  });

  it('has a totals line even for nothing', async () => {
    expect(await render(text, [])).toContain('2 evaluations: 1 passed');
  });
});
