import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Intake } from '../../src/app/intake/intake.js';
import { evaluationsOf, intakeOf } from '../../src/compose/intake.js';
import { type Engine, openFleet, openInline } from '../../src/compose.js';
import { sha256 } from '../../src/core/digest.js';
import { SluiceError } from '../../src/core/problem.js';
import type { DeadLetter } from '../../src/ports/dead-letters.js';
import { AwayError, type ReferenceReader } from '../../src/ports/references.js';
import type { IncomingMessage } from '../../src/ports/source.js';
import { startAggregator } from '../../workers/aggregator.js';
import { startExecutor } from '../../workers/executor.js';
import type { Role } from '../../workers/lifecycle.js';
import { BATCHED, commandEvent, messageWith, requestedEvent } from '../support/commands.js';
import { configWith, outboxOf, silent } from '../support/fleet.js';
import { attach, placeOf, register, saying, settled, shortType } from '../support/plan-play.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

const BUS = { name: 'bus', actor: 'source:bus', trustActor: false };
const SNAPSHOT = JSON.stringify({ tests: 'pass' });

/** A host that is away until it is told to be there. */
class Evidence implements ReferenceReader {
  isAway = false;
  async read({ sha256: digest }: { sha256: string }): Promise<string> {
    if (this.isAway) throw new SluiceError('UNAVAILABLE', 'evidence.test does not answer.');
    if (digest === sha256(SNAPSHOT)) return SNAPSHOT;
    throw new SluiceError('BAD_REFERENCE', 'There is nothing with this digest.');
  }
}
const REFERENCE = { uri: 'https://evidence.test/a.json', sha256: sha256(SNAPSHOT) };

const engines = [
  { name: 'inline', open: async (): Promise<Engine> => openInline(configWith(), silent), roles: [] },
  {
    name: 'fleet',
    open: (): Promise<Engine> => openFleet(configWith(), redis.url, silent),
    roles: [startExecutor, startAggregator],
  },
];

describe.each(engines)('commands from a bus, $name', ({ open, roles }) => {
  const opened: { engine: Engine; started: Role[] }[] = [];
  async function place() {
    const engine = await open();
    const started: Role[] = [];
    for (const start of roles) started.push(await start(engine as never));
    opened.push({ engine, started });
    const evidence = new Evidence();
    const plans = placeOf(engine);
    await register(plans, [saying('tests')]);
    await attach(plans, 'repo/a', ['tests']);
    return { engine, evidence, intake: intakeOf(engine, evidence), plans };
  }
  afterEach(async () => {
    for (const { engine, started } of opened.splice(0)) {
      await Promise.all(started.map((role) => role.stop()));
      await engine.close();
    }
  });

  const send = (intake: Intake, event: unknown, source = BUS) => intake.handle(messageWith(event), source);
  const lettersOf = async ({ store }: Engine): Promise<DeadLetter[]> =>
    (await store.letters.list({ direction: 'in' }, '', 100)).letters;
  const events = async ({ store }: Engine, name: string) =>
    (await outboxOf(store)).filter(({ type }) => shortType(type) === name);
  const DONE = { kind: 'done' };

  it('are taken once, however often and through how many intakes they come', async () => {
    const { engine, intake } = await place();
    const other = intakeOf(engine, new Evidence());
    const all = Array.from({ length: 12 }, (_, n) =>
      send(n % 2 === 0 ? intake : other, requestedEvent('one')),
    );
    expect(await Promise.all(all)).toEqual(Array.from({ length: 12 }, () => DONE));
    expect(await send(intake, requestedEvent('one'))).toEqual(DONE);
    expect(await events(engine, 'evaluation.accepted')).toHaveLength(1);
    expect(await lettersOf(engine)).toEqual([]);
    expect((await events(engine, 'evaluation.accepted'))[0]?.data.actor).toBe('source:bus');
  });

  it('move a plan from its beginning to its end, and say who moved it', async () => {
    const { engine, intake } = await place();
    const trusting = { ...BUS, trustActor: true };
    const plan = { subject: 'p1', actor: 'ann' };
    const go = async (name: string, data: Record<string, unknown>) => {
      expect(await send(intake, commandEvent(name, name, data, plan), trusting)).toEqual(DONE);
      return (await settled(engine.store, 'p1')).phase;
    };
    expect(await go('plan.created', { resources: ['repo/a'] })).toBe('strategize');
    expect(await go('plan.strategized', {})).toBe('execute');
    expect(await go('plan.executed', { snapshots: { 'repo/a': { tests: 'fail' } } })).toBe('fix');
    expect(await go('plan.fixed', { references: { 'repo/a': REFERENCE }, revision: 4 })).toBe('ready');
    expect(await go('plan.apply.requested', { snapshots: { 'repo/a': JSON.parse(SNAPSHOT) } })).toBe(
      'applied',
    );
    const timeline = await engine.store.plans.log('p1');
    expect(timeline.filter(({ command }) => command !== 'decided').map(({ actor }) => actor)).toEqual(
      Array.from({ length: 5 }, () => 'ann'),
    );
    for (const { data } of await events(engine, 'evaluation.passed')) expect(data.actor).toBe('ann');
    expect((await events(engine, 'plan.gate.passed'))[0]?.data.actor).toBe('sluice/aggregator');
    expect((await events(engine, 'plan.applied'))[0]?.data.actor).toBe('ann');
    expect(await lettersOf(engine)).toEqual([]);
    // All of it again, as a bus may bring it.
    expect(await go('plan.created', { resources: ['repo/a'] })).toBe('applied');
    expect(await go('plan.executed', { snapshots: { 'repo/a': { tests: 'fail' } } })).toBe('applied');
    expect(await lettersOf(engine)).toEqual([]);
    expect(await engine.store.plans.log('p1')).toEqual(timeline);
  });

  it('to one plan are taken in the order in which they came, many at a time', async () => {
    const { engine, intake } = await place();
    const plans = Array.from({ length: 8 }, (_, n) => `p${n}`);
    const steps: [string, Record<string, unknown>][] = [
      ['plan.created', { resources: ['repo/a'] }],
      ['plan.strategized', {}],
      ['plan.cancel.requested', { reason: 'enough' }],
    ];
    const sent = steps.flatMap(([name, data]) =>
      plans.map((subject) => send(intake, commandEvent(name, `${name} ${subject}`, data, { subject }))),
    );
    expect(new Set((await Promise.all(sent)).map(({ kind }) => kind))).toEqual(new Set(['done']));
    expect(await lettersOf(engine)).toEqual([]);
    for (const id of plans) {
      const log = await engine.store.plans.log(id);
      expect(log.map(({ command }) => command)).toEqual(['create', 'strategized', 'cancel']);
    }
  });

  it('keep that order when an earlier one has to wait, and hold up no other plan', async () => {
    const { engine, intake, evidence } = await place();
    evidence.isAway = true;
    const submit = commandEvent(
      'plan.submitted',
      's',
      { references: { 'repo/a': REFERENCE } },
      { subject: 'p1' },
    );
    const cancel = commandEvent('plan.cancel.requested', 'c', {}, { subject: 'p1' });
    const waits = [await send(intake, submit), await send(intake, submit), await send(intake, submit)];
    expect(waits).toMatchObject([
      { kind: 'later', afterMs: 250, reason: 'evidence.test does not answer.' },
      { kind: 'later', afterMs: 500 },
      { kind: 'later', afterMs: 1000 },
    ]);
    expect(await send(intake, cancel)).toMatchObject({
      kind: 'later',
      reason: expect.stringMatching(/earlier/),
    });
    const other = commandEvent('plan.created', 'o', { resources: ['repo/a'] }, { subject: 'p2' });
    expect(await send(intake, other)).toEqual(DONE);
    expect(await lettersOf(engine)).toEqual([]);
    evidence.isAway = false;
    expect(await send(intake, cancel)).toMatchObject({ kind: 'later' });
    expect(await send(intake, submit)).toEqual(DONE);
    expect(await send(intake, cancel)).toEqual(DONE);
    expect((await engine.store.plans.log('p1')).map(({ command }) => command)).toEqual(
      expect.arrayContaining(['submit', 'cancel']),
    );
    expect(await lettersOf(engine)).toEqual([]);
  });

  const poison: [string, IncomingMessage, string, RegExp][] = [
    ['no JSON at all', messageWith('{"id": '), 'INVALID_EVENT', /is not valid JSON/],
    ['bytes', { ...messageWith(''), body: new Uint8Array([1, 255, 0]) }, 'INVALID_EVENT', /UTF-8/],
    ['no id', messageWith({ ...requestedEvent('x'), id: undefined }), 'INVALID_EVENT', /id: is missing/],
    [
      'too much',
      messageWith(requestedEvent('x', { pad: 'x'.repeat(2 ** 20) })),
      'TOO_LARGE',
      /1048576 are allowed/,
    ],
    [
      'a type of another',
      messageWith(commandEvent('plan.exected', 'x', {})),
      'UNKNOWN_TYPE',
      /plan\.executed/,
    ],
    [
      'a type of a later version',
      messageWith(commandEvent('', 'x', {}, { type: 'dev.sluice.plan.fixed.v2' })),
      'UNSUPPORTED_VERSION',
      /version 2/,
    ],
    [
      'bad data',
      messageWith(commandEvent('plan.fixed', 'x', { plan: 'p' })),
      'INVALID_EVENT',
      /data\.snapshots/,
    ],
    [
      'a scenario that is none',
      messageWith(commandEvent('evaluation.requested', 'x', { scenario: {}, run: { id: 'r' } })),
      'INVALID_REQUEST',
      /scenario\.validation/,
    ],
    [
      'a reference to nothing',
      messageWith(
        commandEvent('plan.submitted', 'x', {
          plan: 'p',
          references: { 'repo/a': { ...REFERENCE, sha256: 'a'.repeat(64) } },
        }),
      ),
      'BAD_REFERENCE',
      /data\.references/,
    ],
    [
      'no such plan',
      messageWith(commandEvent('plan.strategized', 'x', { plan: 'p' })),
      'NOT_FOUND',
      /no plan/,
    ],
  ];

  it.each(poison)(
    'with %s are set aside with the reason, and block nothing',
    async (_what, message, code, reason) => {
      const { engine, intake } = await place();
      const [bad, good] = await Promise.all([
        intake.handle(message, BUS),
        send(intake, requestedEvent('good')),
      ]);
      expect([bad, good]).toEqual([DONE, DONE]);
      const [letter, ...others] = await lettersOf(engine);
      expect(others).toEqual([]);
      expect(letter).toMatchObject({
        direction: 'in',
        endpoint: 'bus',
        code,
        tries: 1,
        redriven: 0,
        response: null,
      });
      expect(letter?.reason).toMatch(reason);
      const [notice] = await events(engine, 'command.refused');
      expect(notice?.data).toMatchObject({
        endpoint: 'bus',
        letter: letter?.id,
        code,
        reason: letter?.reason,
      });
      // Its acknowledgement was lost on the way.
      expect(await intake.handle(message, BUS)).toEqual(DONE);
      expect(await lettersOf(engine)).toEqual([letter]);
      expect(await events(engine, 'command.refused')).toHaveLength(1);
      expect(await events(engine, 'evaluation.accepted')).toHaveLength(1);
    },
  );

  it('that the plan refuses, or that say something else under an old id, are set aside', async () => {
    const { engine, intake } = await place();
    const about = { subject: 'p1' };
    await send(intake, commandEvent('plan.created', 'a', { resources: ['repo/a'] }, about));
    await send(intake, commandEvent('plan.fixed', 'b', { snapshots: { 'repo/a': 1 } }, about));
    await send(intake, commandEvent('plan.created', 'a', { resources: ['repo/b'] }, about));
    await send(intake, requestedEvent('e'));
    await send(
      intake,
      commandEvent('evaluation.requested', 'e', { ...(requestedEvent('f').data as object) }),
    );
    expect((await lettersOf(engine)).map(({ code }) => code)).toEqual([
      'PLAN_REFUSED',
      'COMMAND_CONFLICT',
      'IDEMPOTENCY_CONFLICT',
    ]);
    expect((await engine.store.plans.plan('p1'))?.phase).toBe('strategize');
  });

  it('in a batch are each taken or set aside alone', async () => {
    const { engine, intake } = await place();
    const bad = { ...requestedEvent('bad'), source: '' };
    const unknown = commandEvent('plan.exected', 'unknown', {});
    const batch = [requestedEvent('one'), bad, 7, unknown, requestedEvent('two')];
    expect(await intake.handle(messageWith(batch, BATCHED), BUS)).toEqual(DONE);
    expect(await events(engine, 'evaluation.accepted')).toHaveLength(2);
    const letters = await lettersOf(engine);
    expect(letters.map(({ code }) => code).sort()).toEqual([
      'INVALID_EVENT',
      'INVALID_EVENT',
      'UNKNOWN_TYPE',
    ]);
    const kept = letters.map(({ content }) => JSON.parse(content).body);
    expect(kept.sort()).toEqual(['7', JSON.stringify(bad), JSON.stringify(unknown)].sort());
    expect(await intake.handle(messageWith(batch, BATCHED), BUS)).toEqual(DONE);
    expect(await lettersOf(engine)).toEqual(letters);
  });

  it('that are events of Sluice itself are done with', async () => {
    const { engine, intake } = await place();
    await send(intake, requestedEvent('one'));
    for (const event of await outboxOf(engine.store)) expect(await send(intake, event)).toEqual(DONE);
    expect(await lettersOf(engine)).toEqual([]);
  });

  it('are taken again from their dead letters once the reason is gone', async () => {
    const { engine, intake } = await place();
    const about = { subject: 'p1' };
    await send(intake, commandEvent('plan.strategized', 's', {}, about));
    const [letter] = await lettersOf(engine);
    if (letter === undefined) return expect.fail('there is none');
    expect(await intake.retake(letter)).toMatch(/There is no plan/);
    await send(intake, commandEvent('plan.created', 'c', { resources: ['repo/a'] }, about));
    expect(await intake.retake(letter)).toBe('done');
    expect(await intake.retake(letter)).toBe('done');
    expect((await engine.store.plans.log('p1')).map(({ command }) => command)).toEqual([
      'create',
      'strategized',
    ]);
    expect((await engine.store.plans.log('p1'))[1]?.actor).toBe('source:bus');
    await intake.handle(messageWith(requestedEvent('x', { pad: 'x'.repeat(2 ** 21) })), BUS);
    const [, large] = await lettersOf(engine);
    expect(large?.content.length).toBeLessThan(1.1 * 2 ** 20);
    expect(await intake.retake(large as DeadLetter)).toMatch(/too many to be kept/);
    return expect(await intake.retake({ ...letter, content: '{' })).toMatch(/cannot be read/);
  });

  it('never tell secrets in the reason for which they are set aside', async () => {
    const { engine, intake } = await place();
    const secret = 'password=hunter2hunter2';
    await send(intake, commandEvent('plan.responded', 'x', { plan: 'p', answer: secret }));
    const [letter] = await lettersOf(engine);
    expect(letter?.reason).toMatch(/data\.answer/);
    expect(letter?.reason).not.toContain('hunter2');
    expect(JSON.stringify(await events(engine, 'command.refused'))).not.toContain('hunter2');
  });
});

describe('an error that nobody expected', () => {
  it('makes a message wait, and in the end a dead letter', async () => {
    const engine = openInline(configWith(), silent);
    const strange: ReferenceReader = {
      read: () => Promise.reject(new TypeError('undefined is not a function')),
    };
    const intake = intakeOf(engine, strange);
    const message = messageWith(
      commandEvent('plan.submitted', 'x', { plan: 'p', references: { a: REFERENCE } }),
    );
    for (let n = 1; n < 10; n += 1)
      expect(await intake.handle(message, BUS)).toMatchObject({
        kind: 'later',
        afterMs: Math.min(250 * 2 ** (n - 1), 30_000),
      });
    expect(await intake.handle(message, BUS)).toEqual({ kind: 'done' });
    const { letters } = await engine.store.letters.list({ direction: 'in' }, '', 10);
    expect(letters).toMatchObject([{ code: 'INTERNAL', tries: 10 }]);
    // A redrive tells it, and goes on with the letters behind it.
    expect(await intake.retake(letters[0] as DeadLetter)).toMatch(/undefined is not a function/);
    await engine.close();
  });

  it('does so too when it concerns no single event', async () => {
    const engine = openInline(configWith(), silent);
    const intake = intakeOf(engine, new Evidence());
    const strange = { ...messageWith(requestedEvent('x')), contentType: 7 as never };
    for (let n = 1; n < 10; n += 1)
      expect(await intake.handle(strange, BUS)).toMatchObject({ kind: 'later' });
    expect(await intake.handle(strange, BUS)).toEqual({ kind: 'done' });
    const { letters } = await engine.store.letters.list({ direction: 'in' }, '', 10);
    expect(letters).toMatchObject([{ code: 'INTERNAL', tries: 10 }]);
    await engine.close();
  });
});

describe('evidence whose host stays away', () => {
  it('holds up nothing for ever: the command becomes a dead letter, and is taken when the host is back', async () => {
    const engine = openInline(configWith(), silent);
    const parts = placeOf(engine);
    await register(parts, [saying('tests')]);
    let isAway = true;
    const gone: ReferenceReader = {
      async read() {
        if (isAway) throw new AwayError('evidence.test does not answer.');
        return SNAPSHOT;
      },
    };
    const intake = intakeOf(engine, gone);
    const about = { subject: 'p' };
    const submit = commandEvent('plan.submitted', 's', { references: { 'repo/a': REFERENCE } }, about);
    const create = commandEvent('plan.created', 'c', { resources: ['repo/b'] }, about);
    const send = (event: unknown) => intake.handle(messageWith(event), BUS);
    for (let n = 1; n < 10; n += 1) expect(await send(submit)).toMatchObject({ kind: 'later' });
    expect(await send(create)).toMatchObject({ kind: 'later' });
    expect(await send(submit)).toEqual({ kind: 'done' });
    const { letters } = await engine.store.letters.list({ direction: 'in' }, '', 10);
    expect(letters).toMatchObject([
      { code: 'UNAVAILABLE', reason: 'evidence.test does not answer.', tries: 10 },
    ]);
    const letter = letters[0] as DeadLetter;
    expect(await intake.retake(letter)).toBe('evidence.test does not answer.');
    isAway = false;
    expect(await intake.retake(letter)).toBe('done');
    // Nobody waits for it any more.
    expect(await send(create)).toEqual({ kind: 'done' });
    expect((await engine.store.plans.log('p'))[0]?.command).toBe('submit');
    await engine.close();
  });
});

describe('commands to one plan over two servers', () => {
  it('that come before what they need are tried again, and set aside when nothing comes', async () => {
    const engine = openInline(configWith(), silent);
    const parts = placeOf(engine);
    await register(parts, [saying('tests')]);
    const [one, two] = [1, 2].map(() => intakeOf(engine, new Evidence(), { refusedTries: 3 }));
    const about = { subject: 'p' };
    const early = messageWith(commandEvent('plan.strategized', 's', {}, about));
    const first = messageWith(commandEvent('plan.created', 'c', { resources: ['repo/a'] }, about));
    expect(await two?.handle(early, BUS)).toMatchObject({
      kind: 'later',
      reason: expect.stringMatching(/no plan/),
    });
    expect(await one?.handle(first, BUS)).toEqual({ kind: 'done' });
    expect(await two?.handle(early, BUS)).toEqual({ kind: 'done' });
    expect((await engine.store.plans.plan('p'))?.phase).toBe('execute');
    const never = messageWith(commandEvent('plan.strategized', 'n', {}, { subject: 'nobody' }));
    for (const kind of ['later', 'later', 'done'])
      expect(await one?.handle(never, BUS)).toMatchObject({ kind });
    const { letters } = await engine.store.letters.list({ direction: 'in' }, '', 10);
    expect(letters).toMatchObject([{ code: 'NOT_FOUND', tries: 3 }]);
    await engine.close();
  });
});

describe('a message as large as it may be', () => {
  it('is kept whole, and can be taken again', async () => {
    const engine = openInline(configWith({ intake: { max_message: 2 ** 22 } }), silent);
    const intake = intakeOf(engine, new Evidence());
    const guidance = 'x'.repeat(65_536);
    const pad = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`r${n}`, guidance]));
    const event = commandEvent('plan.executed', 'large', { plan: 'p', snapshots: pad });
    expect(await intake.handle(messageWith(event), BUS)).toEqual({ kind: 'done' });
    const { letters } = await engine.store.letters.list({ direction: 'in' }, '', 10);
    expect(letters).toMatchObject([{ code: 'NOT_FOUND' }]);
    expect(await intake.retake(letters[0] as DeadLetter)).toMatch(/no plan/);
    await engine.close();
  });
});

describe('what takes longer than a bus may wait', () => {
  it('is answered when the message comes again, and done once', async () => {
    const engine = openInline(configWith(), silent);
    const parts = placeOf(engine);
    let arrive = (_text: string) => {};
    let reads = 0;
    const slow: ReferenceReader = {
      read() {
        reads += 1;
        return new Promise((resolve) => {
          arrive = resolve;
        });
      },
    };
    const intake = new Intake({
      store: engine.store,
      clock: engine.clock,
      fleet: 'f',
      evaluations: evaluationsOf(engine, slow),
      plans: parts.plans,
      references: slow,
      maxBytes: 2 ** 20,
      patienceMs: 30,
    });
    const submit = commandEvent('plan.submitted', 'x', { plan: 'p', references: { 'repo/a': REFERENCE } });
    const later = { kind: 'later', reason: 'it takes longer than it may' };
    expect(await intake.handle(messageWith(submit), BUS)).toMatchObject({ ...later, afterMs: 250 });
    expect(await intake.handle(messageWith(submit), BUS)).toMatchObject({ ...later, afterMs: 500 });
    expect(reads).toBe(1);
    arrive(SNAPSHOT);
    await expect.poll(() => intake.handle(messageWith(submit), BUS)).toEqual({ kind: 'done' });
    const commands = async () => (await engine.store.plans.log('p')).map(({ command }) => command);
    await expect.poll(commands).toEqual(['submit', 'decided']);
    await engine.close();
  });
});
