import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVENT_NAMES, type EventName } from '../../../src/core/events.js';
import { createFleet, type Fleet, SluiceError } from '../../../src/index.js';
import type { FleetEvent } from '../../../src/library/subscriptions.js';
import { configWith, HASTY, openTestFleet } from '../../support/fleet.js';
import { startTestRedis } from '../../support/redis.js';

type Settings = Record<string, Record<string, unknown>>;
type PlanStatus = Awaited<ReturnType<Fleet['plan']>>;
export type PlanResult = PlanStatus['evaluations'][number]['results'][number];

/** Milliseconds that an event may take to come. */
const PATIENCE = 40_000;

/** Hears every event of a fleet, from its making on. */
class Recorder {
  readonly events: FleetEvent[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(fleet: Fleet) {
    fleet.on(EVENT_NAMES, (event) => {
      this.events.push(event);
      for (const look of [...this.#waiting]) look();
    });
  }

  /** Events of one plan and of its evaluations, in order. */
  of(plan: string): FleetEvent[] {
    return this.events.filter(({ subject, data }) => subject === plan || aboutPlan(data) === plan);
  }

  /** The first event of the plan with one of these names, behind the `after`-th. */
  next(plan: string, names: readonly EventName[], after: number): Promise<{ event: FleetEvent; at: number }> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const own = this.of(plan);
        const at = own.findIndex(({ name }, n) => n >= after && names.includes(name));
        if (at < 0) return;
        this.#waiting.delete(look);
        clearTimeout(timer);
        resolve({ event: own[at] as FleetEvent, at });
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(
          new Error(`no ${names.join(' or ')} came; ${plan} had:\n${this.of(plan).map(line).join('\n')}`),
        );
      }, PATIENCE);
      this.#waiting.add(look);
      look();
    });
  }
}

function aboutPlan(data: unknown): unknown {
  return (data as { plan?: unknown }).plan;
}

/** An event in one line, without what differs from run to run. */
export function line({ name, data }: FleetEvent): string {
  const {
    from,
    to,
    stage,
    fix,
    limit,
    strategy_revision: revision,
    reason,
  } = data as Record<string, unknown>;
  switch (name) {
    case 'plan.phase.changed':
      return `${name} ${from ?? '-'} > ${to}`;
    case 'plan.retry.requested':
      return `${name} ${fix} of ${limit}`;
    case 'plan.revision.requested':
      return `${name} ${revision} of ${limit}: ${reason}`;
    case 'plan.escalated':
    case 'plan.failed':
      return `${name} ${reason}`;
    case 'evaluation.accepted':
    case 'evaluation.passed':
    case 'evaluation.failed':
      return `${name} ${stage}`;
    default:
      return name;
  }
}

/** One plan, as an agent sees it: what it is told, in order. */
export class Story {
  #seen = 0;

  constructor(
    readonly fleet: Fleet,
    private readonly recorder: Recorder,
    readonly plan: string,
  ) {}

  /** The next event of these names that was not awaited before. */
  async until<N extends EventName>(...names: N[]): Promise<FleetEvent<N>> {
    const { event, at } = await this.recorder.next(this.plan, names, this.#seen);
    this.#seen = at + 1;
    return event as unknown as FleetEvent<N>;
  }

  /** Every event so far, each as one line. */
  lines(): string[] {
    return this.events().map(line);
  }

  events(): FleetEvent[] {
    return this.recorder.of(this.plan);
  }
}

/** A fleet under test, on either engine. */
export interface Stage {
  fleet: Fleet;
  /** Listens to a plan of that id, whether it exists or not. */
  story(plan: string): Story;
  close(): Promise<void>;
}

type RoleNames = NonNullable<Parameters<typeof openTestFleet>[2]>;

/** A stage whose roles are played apart from it. */
export interface RedisStage extends Stage {
  /** More of them begin to play. */
  join(roles: RoleNames): Promise<void>;
}

async function openStage(settings: Settings, more: { fleet?: string; redis?: string } = {}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-compliance-'));
  const config = join(folder, 'sluice.yaml');
  await writeFile(config, JSON.stringify(settings));
  const fleet = await createFleet({ config, ...more });
  const recorder = new Recorder(fleet);
  return {
    fleet,
    story: (plan) => new Story(fleet, recorder, plan),
    async close() {
      await fleet.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Everything in this process, in memory. */
export function openInline(settings: Settings = {}): Promise<Stage> {
  return openStage(settings);
}

/** A Redis of its own, with these roles on it, and a client that plays none. */
export async function openRedis(
  settings: Settings = {},
  roles: RoleNames = ['worker', 'aggregator', 'sweeper'],
): Promise<RedisStage> {
  const redis = await startTestRedis();
  const all = { ...HASTY, ...settings };
  const config = configWith(all);
  const players = [await openTestFleet(redis.url, config, roles)];
  const stage = await openStage(all, { redis: redis.url, fleet: config.fleet });
  return {
    ...stage,
    async join(more) {
      players.push(await openTestFleet(redis.url, config, more));
    },
    async close() {
      await stage.close();
      await Promise.all(players.map((each) => each.close()));
      await redis.stop();
    },
  };
}

/** Codes of a refusal's problems; fails when nothing was refused. */
export async function refusal(work: Promise<unknown>): Promise<{ code: string; problems: string[] }> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SluiceError)) throw error ?? new Error('nothing was refused');
  return { code: error.code, problems: error.problems.map(({ code, path }) => `${code} ${path}`) };
}

/** Results of the plan's last evaluation, by validation. */
export async function lastResults({ fleet, plan }: Story): Promise<Record<string, PlanResult>> {
  const { evaluations } = await fleet.plan(plan);
  return Object.fromEntries((evaluations.at(-1)?.results ?? []).map((each) => [each.validation, each]));
}
