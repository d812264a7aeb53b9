import { setTimeout as delay } from 'node:timers/promises';
import { evaluationsOf } from '../../src/compose/intake.js';
import { type Engine, plansOf, registryOf } from '../../src/compose.js';
import type { Kind } from '../../src/core/registry/model.js';
import { EXAMPLE_RUN, EXAMPLE_SCENARIO } from '../../src/http/operations/examples.js';
import type { TestServer } from './http.js';

const DOCUMENTS: { kind: Kind; [key: string]: unknown }[] = [
  {
    kind: 'validation',
    name: 'local/example',
    description: 'The snapshot is good',
    code: '({ subject }) => ({ passed: subject.good === true, message: "good or not" })',
  },
  {
    kind: 'tool',
    name: 'local/example-tool',
    description: 'Answers with nothing',
    code: '() => ({})',
  },
  { kind: 'tool', name: 'local/other-tool', description: 'Answers with nothing', code: '() => ({})' },
  { kind: 'skill', name: 'local/example-skill', description: 'Example', tools: ['local/other-tool'] },
];

/** Waits until a plan is in a phase. */
async function untilPhase(engine: Engine, plan: string, phase: string): Promise<void> {
  for (let left = 400; left > 0; left -= 1) {
    if ((await engine.store.plans.plan(plan))?.phase === phase) return;
    await delay(10);
  }
  throw new Error(`plan ${plan} did not come to ${phase}`);
}

const submitted = (engine: Engine, plan: string, good: boolean) =>
  plansOf(engine).run({ type: 'submit', plan, actor: 'seed', snapshots: { 'example/one': { good } } });

/** A plan in the phase that the examples of its commands need. */
async function seedPlan(engine: Engine, plan: string): Promise<void> {
  const plans = plansOf(engine);
  const create = () => plans.run({ type: 'create', plan, actor: 'seed', resources: ['example/one'] });
  if (plan === 'example-fix' || plan === 'example-escalated') {
    const none = { ...engine.config.plans, fixes: 0, revisions: 0 };
    const config = plan === 'example-fix' ? engine.config : { ...engine.config, plans: none };
    await submitted({ ...engine, config }, plan, false);
    return untilPhase(engine, plan, plan === 'example-fix' ? 'fix' : 'escalated');
  }
  if (plan === 'example-ready') {
    await submitted(engine, plan, true);
    return untilPhase(engine, plan, 'ready');
  }
  await create();
  if (plan === 'example-execute') await plans.run({ type: 'strategized', plan, actor: 'seed' });
}

/** What the examples of all operations name; answers with what stands for the ids that are made. */
export async function seedExamples(
  engine: Engine,
  server: TestServer,
  plan: string | undefined,
): Promise<Record<string, string>> {
  const registry = registryOf(engine);
  await registry.register(
    DOCUMENTS.map((value) => ({ kind: value.kind, value })),
    'seed',
  );
  const { id: attachment } = await registry.attach(
    { resource: 'example/one', validation: 'local/example', arguments: {} },
    'seed',
  );
  if (plan !== undefined && plan !== 'example-new') await seedPlan(engine, plan);
  await engine.store.sinks.note({
    name: 'example',
    kind: 'webhook',
    target: 'https://example.com/',
    state: 'disabled',
    reason: 'it answered 410',
    since: engine.clock.now(),
    nextTry: null,
  });
  await server.ask('PUT', '/v1/batches/example-batch', { body: { scenarios: [EXAMPLE_SCENARIO] } });
  const { evaluation } = await evaluationsOf(engine).submit({
    origin: '/seed',
    key: '1',
    actor: 'seed',
    scenario: { inline: EXAMPLE_SCENARIO },
    run: { inline: EXAMPLE_RUN },
  });
  return { 'example-evaluation': evaluation, '01EXAMPLEATTACHMENT0000000': attachment };
}
