import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../config/schema.js';
import { statusDocument } from '../../../src/app/plan/documents.js';
import type { CheckHistory, PlanEvaluation } from '../../../src/app/plan/requests.js';
import { decidedLines, statusText } from '../../../src/cli/commands/plan/words.js';
import type { Phase, PlanState } from '../../../src/core/plan/model.js';
import { IN_PHASE, type Life, NOW, submitted } from '../core/plan/build.js';

const settings = configSchema.parse({});

const planIn = (phase: Phase): PlanState => (IN_PHASE[phase]() as Life).now();

const evaluation = (passed: boolean, stage: PlanEvaluation['stage'] = 'all'): PlanEvaluation => ({
  evaluation: 'e1',
  attempt: 2,
  stage,
  acceptedAt: 0,
  decision: {
    plan: 'p',
    stage,
    passed,
    status: passed ? 'passed' : 'failed',
    gate: { passed, reason: 'because' },
    counts: { passed: 0, failed: 0, errored: 0, skipped: 0, vacuous: 0, advisories: 0 },
    vacuous: false,
    unvalidated: [],
    actor: null,
    resultsDigest: '',
    decidedAt: 0,
  },
  results: [],
});

describe('how the gate stands', () => {
  it.each<[Phase, PlanEvaluation, string]>([
    ['ready', evaluation(true), 'the gate is open: because\n'],
    ['fix', evaluation(false), 'the gate is shut: because\n'],
    ['failed', evaluation(false), 'the gate is shut: because\n'],
    ['validate', evaluation(false), 'before this, in attempt 2, the gate was shut: because\n'],
    ['validate', evaluation(true), 'before this, in attempt 2, the gate was open: because\n'],
    ['validate', evaluation(true, 'failed_first'), 'attempt 2 so far: because\n'],
    ['cancelled', evaluation(true), 'the gate was open: because\n'],
    ['cancelled', evaluation(true, 'failed_first'), 'the gate was shut: because\n'],
    ['applied', evaluation(true), 'the gate was open: because\n'],
  ])('of a plan in phase %s', (phase, decided, words) => {
    expect(decidedLines(planIn(phase), decided)).toBe(words);
  });
});

describe('the checks of a plan', () => {
  const history = (more: Partial<CheckHistory> = {}): CheckHistory => ({
    attachment_id: 'a1',
    validation: 'local/rows',
    resource: 'repo/app',
    mode: 'required',
    arguments: { least: 1 },
    applies: true,
    first: { attempt: 1, outcome: 'fail', message: 'no rows' },
    final: { attempt: 1, outcome: 'fail', message: 'no rows' },
    judged: 1,
    ...more,
  });
  const textOf = (...checks: CheckHistory[]) =>
    statusText({ plan: submitted().now(), timeline: [], evaluations: [], checks, unserved: null }, settings);

  it('show their arguments where these alone tell them apart', () => {
    expect(textOf(history())).not.toContain('least');
    const both = textOf(history(), history({ attachment_id: 'a2', arguments: { least: 9 } }));
    expect(both).toMatch(/local\/rows +\{"least":1\} +required/);
    expect(both).toContain('{"least":9}');
  });

  it('say when they are no longer attached', () => {
    expect(textOf(history({ applies: false }))).toContain('required, no longer attached');
    expect(textOf(history({ applies: null }), history({ attachment_id: 'a2' }))).not.toContain('attached');
  });
});

describe('a plan that waits for a runner', () => {
  const status = { plan: submitted().now(), timeline: [], evaluations: [], checks: [] };
  const unserved = { needs: ['ansible', 'command'], since: NOW };

  it('says for what, since when, and what to do', () => {
    const text = statusText({ ...status, unserved }, settings);
    const since = new Date(NOW).toISOString();
    expect(text).toContain(`waits for ansible and command, which no living worker serves, since ${since}\n`);
    expect(text).toContain('sluice worker');
    expect(statusDocument({ ...status, unserved }).unserved).toEqual({ ...unserved, since });
  });

  it('and says nothing of the kind where nothing is missing', () => {
    expect(statusText({ ...status, unserved: null }, settings)).not.toContain('waits for');
    expect(statusDocument({ ...status, unserved: null }).unserved).toBeNull();
  });
});
