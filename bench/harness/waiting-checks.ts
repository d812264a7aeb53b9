import { Queue } from 'bullmq';
import { QUEUES, queuePrefix } from '../../queues/names.js';
import { connect } from '../../queues/redis.js';
import type { PlanService } from '../../src/app/plan/service.js';
import { plansOf, registryOf } from '../../src/compose.js';
import { eventsAfter, Faults } from './exact.js';
import type { BenchFleet } from './fleet.js';

/** What an executor of the bench is told besides its fleet. */
export interface ExecutorOrders {
  /** Milliseconds that a call of an MCP server takes; absent: the servers of the settings are called. */
  callMs?: number;
}

/** Name of the MCP server in the settings; nobody is there, since the bench answers in its place. */
export const SERVER = 'elsewhere';
const ACTOR = 'bench';
const RESOURCE = 'service/app';
/** How often the outbox is asked anew while nothing comes, in milliseconds. */
const WAIT_MS = 250;

/** Plans whose one resource has so many checks, each of which asks a service and waits for its answer. */
export class WaitingChecks {
  readonly #fleet: BenchFleet;
  readonly #plans: PlanService;
  readonly #checks: number;

  private constructor(fleet: BenchFleet, checks: number) {
    this.#fleet = fleet;
    this.#plans = plansOf(fleet.engine);
    this.#checks = checks;
  }

  static async attach(fleet: BenchFleet, checks: number): Promise<WaitingChecks> {
    const registry = registryOf(fleet.engine);
    const document = {
      name: 'asks-elsewhere',
      description: 'Asks a service that takes its time',
      mcp_server: SERVER,
      mcp_tool_name: 'judge',
      annotations: { readOnlyHint: true },
      input_schema: { type: 'object', properties: { n: { type: 'integer' } } },
    };
    await registry.register([{ kind: 'validation', value: document }], ACTOR);
    for (let n = 0; n < checks; n++) {
      const request = { validation: 'asks-elsewhere', resource: RESOURCE, arguments: { n } };
      await registry.attach(request, ACTOR);
    }
    return new WaitingChecks(fleet, checks);
  }

  async #submit(names: readonly string[]): Promise<void> {
    for (const plan of names)
      await this.#plans.run({ type: 'submit', plan, actor: ACTOR, snapshots: { [RESOURCE]: { plan } } });
  }

  /**
   * Submits plans while the queue is held, so that nothing but the checks takes the machine's time after
   * that; milliseconds from its release to the last verdict. `held` is called before the release.
   */
  async judge(names: readonly string[], held = async () => {}): Promise<number> {
    const { redisUrl, config } = this.#fleet.engine;
    const connection = connect(redisUrl);
    const queue = new Queue(QUEUES.runner, { connection, prefix: queuePrefix(config.fleet) });
    await queue.pause();
    await this.#submit(names);
    await held();
    const started = performance.now();
    await queue.resume();
    await this.#decided(names);
    const ms = performance.now() - started;
    await queue.close();
    connection.disconnect();
    return ms;
  }

  async #decided(names: readonly string[]): Promise<void> {
    const left = new Set(names);
    const { outbox } = this.#fleet.engine.store;
    for (let cursor = ''; left.size > 0; ) {
      const entries = await outbox.events(cursor, 1000, WAIT_MS);
      cursor = entries.at(-1)?.position ?? cursor;
      for (const { event } of entries) {
        if (!/\.evaluation\.(passed|failed)\./.test(event.type)) continue;
        left.delete((JSON.parse(event.json) as { correlationid: string }).correlationid);
      }
    }
  }

  /** Each plan has one evaluation, in which every check passed, and one open gate. */
  async faults(names: readonly string[]): Promise<string[]> {
    const faults = new Faults();
    const seen = new Map<string, string[]>();
    for await (const json of eventsAfter(this.#fleet.engine.store.outbox, '')) {
      const { type, correlationid, data } = JSON.parse(json) as {
        type: string;
        correlationid: string;
        data: { counts?: { pass?: number; passed?: number } };
      };
      const name = /\.(evaluation\.(?:passed|failed)|plan\.gate\.passed)\./.exec(type)?.[1];
      if (name === undefined) continue;
      const passed = data.counts?.pass ?? data.counts?.passed ?? 0;
      const told = name === 'plan.gate.passed' ? name : `${name} ${passed}`;
      seen.set(correlationid, [...(seen.get(correlationid) ?? []), told]);
    }
    const wanted = [`evaluation.passed ${this.#checks}`, 'plan.gate.passed'].join(', ');
    for (const plan of names) {
      const found = (seen.get(plan) ?? []).sort().join(', ');
      if (found !== wanted) faults.add(`${plan} has "${found}", not "${wanted}"`);
    }
    return faults.list();
  }
}
