import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  lastResults,
  openInline,
  openRedis,
  type PlanResult,
  refusal,
  type Stage,
  type Story,
} from './support.js';

// ADR, Compliance: "Tests verify that well-formed, malformed, and missing return values are handled
// correctly." Malformed returns are errors with passed: false.

let stage: Stage;
beforeAll(async () => {
  stage = await openInline({ plans: { error_retries: 0 } });
});
afterAll(() => stage.close());

let count = 0;

/** A plan whose only check is this code, until it is decided. */
async function judged(code: string, mode: 'required' | 'informational' = 'required') {
  count += 1;
  const name = `returns-${count}`;
  const resource = `thing/${count}`;
  const story = stage.story(`return-${count}`);
  await stage.fleet.registerValidation({ name, mode, code });
  await stage.fleet.attach({ resource, validation: name });
  await stage.fleet.submitPlan({ plan: story.plan, snapshots: { [resource]: { n: count } } });
  await story.until('plan.gate.passed', 'plan.retry.requested');
  const result = (await lastResults(story))[`local/${name}`] as PlanResult;
  return { story, result, phase: await phaseOf(story) };
}

const phaseOf = async ({ fleet, plan }: Story) => (await fleet.plan(plan)).plan.phase;

describe('Given a required validation with a well-formed return', () => {
  it.each([
    ['everything', '{ passed: true, message: "94 %", data: { n: 247 } }', 'pass', '94 %', { n: 247 }],
    ['passed alone', '{ passed: true }', 'pass', 'passed', {}],
    ['passed: false alone', '{ passed: false }', 'fail', 'failed', {}],
    ['no message and no data, but null', '{ passed: true, message: null, data: null }', 'pass', 'passed', {}],
    ['keys of its own', '{ passed: false, message: "no", score: 3 }', 'fail', 'no', {}],
  ])('when it returns %s, then that is its result', async (_what, returned, outcome, message, data) => {
    const { result, phase } = await judged(`() => (${returned})`);
    expect(result).toMatchObject({ outcome, passed: outcome === 'pass', message });
    expect(result.data).toEqual(data);
    expect(phase).toBe(outcome === 'pass' ? 'ready' : 'fix');
  });
});

/** What the code does, and what is kept of it. */
const MALFORMED: [what: string, code: string, raw: RegExp][] = [
  ['no object', '() => true', /^true$/],
  ['a text', '() => "passed"', /^passed$/],
  ['a list', '() => [{ passed: true }]', /^\[\{"passed":true\}\]$/],
  ['null', '() => null', /^null$/],
  ['no passed', '() => ({ message: "all good" })', /^\{"message":"all good"\}$/],
  ['passed: "yes"', '() => ({ passed: "yes" })', /^\{"passed":"yes"\}$/],
  ['passed: 1', '() => ({ passed: 1 })', /^\{"passed":1\}$/],
  ['passed: null', '() => ({ passed: null })', /^\{"passed":null\}$/],
  ['a message that is no text', '() => ({ passed: true, message: 3 })', /^\{"passed":true,"message":3\}$/],
  ['data that is no object', '() => ({ passed: true, data: [1] })', /^\{"passed":true,"data":\[1\]\}$/],
  ['NaN', '() => NaN', /NaN/],
  ['NaN inside', '() => ({ passed: true, data: { rate: 0 / 0 } })', /NaN/],
  ['nothing', '() => {}', /undefined/],
  ['a promise', '() => Promise.resolve({ passed: true })', /promise/],
  ['a function', '() => () => ({ passed: true })', /function/],
  [
    'an object that contains itself',
    '() => { const a = { passed: true }; a.data = a; return a; }',
    /contains itself/,
  ],
];

describe('Given a required validation with a malformed return', () => {
  it.each(MALFORMED)(
    'when it returns %s, then it is an error with the raw output, and the gate stays shut',
    async (_what, code, raw) => {
      const { result, phase, story } = await judged(code);
      expect(result).toMatchObject({ outcome: 'error', passed: false });
      expect(result.message).toMatch(/^malformed return: /);
      expect(result.data.raw_output).toMatch(raw);
      expect(phase).toBe('fix');
      expect(await refusal(stage.fleet.apply(story.plan, { digests: {} }))).toEqual({
        code: 'PLAN_REFUSED',
        problems: ['WRONG_PHASE '],
      });
    },
  );

  it.each([
    ['throws', '() => { throw new TypeError("no tests"); }', 'threw', /TypeError: no tests/],
    ['never ends', '() => { for (;;); }', 'deadline', /within 1000 ms/],
    [
      'eats all memory',
      '() => { const a = []; for (;;) a.push(new Uint8Array(2 ** 22)); }',
      'memory',
      /32 MiB/,
    ],
    ['asks for too much memory at once', '() => "x".repeat(2 ** 29)', 'memory', /32 MiB/],
    ['calls itself for ever', '() => { const f = () => f() + 1; return f(); }', 'stack', /nested too deeply/],
  ])(
    'when it %s, then it is an error that says so, and the gate stays shut',
    async (_what, code, reason, message) => {
      const { result, phase } = await judged(code);
      expect(result).toMatchObject({ outcome: 'error', passed: false, data: { reason } });
      expect(result.message).toMatch(message);
      expect(phase).toBe('fix');
    },
  );

  it('when it returns a secret among its raw output, then the secret is not kept', async () => {
    const { result } = await judged('() => "password=hunter2hunter2"');
    expect(result.data.raw_output).not.toContain('hunter2');
  });
});

describe('Given an informational validation', () => {
  it('when its return is malformed, then it is an error that blocks nothing and is told', async () => {
    const { story, result, phase } = await judged('() => "fine"', 'informational');
    expect(result).toMatchObject({ outcome: 'error', passed: false, data: { raw_output: 'fine' } });
    expect(phase).toBe('ready');
    expect(story.lines()).toEqual([
      'plan.phase.changed - > validate',
      'evaluation.accepted all',
      'advisory.raised',
      'evaluation.passed all',
      'plan.phase.changed validate > ready',
      'plan.gate.passed',
    ]);
  });
});

describe('Given a check that no worker ever ran', () => {
  let idle: Stage;
  beforeAll(async () => {
    const settings = { evaluation: { deadline: '500ms' }, plans: { error_retries: 0 } };
    idle = await openRedis(settings, ['aggregator', 'sweeper']);
  });
  afterAll(() => idle.close());

  it('when the deadline of the evaluation comes, then the missing result is an error and the gate stays shut', async () => {
    const { fleet } = idle;
    await fleet.registerValidation({ name: 'never-run', code: '() => ({ passed: true })' });
    await fleet.attach({ resource: 'thing/0', validation: 'never-run' });
    const story = idle.story('missing');
    await fleet.submitPlan({ plan: story.plan, snapshots: { 'thing/0': 1 } });
    const { data } = await story.until('plan.retry.requested', 'plan.gate.passed');
    expect(data).toMatchObject({
      diagnosis: { errored: [{ validation: 'local/never-run', outcome: 'error' }] },
    });
    expect(await lastResults(story)).toMatchObject({
      'local/never-run': {
        outcome: 'error',
        passed: false,
        tries: 0,
        worker: null,
        message: expect.stringMatching(/^no result: /),
      },
    });
  });
});
