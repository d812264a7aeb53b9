import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../../src/core/digest.js';
import { checkPlacesOf, materializePlan, planChunk } from '../../../../src/core/plan/manifest.js';
import type { PlanManifest } from '../../../../src/core/plan/model.js';
import { resultSchema } from '../../../../src/core/result.js';
import { result } from '../build.js';
import { advice, check, chunkWith, evaluateOf, NOW, POLICY, SNAPSHOTS, submitted } from './build.js';

describe('the chunk of a plan', () => {
  it('has the evaluation alone, under its own id, with all that judging it takes', () => {
    const life = submitted({ requireValidations: true }, { checks: [check('a')], unvalidated: ['x'] });
    const effect = evaluateOf(life.last?.effects ?? []);
    if (effect === undefined) throw new Error('nothing was asked for');
    const { evaluation } = effect;
    expect(planChunk(life.state, effect, NOW + 1, 'ann')).toEqual({
      id: evaluation,
      batch: '',
      attempt: 1,
      options: { strict: false, from: 'direct', informationalErrors: 'ignore' },
      acceptedAt: NOW + 1,
      deadline: NOW + 1 + POLICY.evaluationDeadline,
      evaluations: [
        { id: evaluation, index: 0, run: 'p', case: 'p', scenario: '', subject: digestOf(SNAPSHOTS) },
      ],
      plan: {
        plan: 'p',
        project: 'shop',
        stage: 'all',
        checks: [check('a', { subject: 'digest 1' })],
        rest: [],
        earlier: null,
        unvalidated: ['x'],
        requireValidations: true,
      },
      actor: 'ann',
    });
  });

  it('says where each check runs', () => {
    const chunk = chunkWith([check('a', { runner: 'runner' }), check('b')]);
    expect(checkPlacesOf(chunk.plan as PlanManifest)).toEqual(['runner', 'pure']);
  });
});

describe('the results of a plan', () => {
  const chunk = chunkWith([check('a', { scope: 'plan', target: 'p' }), advice('b'), check('c')]);
  const results = materializePlan({ ...chunk, attempt: 2 }, [result('pass', { n: 1 }), result('fail')]);

  it('say which attachment they are of, in the order of the manifest', () => {
    expect(results).toHaveLength(3);
    expect(results[0]).toEqual({
      validation: 'local/a',
      mode: 'required',
      outcome: 'pass',
      passed: true,
      message: 'm',
      data: { n: 1 },
      duration_ms: 1,
      attempt: 2,
      tries: 1,
      worker: 'w',
      read_only: 'enforced',
      attachment_id: 'a',
      attachment_resource: 'repo/app',
      attachment_scope: 'plan',
      attachment_scope_target: 'p',
    });
    expect(results[1]).toMatchObject({ mode: 'informational', passed: false, attachment_scope_target: null });
  });

  it('have the shape of every result, those included that are not there', () => {
    for (const each of results) expect(resultSchema.parse(each)).toEqual(each);
    expect(results[2]).toMatchObject({ outcome: 'error', tries: 0 });
  });

  it('are none for a chunk of runs', () => {
    const { plan: _, ...runs } = chunk;
    expect(materializePlan(runs, [])).toEqual([]);
  });
});
