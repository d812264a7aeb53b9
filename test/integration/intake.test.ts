import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { FleetEngine } from '../../src/compose.js';
import { openFleet } from '../../src/compose.js';
import { idFrom } from '../../src/core/digest.js';
import { sourceObjectOf } from '../../src/core/endpoints.js';
import { SluiceError } from '../../src/core/problem.js';
import { defineSource, type IncomingMessage, type SourceKind, type Taken } from '../../src/ports/source.js';
import { sourceProblems, startSources } from '../../workers/intake.js';
import { commandEvent, messageWith, requestedEvent } from '../support/commands.js';
import { configWith, outboxOf, silent } from '../support/fleet.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

/** A bus in memory: a message is there until it is acknowledged, and comes again after `later`. */
class MemoryBus {
  readonly acknowledged: string[] = [];
  readonly answers: Taken[] = [];
  readonly #waiting: { id: string; message: IncomingMessage }[] = [];
  readonly #published: number;
  #open = true;

  constructor(events: Record<string, unknown>[]) {
    for (const event of events) this.#waiting.push({ id: String(event.id), message: messageWith(event) });
    this.#published = events.length;
  }

  get kind(): SourceKind {
    return defineSource({
      kind: 'memory',
      description: 'Messages of this process',
      target: 'anything',
      options: z.strictObject({}),
      problem: () => undefined,
      open: async (_target, _options, { concurrency }, take) => {
        const hands = Array.from({ length: concurrency }, () => this.#hand(take));
        return {
          close: async (deadlineMs) => {
            this.#open = false;
            await Promise.race([Promise.all(hands), delay(deadlineMs, undefined, { ref: false })]);
          },
        };
      },
    });
  }

  async #hand(take: (message: IncomingMessage) => Promise<Taken>): Promise<void> {
    while (this.#open && this.acknowledged.length < this.#published) {
      const next = this.#waiting.shift();
      if (next === undefined) {
        await delay(10);
        continue;
      }
      const taken = await take(next.message);
      this.answers.push(taken);
      if (taken.kind === 'done') this.acknowledged.push(next.id);
      else {
        await delay(taken.afterMs);
        this.#waiting.push(next);
      }
    }
  }
}

const started: { redis?: TestRedis; engine?: FleetEngine }[] = [];
afterEach(async () => {
  for (const { engine, redis } of started.splice(0)) {
    await engine?.close();
    await redis?.stop();
  }
});

async function opened(durable: boolean): Promise<{ redis: TestRedis; engine: FleetEngine }> {
  const redis = await startTestRedis(durable ? { appendonly: true, appendfsync: 'always' } : {});
  const place: { redis: TestRedis; engine?: FleetEngine } = { redis };
  started.push(place);
  const config = configWith(durable ? { redis_durability: 'always' } : {});
  place.engine = await openFleet(config, redis.url, silent);
  return { redis, engine: place.engine };
}

const numbered = (n: number) => Array.from({ length: n }, (_, i) => requestedEvent(`e${i}`));
const evaluationOf = (id: string) => idFrom('evaluation', '', '/ci', id);

describe('commands of a source', () => {
  it('are all there when Redis dies by SIGKILL among 500 of them and comes back', async () => {
    const { redis, engine } = await opened(true);
    const plan = commandEvent('plan.created', 'plan', { resources: ['repo/a'] }, { subject: 'p' });
    const bus = new MemoryBus([...numbered(499), plan]);
    const sources = await startSources(engine, [sourceObjectOf('memory=x')], [bus.kind]);
    await expect.poll(() => bus.acknowledged.length, { timeout: 30_000, interval: 5 }).toBeGreaterThan(100);
    await redis.kill();
    const before = [...bus.acknowledged];
    expect(before.length).toBeLessThan(500);
    await redis.restart();
    // What was acknowledged before it died is there.
    const places = await engine.store.evaluations.locate(before.map(evaluationOf));
    expect(before.filter((id, n) => id !== 'plan' && places[n] === undefined)).toEqual([]);
    await expect.poll(() => bus.acknowledged.length, { timeout: 45_000 }).toBe(500);
    await sources.drain(1000);
    const all = Array.from({ length: 499 }, (_, n) => `e${n}`);
    const found = await engine.store.evaluations.locate(all.map(evaluationOf));
    expect(all.filter((_, n) => found[n] === undefined)).toEqual([]);
    const accepted = (await outboxOf(engine.store)).filter(({ type }) =>
      type.includes('evaluation.accepted'),
    );
    expect(accepted.map(({ subject }) => subject).sort()).toEqual(all.map(evaluationOf).sort());
    expect((await engine.store.plans.plan('p'))?.phase).toBe('strategize');
    expect((await engine.store.letters.counts()).filter(({ direction }) => direction === 'in')).toEqual([]);
  });

  it('wait while Redis is full, and are none of them dead letters', async () => {
    const { redis, engine } = await opened(false);
    const { Redis } = await import('ioredis');
    const client = new Redis(redis.url);
    await client.config('SET', 'maxmemory', '1mb');
    const bus = new MemoryBus(numbered(20));
    const sources = await startSources(engine, [sourceObjectOf('memory=x')], [bus.kind]);
    await expect.poll(() => bus.answers.length, { timeout: 20_000 }).toBeGreaterThan(20);
    expect(bus.acknowledged).toEqual([]);
    expect(bus.answers[0]).toMatchObject({ kind: 'later', reason: expect.stringMatching(/OOM|memory/) });
    await client.config('SET', 'maxmemory', '0');
    client.disconnect();
    await expect.poll(() => bus.acknowledged.length, { timeout: 40_000 }).toBe(20);
    await sources.drain(1000);
    expect(await engine.store.letters.counts()).toEqual([]);
  });

  it('leave with the actor of their source, or with their own where it is trusted', async () => {
    const { engine } = await opened(false);
    const events = [requestedEvent('a', { actor: 'mallory' })];
    const [one, two] = [new MemoryBus(events), new MemoryBus([requestedEvent('b', { actor: 'ann' })])];
    const plain = { ...sourceObjectOf('memory=x'), name: 'plain' };
    const trusted = { ...sourceObjectOf('memory=y'), name: 'trusted', actor: 'ci', trust_actor: true };
    const first = await startSources(engine, [plain], [one.kind]);
    const second = await startSources(engine, [trusted], [two.kind]);
    await expect.poll(() => one.acknowledged.length + two.acknowledged.length).toBe(2);
    await Promise.all([first.drain(1000), second.drain(1000)]);
    const actors = (await outboxOf(engine.store)).map(({ subject, data }) => [subject, data.actor]);
    expect(Object.fromEntries(actors)).toEqual({
      [evaluationOf('a')]: 'source:plain',
      [evaluationOf('b')]: 'ann',
    });
  });
});

describe('sources', () => {
  const { kind } = new MemoryBus([]);

  it('are checked all at once, each with its place', () => {
    const settings = [
      sourceObjectOf('memry=x'),
      { ...sourceObjectOf('memory=x'), options: { colour: 'red' } },
      { ...sourceObjectOf('memory=x'), name: 'twice' },
      { ...sourceObjectOf('memory=y'), name: 'twice' },
    ];
    expect(sourceProblems(settings, 'sources', [kind])).toMatchObject([
      { path: 'sources[0]', nearest: 'memory' },
      { path: 'sources[1].options.colour' },
      { path: 'sources[3]', message: expect.stringMatching(/name of another source/) },
    ]);
    expect(sourceProblems([sourceObjectOf('memory=')], '--source', [kind])).toMatchObject([
      { path: '--source' },
    ]);
    expect(sourceProblems([sourceObjectOf('memory=x')], 'sources', [kind])).toEqual([]);
  });

  it('that were open are closed when another can never be', async () => {
    const { engine } = await opened(false);
    let closed = 0;
    const good = defineSource({
      ...kind,
      open: async () => ({
        async close() {
          closed += 1;
        },
      }),
    });
    const bad = defineSource({
      ...kind,
      kind: 'bad',
      open: () => Promise.reject(new SluiceError('SECRET_MISSING', 'The variable X is not set.')),
    });
    const settings = [sourceObjectOf('memory=x'), sourceObjectOf('bad=x')];
    await expect(startSources(engine, settings, [good, bad])).rejects.toMatchObject({
      code: 'SECRET_MISSING',
    });
    expect(closed).toBe(1);
  });
});
