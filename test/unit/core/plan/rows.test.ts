import { describe, expect, it } from 'vitest';
import { PHASES, type Phase, TERMINAL_PHASES, type Transition } from '../../../../src/core/plan/model.js';
import { PLAN_ROWS, type PlanRowId } from '../../../../src/core/plan/table.js';
import {
  advice,
  applying,
  check,
  created,
  FIXED,
  IN_PHASE,
  type Input,
  type Life,
  NOW,
  newPlan,
  SNAPSHOTS,
  send,
  submitted,
} from './build.js';

const LATE = NOW + 1_000_000;
const fails = { lint: 'fail' } as const;

const inPhase = (phase: Phase) => IN_PHASE[phase]().now();
const decide = (life: Life, outcomes: Parameters<Life['verdict']>[0]) =>
  send(life.now(), { type: 'decided', verdict: life.verdict(outcomes) }, { applicable: life.applicable });

/** For each row the ways into it. */
const CASES: Record<PlanRowId, (() => Transition)[]> = {
  create: [() => send(undefined, { type: 'create', plan: newPlan() })],
  submit: [() => send(undefined, { type: 'submit', plan: newPlan(), snapshots: SNAPSHOTS })],
  strategized: [() => send(inPhase('strategize'), { type: 'strategized' })],
  executed: [() => send(inPhase('execute'), { type: 'executed', snapshots: SNAPSHOTS })],
  passed: [
    () => decide(submitted(), {}),
    () => decide(submitted(), { style: 'fail' }),
    () => decide(submitted({}, applying()), {}),
    () => decide(submitted().decide(fails).fix().decide(), {}),
  ],
  'passed-first': [() => decide(submitted().decide(fails).fix(), {})],
  errored: [
    () => decide(submitted(), { lint: 'error' }),
    () => decide(submitted().decide({ lint: 'error' }), { lint: 'error', tests: 'error' }),
    () => decide(submitted().decide(fails).fix(), { lint: 'error' }),
    () => decide(submitted().decide(fails).fix().decide(), { tests: 'error' }),
  ],
  'failed-fix': [
    () => decide(submitted(), fails),
    () => decide(submitted(), { ...fails, tests: 'error' }),
    () => decide(submitted().decide(fails).fix(), fails),
    () => decide(submitted().decide(fails).fix().decide(), { tests: 'fail' }),
    () => decide(submitted().decide({ lint: 'error' }).decide({ lint: 'error' }), { lint: 'error' }),
  ],
  'failed-revise': [
    () => decide(submitted({ fixes: 0 }), fails),
    () => decide(submitted({ fixes: 1 }).decide(fails).fix(), fails),
    () => decide(submitted({ fixes: 0, errorRetries: 0 }), { lint: 'error' }),
  ],
  'failed-escalate': [() => decide(submitted({ fixes: 0, revisions: 0 }), fails)],
  'failed-end': [() => decide(submitted({ fixes: 0, revisions: 0, escalations: 0 }), fails)],
  fix: [() => send(inPhase('fix'), { type: 'fix', snapshots: FIXED })],
  'fix-late-revise': [() => send(inPhase('fix'), { type: 'deadline', diagnosis: null }, { now: LATE })],
  'fix-late-escalate': [
    () =>
      send(
        submitted({ revisions: 0 }).decide(fails).now(),
        { type: 'deadline', diagnosis: null },
        { now: LATE },
      ),
  ],
  'fix-late-end': [
    () => {
      const { state } = submitted({ revisions: 0, escalations: 0 }).decide(fails);
      return send(state, { type: 'deadline', diagnosis: null }, { now: LATE });
    },
  ],
  'late-escalate': (['strategize', 'execute'] as const).map(
    (phase) => () => send(inPhase(phase), { type: 'deadline', diagnosis: null }, { now: LATE }),
  ),
  'late-end': [
    () => send(created({ escalations: 0 }).state, { type: 'deadline', diagnosis: null }, { now: LATE }),
    () => {
      const { state } = created({ escalations: 0 }).send({ type: 'strategized' });
      return send(state, { type: 'deadline', diagnosis: null }, { now: LATE });
    },
  ],
  'respond-retry': [
    () => send(inPhase('escalated'), { type: 'respond', answer: 'retry', guidance: 'use the other API' }),
  ],
  'respond-abort': [() => send(inPhase('escalated'), { type: 'respond', answer: 'abort', guidance: null })],
  'respond-late': [() => send(inPhase('escalated'), { type: 'deadline', diagnosis: null }, { now: LATE })],
  apply: [() => send(inPhase('ready'), { type: 'apply', digests: SNAPSHOTS })],
  'apply-changed': [
    applying(check('lint'), check('tests')),
    applying(check('lint'), check('tests'), advice('style'), check('more')),
    applying(check('lint'), check('tests', { version: 'another' }), advice('style')),
    applying(check('lint', { arguments: { max: 1 } }), check('tests'), advice('style')),
    applying(check('lint'), advice('tests'), advice('style')),
    applying(),
  ].map((applicable) => () => send(inPhase('ready'), { type: 'apply', digests: SNAPSHOTS }, { applicable })),
  'ready-again': (['executed', 'fix'] as const).map(
    (type) => () => send(inPhase('ready'), { type, snapshots: FIXED }),
  ),
  cancel: PHASES.filter((phase) => !TERMINAL_PHASES.has(phase)).map(
    (phase) => () => send(inPhase(phase), { type: 'cancel', reason: 'no longer wanted' }),
  ),
  busy: (['executed', 'fix'] as const).map(
    (type) => () => send(inPhase('validate'), { type, snapshots: SNAPSHOTS }),
  ),
  'wrong-digest': [FIXED, {}, { ...SNAPSHOTS, other: 'x' }, { other: 'digest 1' }].map(
    (digests) => () => send(inPhase('ready'), { type: 'apply', digests } as Input),
  ),
  'wrong-resources': [{}, { ...SNAPSHOTS, other: 'x' }, { other: 'x' }].flatMap((given) => {
    const snapshots = given as Record<string, string>;
    return [
      () => send(undefined, { type: 'submit', plan: newPlan(), snapshots }),
      () => send(inPhase('execute'), { type: 'executed', snapshots }),
      () => send(inPhase('fix'), { type: 'fix', snapshots }),
      () => send(inPhase('ready'), { type: 'fix', snapshots }),
      () => send(inPhase('ready'), { type: 'executed', snapshots }),
    ];
  }),
  early: (['strategize', 'execute', 'fix', 'escalated'] as const).map((phase) => () => {
    const state = inPhase(phase);
    return send(state, { type: 'deadline', diagnosis: null }, { now: (state.deadline ?? 0) - 1 });
  }),
  stale: PHASES.map((phase) => () => {
    const verdict = { ...submitted().verdict({}), evaluation: 'another' };
    return send(inPhase(phase), { type: 'decided', verdict });
  }),
  exists: PHASES.flatMap((phase) => [
    () => send(inPhase(phase), { type: 'create', plan: newPlan() }),
    () => send(inPhase(phase), { type: 'submit', plan: newPlan(), snapshots: SNAPSHOTS }),
  ]),
  unknown: [
    () => send(undefined, { type: 'strategized' }),
    () => send(undefined, { type: 'cancel', reason: null }),
    () => send(undefined, { type: 'decided', verdict: submitted().verdict({}) }),
  ],
  'wrong-phase': [() => send(inPhase('applied'), { type: 'cancel', reason: null })],
};

const codeOf = (when: string) => /\(([A-Z_]+)\)$/.exec(when)?.[1];

describe('the lifecycle table', () => {
  it('names each row once', () => {
    const ids = PLAN_ROWS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  const taken = PLAN_ROWS.filter(({ to }) => to !== null);
  it.each(taken.map((row) => [row.id, row] as const))(
    '%s leads to its phase and emits its events',
    (id, row) => {
      for (const run of CASES[id as PlanRowId]) {
        const answer = run();
        expect(answer).toMatchObject({ ok: true, row: id, state: { phase: row.to } });
        if (!answer.ok) continue;
        const emitted = answer.effects.flatMap((effect) => (effect.type === 'emit' ? [effect.name] : []));
        expect(emitted).toEqual(row.events);
        const asked = answer.effects.filter(({ type }) => type === 'evaluate');
        expect(asked).toHaveLength(row.to === 'validate' ? 1 : 0);
      }
    },
  );

  const refused = PLAN_ROWS.filter(({ to }) => to === null);
  it.each(refused.map((row) => [row.id, row] as const))(
    '%s is refused with its code',
    (id, { when, events }) => {
      expect(events).toEqual([]);
      for (const run of CASES[id as PlanRowId])
        expect(run()).toMatchObject({ ok: false, row: id, refusal: { code: codeOf(when) } });
    },
  );

  it('says of every case in which phases it holds', () => {
    for (const row of PLAN_ROWS.filter(({ to }) => to !== null)) {
      const from = CASES[row.id as PlanRowId].map((run) => {
        const answer = run();
        const told = answer.ok && answer.effects.find((each) => each.type === 'emit' && 'from' in each.data);
        return told && told.type === 'emit' ? told.data.from : 'validate';
      });
      expect(new Set(from)).toEqual(new Set(row.from));
    }
  });
});

/** Every input, with what makes it acceptable wherever its phase is right. */
const INPUTS: Record<Exclude<Input['type'], 'create' | 'submit' | 'decided'>, Input> = {
  strategized: { type: 'strategized' },
  executed: { type: 'executed', snapshots: SNAPSHOTS },
  fix: { type: 'fix', snapshots: SNAPSHOTS },
  respond: { type: 'respond', answer: 'retry', guidance: null },
  apply: { type: 'apply', digests: SNAPSHOTS },
  cancel: { type: 'cancel', reason: null },
  deadline: { type: 'deadline', diagnosis: null },
};

describe('an input that has no row in a phase', () => {
  const pairs = PHASES.flatMap((phase) =>
    Object.values(INPUTS).flatMap((input) => {
      const rows = PLAN_ROWS.filter(
        (row) => row.from.includes(phase) && row.input.split(', ').includes(input.type),
      );
      return rows.length === 0 ? [[phase, input.type, input] as const] : [];
    }),
  );

  it('is most of them', () => {
    expect(pairs.length).toBeGreaterThan(35);
  });

  it.each(pairs)('is refused: %s and %s', (phase, _type, input) => {
    const state = inPhase(phase);
    const answer = send(state, input, { now: LATE });
    expect(answer).toMatchObject({ ok: false, row: 'wrong-phase', refusal: { code: 'WRONG_PHASE' } });
    if (!answer.ok) expect(answer.refusal.message).toContain(`phase ${phase} at revision ${state.revision}`);
  });
});
