import type { Config } from '../config/schema.js';
import { endpointName, readEndpoint } from '../queues/endpoints.js';
import { readSecret } from '../queues/secrets.js';
import { builtInSinks } from '../queues/sinks/built-in.js';
import { type DeliverDeps, deliveryTo, type SinkReader } from '../src/app/deliver.js';
import type { Engine, FleetEngine } from '../src/compose.js';
import type { SinkSetting } from '../src/core/endpoints.js';
import type { OutboxEvent } from '../src/core/events.js';
import { SluiceError } from '../src/core/problem.js';
import { redact } from '../src/core/redact.js';
import { wantsEvent } from '../src/core/sink-filter.js';
import type { SinkState } from '../src/ports/dead-letters.js';
import { consumerDeps, named, type Role, startRole } from './lifecycle.js';

const CLAIM_WAIT_MS = 500;
/** Most events that a sink takes at a time when its kind says nothing else. */
const BATCH = 200;

export interface SinkPlace {
  /** URL of the fleet's own Redis; absent in the inline engine. */
  redisUrl?: string;
  fleet: string;
  config: Config['delivery'];
  /** Trouble of the sink's connection between deliveries. */
  onError(error: Error): void;
}

/** What a reader is for besides its sink's own filter: another reader of the same sink. */
export interface ReaderScope {
  name: string;
  wants: (event: OutboxEvent) => boolean;
}

/** A target as it may be shown: without user, password and what looks like a secret. */
function shownTarget(target: string): string {
  return redact(target.replace(/:\/\/[^/?#]*@/, '://'));
}

function bothOf(
  filter: ((event: OutboxEvent) => boolean) | undefined,
  scope: ReaderScope | undefined,
): Pick<SinkReader, 'wants'> {
  if (filter === undefined) return scope === undefined ? {} : { wants: scope.wants };
  if (scope === undefined) return { wants: filter };
  return { wants: (event) => scope.wants(event) && filter(event) };
}

/**
 * Opens a sink as a reader of the outbox; the same setting is the same reader, over restarts. Throws USAGE
 * with every problem of the setting, or what its kind says of a target that can never be used.
 */
export async function openSinkReader(
  setting: SinkSetting,
  place: SinkPlace,
  scope?: ReaderScope,
): Promise<SinkReader> {
  const read = readEndpoint(builtInSinks, setting, '--sink');
  if (!('endpoint' in read))
    throw new SluiceError('USAGE', `The sink ${setting.kind} cannot be used.`, read.problems);
  const { kind, target, options } = read.endpoint;
  const name = endpointName(setting, scope?.name);
  const project =
    setting.projection === undefined
      ? undefined
      : await (await import('../queues/projection.js')).openProjection(setting.projection);
  const { fleet, redisUrl, onError, config } = place;
  const context = {
    name,
    fleet,
    secret: readSecret,
    onError,
    ...(redisUrl === undefined ? {} : { redisUrl }),
  };
  return {
    name,
    sink: await named(`sink ${name}`, kind.open(target, options, context)),
    ...bothOf(wantsEvent(setting), scope),
    ...(project === undefined ? {} : { project }),
    batch: kind.batch?.(options) ?? BATCH,
    concurrency: setting.concurrency ?? 1,
    ...(setting.rate === undefined ? {} : { rate: setting.rate }),
    order: setting.order,
    tries: setting.tries ?? config.tries,
    giveUpAfterMs: setting.give_up_after ?? config.give_up_after,
    longestWaitMs: config.longest_wait,
    describe: { kind: kind.kind, target: shownTarget(target) },
  };
}

/** Two sinks of one name would share one place in the outbox, and each get half of it. */
function assertNames(readers: readonly SinkReader[]): void {
  const names = readers.map(({ name }) => name);
  const twice = new Set(names.filter((name, n) => names.indexOf(name) !== n));
  if (twice.size === 0) return;
  throw new SluiceError(
    'USAGE',
    'Two sinks have the same name.',
    [...twice].map((found) => ({
      path: 'sinks',
      message: 'each sink needs a name, or a target, of its own',
      found,
    })),
  );
}

function deliverDeps(
  { store, clock, config, log, metrics, tracer }: Engine,
  onError: (error: Error) => void,
): DeliverDeps {
  const onState = ({ name, kind, target, state, reason, nextTry }: SinkState) => {
    const about = { sink: name, kind, target, reason, next_try: nextTry };
    if (state === 'delivering') log.info({ sink: name, kind, target }, 'sink is back');
    else if (state === 'away') log.warn(about, 'sink is away; its events wait');
    else log.warn(about, 'sink is gone and is disabled until it is enabled; its events wait');
  };
  const { outbox, letters, sinks } = store;
  return {
    outbox,
    letters,
    sinks,
    clock,
    fleet: config.fleet,
    onState,
    onError,
    meter: metrics?.recorder,
    tracer,
  };
}

/** Starts a dispatcher: brings the outbox to these sinks. Readers must be open. Throws USAGE for two of one name. */
export function startDispatcher(engine: FleetEngine, readers: readonly SinkReader[]): Promise<Role> {
  assertNames(readers);
  return startRole(engine, 'dispatcher', async (id) => {
    const { dispatchTo } = await import('../queues/delivery.js');
    const deps = { ...consumerDeps(engine), consumer: id };
    const outgoing = deliverDeps(engine, engine.trouble);
    const settings = { waitMs: CLAIM_WAIT_MS };
    const consumers = readers.map((reader) => dispatchTo(deps, deliveryTo(outgoing, reader), settings));
    return {
      async drain(deadlineMs) {
        await Promise.all(consumers.map((consumer) => consumer.drain(deadlineMs)));
      },
    };
  });
}

/** The same in this process and without a queue, for the inline engine; ends with `close`. */
export async function startInlineDelivery(
  engine: Engine,
  readers: readonly SinkReader[],
): Promise<{ close(): Promise<void> }> {
  assertNames(readers);
  const { InlineDelivery } = await import('../src/inline/delivery.js');
  const onError = (error: Error) => engine.log.warn({ err: { message: error.message } }, 'delivery trouble');
  const outgoing = deliverDeps(engine, onError);
  const deliveries = readers.map((reader) => new InlineDelivery(deliveryTo(outgoing, reader)));
  return {
    async close() {
      await Promise.all(deliveries.map((delivery) => delivery.close()));
    },
  };
}
