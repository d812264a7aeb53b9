import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { EvaluationIntake } from '../../src/app/intake/evaluations.js';
import type { EvaluationRequest } from '../../src/app/intake/requests.js';
import { evaluationsOf } from '../../src/compose/intake.js';
import { type Engine, openFleet, openInline } from '../../src/compose.js';
import { sha256 } from '../../src/core/digest.js';
import { SluiceError } from '../../src/core/problem.js';
import type { ReferenceReader } from '../../src/ports/references.js';
import { startAggregator } from '../../workers/aggregator.js';
import { startExecutor } from '../../workers/executor.js';
import type { Role } from '../../workers/lifecycle.js';
import { configWith, outboxOf, silent } from '../support/fleet.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

const SCENARIO = {
  key: 'restart',
  validation: {
    tasks: [
      {
        label: 'It restarts nginx',
        validator: 'pattern_match',
        where: 'executed_commands',
        pattern: 'nginx',
      },
    ],
  },
};
const RUN = { id: 'run-1', tasks: [{ commands: ['systemctl restart nginx'] }] };
const REQUEST: EvaluationRequest = {
  origin: '/ci',
  key: 'k1',
  actor: 'ann',
  scenario: { inline: SCENARIO },
  run: { inline: RUN },
};

const lying: Record<string, string> = {
  'https://evidence.test/scenario.json': JSON.stringify(SCENARIO),
  'https://evidence.test/run.json': JSON.stringify(RUN),
  'https://evidence.test/broken.json': '{"id": ',
};
const references: ReferenceReader = {
  async read({ uri, sha256: digest }) {
    if (uri.includes('away')) throw new SluiceError('UNAVAILABLE', 'evidence.test does not answer.');
    const text = lying[uri];
    if (text === undefined || sha256(text) !== digest)
      throw new SluiceError('BAD_REFERENCE', 'There is nothing with this digest.');
    return text;
  },
};
const referenceTo = (uri: string) => ({ reference: { uri, sha256: sha256(lying[uri] ?? '') } });

type Settings = Record<string, Record<string, unknown>>;

interface Opened {
  engine: Engine;
  roles: Role[];
}

const engines = [
  {
    name: 'inline',
    open: async (settings: Settings = {}, _withRoles = true): Promise<Opened> => ({
      engine: openInline(configWith(settings), silent),
      roles: [],
    }),
  },
  {
    name: 'fleet',
    open: async (settings: Settings = {}, withRoles = true): Promise<Opened> => {
      const engine = await openFleet(configWith(settings), redis.url, silent);
      const roles = withRoles ? [await startExecutor(engine), await startAggregator(engine)] : [];
      return { engine, roles };
    },
  },
];

describe.each(engines)('an evaluation that is asked for by itself, $name', ({ name, open }) => {
  const opened: Opened[] = [];
  async function place(settings?: Settings, withRoles?: boolean) {
    const one = await open(settings, withRoles);
    opened.push(one);
    return { engine: one.engine, intake: evaluationsOf(one.engine, references) };
  }
  afterEach(async () => {
    for (const { engine, roles } of opened.splice(0)) {
      await Promise.all(roles.map((role) => role.stop()));
      await engine.close();
    }
  });

  const decided = (intake: EvaluationIntake, id: string) =>
    expect.poll(async () => (await intake.status(id))?.state, { timeout: 15_000 }).toBe('decided');
  const refusal = (work: Promise<unknown>): Promise<SluiceError> =>
    work.then(
      () => expect.fail('it was taken'),
      (error: SluiceError) => error,
    );
  const problemsOf = async (work: Promise<unknown>) =>
    (await refusal(work)).problems.map(({ path, message }) => `${path}: ${message}`);

  it('is decided, and says who asked, by no batch', async () => {
    const { engine, intake } = await place();
    const answer = await intake.submit({ ...REQUEST, correlation: 'ticket-7' });
    expect(answer.repeated).toBe(false);
    await decided(intake, answer.evaluation);
    expect(await intake.status(answer.evaluation)).toMatchObject({
      id: answer.evaluation,
      state: 'decided',
      batch: null,
      actor: 'ann',
      run: 'run-1',
      case: 'run-1',
      decision: { passed: true, scenario: 'restart', results: [{ outcome: 'pass' }] },
      unserved: null,
    });
    const [stored] = await engine.store.evaluations.decisions(answer.evaluation);
    expect(JSON.parse(stored?.decision ?? '{}')).toMatchObject({ actor: 'ann', passed: true });
    const events = await outboxOf(engine.store);
    expect(events.map(({ type }) => type)).toEqual([
      'dev.sluice.evaluation.accepted.v1',
      'dev.sluice.evaluation.passed.v1',
    ]);
    for (const event of events)
      expect(event).toMatchObject({ correlationid: 'ticket-7', data: { batch: null, actor: 'ann' } });
  });

  it('is one for the same origin and key, also when it is asked for many times at once', async () => {
    const { engine, intake } = await place();
    const other = evaluationsOf(engine, references);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? intake : other).submit(REQUEST)),
    );
    expect(new Set(answers.map(({ evaluation }) => evaluation)).size).toBe(1);
    expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(1);
    const { evaluation } = answers[0] as (typeof answers)[number];
    await decided(intake, evaluation);
    expect(await intake.submit(REQUEST)).toEqual({ evaluation, repeated: true });
    expect(await outboxOf(engine.store)).toHaveLength(2);
    const another = await intake.submit({ ...REQUEST, origin: '/other' });
    expect(another).toMatchObject({ repeated: false });
    expect(another.evaluation).not.toBe(evaluation);
  });

  it.each([
    ['run', { run: { inline: { ...RUN, tasks: [] } } }],
    ['scenario', { scenario: { inline: { ...SCENARIO, key: 'other' } } }],
    ['strictness', { strict: true }],
    ['origin of the run', { from: 'gateway' as const }],
  ])('is refused under a key that was used with another %s', async (_what, change) => {
    const { intake } = await place();
    await intake.submit(REQUEST);
    expect(await refusal(intake.submit({ ...REQUEST, ...change }))).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
  });

  it('tells every problem of scenario, files and run at once, and accepts nothing', async () => {
    const { engine, intake } = await place();
    const request = {
      ...REQUEST,
      scenario: {
        inline: { key: 'x', validation: { jobs: [], tasks: [{ label: '', validator: 'nothing' }] } },
      },
      run: { inline: { id: '', tasks: 'none' } },
      files: { '../up': 'x' },
    };
    const paths = (await refusal(intake.submit(request))).problems.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'scenario.validation.jobs',
        'scenario.validation.tasks[0].validator',
        'files["../up"]',
        'run.id',
        'run.tasks',
      ]),
    );
    expect(await outboxOf(engine.store)).toEqual([]);
  });

  it('takes the files that its playbooks need, no more and no less', async () => {
    const { engine, intake } = await place({}, false);
    const playbook = { label: 'It is so', validator: 'ansible', ansiblePath: 'checks/site.yml' };
    const scenario = { inline: { key: 'site', validation: { job: [playbook] } } };
    const files = { 'checks/./site.yml': '- hosts: all\n', 'vars.yml': 'a: ä\n' };
    expect(await problemsOf(intake.submit({ ...REQUEST, scenario }))).toEqual([
      'scenario.validation.job[0].ansiblePath: is not among the files of the request',
    ]);
    expect(await problemsOf(intake.submit({ ...REQUEST, files }))).toEqual([
      'files: no rule of the scenario needs files; give none',
    ]);
    const { evaluation } = await intake.submit({ ...REQUEST, scenario, files });
    const chunk = (await engine.store.evaluations.chunk(evaluation))?.chunk;
    const [json] = await engine.store.evaluations.blobs([chunk?.evaluations[0]?.scenario ?? '']);
    const [bundle] = await engine.store.evaluations.blobs([JSON.parse(json ?? '{}').bundle]);
    expect(JSON.parse(bundle ?? '{}')).toEqual({
      files: {
        'checks/site.yml': Buffer.from('- hosts: all\n').toString('base64'),
        'vars.yml': Buffer.from('a: ä\n').toString('base64'),
      },
    });
  });

  it('reads what is referred to', async () => {
    const { intake } = await place();
    const request = {
      ...REQUEST,
      scenario: referenceTo('https://evidence.test/scenario.json'),
      run: referenceTo('https://evidence.test/run.json'),
    };
    const { evaluation } = await intake.submit(request);
    await decided(intake, evaluation);
    expect((await intake.status(evaluation))?.decision?.passed).toBe(true);
    expect(await intake.submit(REQUEST)).toEqual({ evaluation, repeated: true });
  });

  it('says what is wrong with references, and what may pass', async () => {
    const { intake } = await place();
    const none = referenceTo('https://evidence.test/none');
    const bad = await refusal(intake.submit({ ...REQUEST, scenario: none, run: none }));
    expect(bad).toMatchObject({ code: 'BAD_REFERENCE', problems: [{ path: 'scenario' }, { path: 'run' }] });
    const away = referenceTo('https://away.test/run');
    expect(await refusal(intake.submit({ ...REQUEST, run: away }))).toMatchObject({ code: 'UNAVAILABLE' });
    const broken = referenceTo('https://evidence.test/broken.json');
    const [problem] = await problemsOf(intake.submit({ ...REQUEST, run: broken }));
    expect(problem).toMatch(/^run: is not valid JSON/);
  });

  it('takes its key from the run where the scenario has none, and no run of another scenario', async () => {
    const { intake } = await place();
    const { key: _, ...keyless } = SCENARIO;
    const named = { inline: { ...RUN, scenario: 'named' } };
    const { evaluation } = await intake.submit({ ...REQUEST, scenario: { inline: keyless }, run: named });
    await decided(intake, evaluation);
    expect((await intake.status(evaluation))?.decision?.scenario).toBe('named');
    expect(await problemsOf(intake.submit({ ...REQUEST, key: 'k2', run: named }))).toEqual([
      'run.scenario: names another scenario than the one given',
    ]);
  });

  it.skipIf(name === 'inline')('is kept for its retention once it is decided', async () => {
    const { intake } = await place({ evaluation: { retention: '1s' } });
    const { evaluation } = await intake.submit({ ...REQUEST, key: randomBytes(4).toString('hex') });
    await expect.poll(() => intake.status(evaluation), { timeout: 15_000 }).toBeUndefined();
  });

  it('of nobody there is no status', async () => {
    const { intake } = await place();
    expect(await intake.status('nobody')).toBeUndefined();
  });
});
