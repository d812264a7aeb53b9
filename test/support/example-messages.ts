import { deliveryTo } from '../../src/app/deliver.js';
import { openingOf } from '../../src/app/opening.js';
import { Routing } from '../../src/app/routing.js';
import { runBatch } from '../../src/app/run-batch.js';
import { ScenarioCache } from '../../src/app/scenarios.js';
import type { Submission } from '../../src/app/submit.js';
import { intakeOf } from '../../src/compose/intake.js';
import { type Engine, openInline, plansOf, registryOf } from '../../src/compose.js';
import { COMMAND_NAMES, type CommandName } from '../../src/core/commands/names.js';
import { EVENT_NAMES, EVENT_PREFIX, EVENT_VERSION, type EventName } from '../../src/core/events.js';
import { loadScenario, scenarioJson, sealScenario } from '../../src/core/scenario/load.js';
import { subjectOf } from '../../src/core/subject.js';
import { InlineDelivery } from '../../src/inline/delivery.js';
import { configWith, silent } from './fleet.js';
import { FakeSink, isGone, readerOf } from './sinks.js';

type Message = Record<string, unknown>;

const RULES = {
  job: [{ label: 'The job was resolved', validator: 'job_resolution_status', pattern: 'success' }],
  tasks: [
    {
      label: 'The agent restarted nginx',
      validator: 'pattern_match',
      pattern: 'systemctl.*(restart|reload|start).*nginx',
      where: 'executed_commands',
    },
    {
      label: 'The configuration was tested',
      validator: 'pattern_match',
      pattern: 'nginx\\s+-t\\b',
      where: 'executed_commands',
      required: false,
    },
  ],
};

const runOf = (id: string, ...commands: string[]) => ({
  id,
  job: { resolution_status: 'success' },
  tasks: [{ id: 't1', commands }],
});

/** A validation that passes on the word `good`, one that errors on `broken`, and one that blocks nothing. */
const VALIDATIONS = [
  {
    name: 'no-drop',
    mode: 'required',
    code: `({ subject }) => {
      if (/broken/.test(subject)) throw new Error('the migration cannot be read');
      const dropped = subject.match(/drop table \\w+/i);
      return { passed: dropped === null, message: dropped === null ? 'nothing is dropped' : dropped[0], data: {} };
    }`,
  },
  {
    name: 'names-ticket',
    mode: 'informational',
    code: `({ subject }) => ({ passed: /ticket/.test(subject), message: 'which ticket asked for it', data: {} })`,
  },
];
const [BAD, WORSE, GOOD] = [
  'DROP TABLE orders;',
  'DROP TABLE customers;',
  '-- ticket: 17\nALTER TABLE orders;',
];

/** Resolves with the first event that fits, from the beginning. */
async function untilEvent(engine: Engine, fits: (event: Message) => boolean): Promise<Message> {
  const until = Date.now() + 20_000;
  for (let cursor = ''; Date.now() < until; ) {
    for (const { position, event } of await engine.store.outbox.events(cursor, 100, 100)) {
      cursor = position;
      const message = JSON.parse(event.json) as Message;
      if (fits(message)) return message;
    }
  }
  throw new Error('the event did not come');
}

/** The engine's queue, which runs nothing before it is released: until then a batch can be sealed. */
function heldBack({ queue }: Engine): { queue: Engine['queue']; release(): Promise<void> } {
  const held: Parameters<Engine['queue']['enqueue']>[] = [];
  const holding: Engine['queue'] = {
    enqueue: async (...given) => void held.push(given),
    isAlive: async () => true,
    close: async () => {},
  };
  const release = async () => {
    for (const given of held) await queue.enqueue(...given);
  };
  return { queue: holding, release };
}

async function judgeBatch(engine: Engine): Promise<void> {
  const text = JSON.stringify({ key: 'nginx-down', validation: RULES });
  const loaded = loadScenario({ file: 'scenario.json', text, defaultKey: 'nginx-down' });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const scenario = sealScenario(loaded.scenario);
  const { config, clock } = engine;
  const runs = [
    runOf('run-1', 'nginx -t', 'systemctl restart nginx'),
    runOf('run-2', 'ls'),
    ...Array.from({ length: 18 }, (_, n) =>
      runOf(`run-${n + 3}`, 'nginx -t', 'systemctl reload nginx', `true ${n}`),
    ),
  ];
  const submissions = runs.map(
    (run, index): Submission => ({
      index,
      run: run.id,
      case: run.id,
      scenario,
      subject: subjectOf(run as never),
    }),
  );
  const settings = {
    fleet: config.fleet,
    packing: 'off' as const,
    workers: 4,
    expected: runs.length,
    deadlineMs: 60_000,
    checkAfterMs: 60_000,
    actor: 'ci',
  };
  const options = { strict: false, from: 'direct' as const, informationalErrors: 'ignore' as const };
  const opening = openingOf('nightly-7', clock.now(), options, [{ scenario }], 60_000);
  const blobs = [{ digest: scenario.digest, content: scenarioJson(scenario) }];
  const { queue, release } = heldBack(engine);
  const deps = { store: engine.store, queue, clock };
  const judged = runBatch(deps, settings, opening, blobs, submissions, new AbortController().signal);
  while ((await engine.store.batches.batch(opening.id))?.total !== runs.length)
    await new Promise((resolve) => setTimeout(resolve, 5));
  await release();
  await judged;
}

/** Sends commands as a platform would, one after the other, and keeps the first of each kind. */
class Platform {
  readonly commands = new Map<string, Message>();
  readonly #intake: ReturnType<typeof intakeOf>;
  readonly #engine: Engine;
  #sent = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#intake = intakeOf(engine);
  }

  async send(name: CommandName, data: Message, subject?: string): Promise<void> {
    this.#sent += 1;
    const message: Message = {
      specversion: '1.0',
      id: `command-${this.#sent}`,
      source: '/platform/deployments',
      type: EVENT_PREFIX + name + EVENT_VERSION,
      ...(subject === undefined ? {} : { subject }),
      time: new Date(this.#engine.clock.now()).toISOString(),
      datacontenttype: 'application/json',
      data,
    };
    if (!this.commands.has(name)) this.commands.set(name, message);
    await this.raw(JSON.stringify(message));
  }

  async raw(text: string): Promise<void> {
    const incoming = {
      body: Buffer.from(text),
      contentType: 'application/cloudevents+json',
      attributes: {},
      place: 'stream SLUICE_COMMANDS, sequence 1',
    };
    const taken = await this.#intake.handle(incoming, { name: 'bus', actor: 'platform', trustActor: false });
    if (taken.kind !== 'done') throw new Error(`not taken: ${JSON.stringify(taken)}`);
  }

  /** Until the plan has come into this phase for the n-th time. */
  async reaches(plan: string, phase: string, times = 1): Promise<void> {
    let seen = 0;
    await untilEvent(this.#engine, ({ type, subject, data }) => {
      const { to } = data as { to?: string };
      if (type === 'dev.sluice.plan.phase.changed.v1' && subject === plan && to === phase) seen += 1;
      return seen === times;
    });
  }
}

async function drivePlans(engine: Engine, platform: Platform): Promise<void> {
  const registry = registryOf(engine);
  await registry.register(
    VALIDATIONS.map(
      (value, n) => ({ kind: 'validation' as const, value, place: { file: `v${n}` } }) as never,
    ),
    'operator',
  );
  for (const { name } of VALIDATIONS)
    await registry.attach({ validation: name, resource: 'db/orders', arguments: {} } as never, 'operator');
  const snapshots = (text: string) => ({ snapshots: { 'db/orders': text } });

  await platform.send('plan.created', { plan: 'release-7', project: 'shop', resources: ['db/orders'] });
  await platform.send('plan.strategized', {}, 'release-7');
  await platform.send('plan.executed', snapshots(BAD as string), 'release-7');
  await platform.reaches('release-7', 'fix');
  await platform.send('plan.fixed', snapshots(GOOD as string), 'release-7');
  await platform.reaches('release-7', 'ready');
  await platform.send('plan.apply.requested', snapshots(GOOD as string), 'release-7');

  await platform.send('plan.submitted', { plan: 'release-8', project: 'shop', ...snapshots(BAD as string) });
  await platform.reaches('release-8', 'fix');
  await platform.send('plan.fixed', snapshots(WORSE as string), 'release-8');
  await platform.reaches('release-8', 'strategize');
  await platform.send('plan.strategized', {}, 'release-8');
  await platform.send('plan.executed', snapshots('broken'), 'release-8');
  await platform.reaches('release-8', 'fix', 2);
  await platform.send('plan.fixed', snapshots(WORSE as string), 'release-8');
  await platform.reaches('release-8', 'escalated');
  await platform.send('plan.responded', { answer: 'abort', guidance: 'not this quarter' }, 'release-8');

  await platform.send('plan.submitted', { plan: 'release-9', ...snapshots(BAD as string) });
  await platform.reaches('release-9', 'fix');
  await platform.send('plan.cancel.requested', { reason: 'the release is off' }, 'release-9');
}

/** A sink that refuses one event for good and is then gone. */
async function failDelivery(engine: Engine): Promise<void> {
  const { outbox, letters, sinks } = engine.store;
  const sink = new FakeSink((call) =>
    call === 1 ? { kind: 'refused', final: true, reason: '413 Content Too Large' } : isGone,
  );
  const reader = readerOf('deploy-gate', sink, {
    batch: 1,
    describe: { kind: 'webhook', target: 'https://deploy.example.com/hooks/sluice' },
  });
  await outbox.openReader(reader.name, '');
  const deps = { outbox, letters, sinks, clock: engine.clock, fleet: engine.config.fleet };
  const delivery = new InlineDelivery(deliveryTo(deps, reader));
  await untilEvent(engine, ({ type }) => type === 'dev.sluice.delivery.disabled.v1');
  await delivery.close();
}

/** An evaluation whose check needs a runner that nobody has. */
async function waitForRunner(engine: Engine): Promise<void> {
  const { store, clock, config } = engine;
  const nobody = { enqueue: async () => {}, isAlive: async () => true, close: async () => {} };
  const parts = { ...engine, queue: nobody };
  const registry = registryOf(engine);
  await registry.register(
    [
      {
        kind: 'validation',
        value: { name: 'lint', mode: 'required', command: ['lint'] },
        place: { file: 'l' },
      } as never,
    ],
    'operator',
  );
  await registry.attach({ validation: 'lint', resource: 'repo/api', arguments: {} } as never, 'operator');
  const { plan } = await plansOf(parts).run({
    type: 'submit',
    plan: 'release-10',
    snapshots: { 'repo/api': 'x' },
    actor: 'platform',
  });
  const record = await store.evaluations.chunk(plan.awaits?.evaluation ?? '');
  if (record === undefined) throw new Error('no evaluation');
  const scenarios = new ScenarioCache(store.evaluations);
  await new Routing({ store, clock, fleet: config.fleet, scenarios }).look(record.chunk);
}

/** One real message of each kind: events as they were emitted, commands as they were taken. */
export async function exampleMessages(): Promise<Map<string, Message>> {
  const plans = { fixes: 1, revisions: 1, escalations: 1, error_retries: 0 };
  const engine = openInline(configWith({ fleet: 'sluice', events: { per_check: true }, plans }), silent);
  const platform = new Platform(engine);
  const found = new Map<string, Message>();
  try {
    await judgeBatch(engine);
    const request = {
      scenario: { key: 'nginx-down', validation: RULES },
      run: runOf('run-17', 'systemctl restart nginx'),
    };
    await platform.send('evaluation.requested', request);
    await platform.raw(
      '{"specversion":"1.0","id":"c-1","source":"/platform","type":"dev.sluice.plan.fixd.v1"}',
    );
    await drivePlans(engine, platform);
    await waitForRunner(engine);
    await failDelivery(engine);
    for (const { event } of await engine.store.outbox.events('', 10_000, 0)) {
      const name = event.type.slice(EVENT_PREFIX.length, -EVENT_VERSION.length);
      if (!found.has(name)) found.set(name, JSON.parse(event.json) as Message);
    }
  } finally {
    await engine.close();
  }
  const names: readonly (EventName | CommandName)[] = [...EVENT_NAMES, ...COMMAND_NAMES];
  return new Map(
    names.map((name) => {
      const message = found.get(name) ?? platform.commands.get(name);
      if (message === undefined) throw new Error(`no example of ${name}`);
      return [name, message];
    }),
  );
}
