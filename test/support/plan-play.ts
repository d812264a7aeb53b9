import type { PlanService } from '../../src/app/plan/service.js';
import type { RegistryService } from '../../src/app/registry/service.js';
import { type Engine, plansOf, registryOf } from '../../src/compose.js';
import { planAttachment } from '../../src/core/attachments/attach.js';
import type { PlanState } from '../../src/core/plan/model.js';
import type { Store } from '../../src/ports/store.js';
import { type CloudEventJson, outboxOf } from './fleet.js';

export const AGENT = 'agent';

/** Where plans are played: their commands, and the registry that they are judged by. */
export interface PlanPlace {
  engine: Pick<Engine, 'store' | 'queue' | 'clock' | 'config'>;
  registry: RegistryService;
  plans: PlanService;
}

export const placeOf = (engine: PlanPlace['engine']): PlanPlace => ({
  engine,
  registry: registryOf(engine),
  plans: plansOf(engine),
});

/**
 * A validation whose outcome is what the snapshot says under its name: `fail`, `hopeless` (a failure
 * that no fix helps), `error`, `hang` (until its time is up), anything else for a pass.
 */
export function saying(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const code = `({ subject }) => {
    const said = subject[${JSON.stringify(name)}];
    while (said === 'hang') {}
    if (said === 'error') throw new Error('${name} could not be run');
    const data = said === 'hopeless' ? { retryable: false } : {};
    return { passed: said !== 'fail' && said !== 'hopeless', message: '${name} says ' + said, data };
  }`;
  return { name, description: `What the snapshot says of ${name}`, code, timeout: '10s', ...more };
}

/** Registers validations. */
export async function register(place: PlanPlace, documents: readonly Record<string, unknown>[]) {
  return place.registry.register(
    documents.map((value) => ({ kind: 'validation' as const, value })),
    AGENT,
  );
}

/**
 * Attaches validations to a resource, directly. Their ids are made of both names, not of the time: then
 * the same plan has the same events, whoever plays it.
 */
export async function attach(
  { engine }: Pick<PlanPlace, 'engine'>,
  resource: string,
  validations: readonly string[],
): Promise<void> {
  const { registry } = engine.store;
  for (const validation of validations) {
    const found = await registry.read();
    const id = `${resource} ${validation}`;
    const request = { resource, validation, arguments: {} };
    const planned = planAttachment(found, request, id, engine.clock.now(), AGENT);
    if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
    if ((await registry.change(found.revision, planned.change)) === undefined)
      throw new Error('another change of the registry came first');
  }
}

const PATIENCE_MS = 60_000;

/** The plan as soon as it is so; looks again whenever something has happened. */
export async function untilPlan(
  { plans, outbox }: Pick<Store, 'plans' | 'outbox'>,
  id: string,
  isSo: (state: PlanState) => boolean,
): Promise<PlanState> {
  const givenUpAt = Date.now() + PATIENCE_MS;
  let cursor = await outbox.lastEvent();
  for (;;) {
    const state = await plans.plan(id);
    if (state !== undefined && isSo(state)) return state;
    if (Date.now() > givenUpAt)
      throw new Error(`plan ${id} did not come to it; it stands as ${JSON.stringify(state)}`);
    cursor = (await outbox.events(cursor, 100, 250)).at(-1)?.position ?? cursor;
  }
}

/** The plan as soon as it waits for no evaluation. */
export const settled = (store: Store, id: string): Promise<PlanState> =>
  untilPlan(store, id, ({ awaits }) => awaits === null);

export const shortType = (type: string): string => type.replace(/^dev\.sluice\.|\.v1$/g, '');

/** Every event of a plan and of its evaluations, in the order of the outbox. */
export async function eventsOfPlan(store: Store, plan: string): Promise<CloudEventJson[]> {
  return (await outboxOf(store)).filter(({ correlationid }) => correlationid === plan);
}

/** Short types of the decisions about evaluations, by evaluation. */
export function verdictsOf(events: readonly CloudEventJson[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { type, subject } of events) {
    const name = shortType(type);
    if (name !== 'evaluation.passed' && name !== 'evaluation.failed') continue;
    found[subject] = [...(found[subject] ?? []), name];
  }
  return found;
}

/**
 * The value with evaluations and events named by their order: their ids hold the time, so that they are
 * never the same twice.
 */
export function withPlainIds<T>(value: T, evaluations: readonly string[], events: readonly string[]): T {
  let text = JSON.stringify(value);
  for (const [n, id] of evaluations.entries()) text = text.replaceAll(id, `evaluation ${n + 1}`);
  for (const [n, id] of events.entries()) text = text.replaceAll(id, `event ${n + 1}`);
  return JSON.parse(text) as T;
}
