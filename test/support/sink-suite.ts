import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readEndpoint } from '../../queues/endpoints.js';
import { readSecret } from '../../queues/secrets.js';
import type { DeliveryFailure, OutgoingEvent, Sink, SinkKind } from '../../src/ports/sink.js';
import { type BusServer, type ReceivedEvent, testEvent, testEvents, untilSo } from './bus-events.js';

/** The other side of a sink. */
export interface SinkServer extends BusServer {
  /** Everything that has arrived so far, in the order of arrival. */
  received(): Promise<ReceivedEvent[]>;
}

export interface SinkHarness {
  kind: SinkKind;
  /** Starts a server with nothing in it. What it has acknowledged must survive `kill`. */
  start(): Promise<SinkServer>;
  /** Makes an event that this server refuses for good, though others arrive; absent: it refuses none. */
  refused?(event: OutgoingEvent): OutgoingEvent;
  /** Texts that no reason and no error may show: passwords, tokens. */
  secrets?: readonly string[];
  /** There is no server that could die, as of a file. */
  cannotDie?: true;
  /** What it answers to an event that it refuses says so in `response`. */
  responds?: true;
}

const EVENTS = 1_000;
const PAGE = 50;
const IN_FLIGHT = 4;
const AWAY_WITHIN_MS = 15_000;
const CLOSE_WITHIN_MS = 2_000;

const sorted = (events: readonly { id: string }[]) => [...new Set(events.map(({ id }) => id))].sort();
const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id).sort();

/** Delivers as the queue does: what throws has failed as a whole. */
export async function attempt(sink: Sink, events: readonly OutgoingEvent[]): Promise<DeliveryFailure[]> {
  try {
    return await sink.deliver(events);
  } catch (error) {
    return events.map(({ id }) => ({ id, kind: 'away', reason: (error as Error).message }));
  }
}

/** Delivers until nothing fails as away. */
export async function deliverAtLast(sink: Sink, events: readonly OutgoingEvent[], withinMs = 20_000) {
  let rest = events;
  await untilSo(
    async () => {
      const failed = new Set((await attempt(sink, rest)).map(({ id }) => id));
      rest = rest.filter(({ id }) => failed.has(id));
      return rest.length === 0;
    },
    () => `${rest.length} events do not arrive`,
    withinMs,
  );
}

/** Opens a kind of sink on a target as a dispatcher does. */
export async function openSink(
  kind: SinkKind,
  { target, options = {} }: Pick<BusServer, 'target' | 'options'>,
  errors: Error[] = [],
): Promise<Sink> {
  const read = readEndpoint([kind], { name: 'tested', kind: kind.kind, target, options }, '--sink');
  if (!('endpoint' in read)) throw new Error(JSON.stringify(read.problems));
  return kind.open(target, read.endpoint.options, {
    name: 'tested',
    fleet: 'test',
    secret: readSecret,
    onError: (error) => errors.push(error),
  });
}

/** Hands 1,000 events over, four pages at a time, while the server is killed and comes back. */
async function streamThroughDeath(sink: Sink, server: SinkServer): Promise<DeliveryFailure[]> {
  const events = testEvents(EVENTS, 10_000);
  const pages = Array.from({ length: EVENTS / PAGE }, (_, n) => events.slice(n * PAGE, (n + 1) * PAGE));
  const failures: DeliveryFailure[] = [];
  let arrived = 0;
  let dying: Promise<void> | undefined;
  const die = async () => {
    await server.kill();
    await untilSo(
      () => failures.length > 0,
      () => 'nothing fails while the server is dead',
      AWAY_WITHIN_MS,
    );
    await server.restart();
  };
  const lane = async () => {
    for (let page = pages.shift(); page !== undefined; page = pages.shift()) {
      // The last pages wait for the death, so that some meet a dead server however fast the others go.
      if (pages.length < IN_FLIGHT && failures.length === 0)
        await untilSo(
          () => dying !== undefined,
          () => 'too few pages',
        );
      const failed = await attempt(sink, page);
      failures.push(...failed);
      arrived += page.length - failed.length;
      if (arrived >= EVENTS / 4) dying ??= die();
      const ids = new Set(failed.map(({ id }) => id));
      const rest = page.filter(({ id }) => ids.has(id));
      if (rest.length === 0) continue;
      pages.push(rest);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  await dying;
  return failures;
}

/** What every kind of sink does, against a real other side. */
export function sinkSuite(name: string, harness: SinkHarness): void {
  const secrets = harness.secrets ?? [];
  const expectNoSecrets = (said: unknown) => {
    for (const secret of secrets) expect(JSON.stringify(said)).not.toContain(secret);
  };

  describe(`the sink ${name}`, () => {
    let server: SinkServer;
    let sink: Sink;
    const errors: Error[] = [];
    const said = () => errors.map(({ message, stack }) => `${message} ${stack}`);

    beforeAll(async () => {
      server = await harness.start();
    }, 120_000);
    afterAll(async () => {
      await server?.stop();
    }, 120_000);
    beforeEach(async () => {
      sink = await openSink(harness.kind, server, errors);
    });
    afterEach(async () => {
      await sink?.close();
      expectNoSecrets(said());
    });

    /** What has arrived of these events, once all are there. */
    async function arrived(events: readonly { id: string }[]): Promise<ReceivedEvent[]> {
      const ids = new Set(events.map(({ id }) => id));
      let found: ReceivedEvent[] = [];
      await untilSo(
        async () => {
          found = (await server.received()).filter(({ id }) => ids.has(id));
          return new Set(found.map(({ id }) => id)).size >= ids.size;
        },
        () => `${found.length} of ${ids.size} events have arrived`,
      );
      return found;
    }

    it('delivers events with their ids and types, byte for byte', async () => {
      const events = testEvents(25);
      expect(await sink.deliver(events)).toEqual([]);
      const expected = events.map(({ id, type, json }) => ({ id, type, body: json }));
      expect((await arrived(events)).sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(expected);
    });

    it('sends what was projected in place of the CloudEvent, under the same id', async () => {
      const event = { ...testEvent(100), projected: '{"text":"é projected"}' };
      expect(await sink.deliver([event])).toEqual([]);
      expect(await arrived([event])).toEqual([{ id: event.id, type: event.type, body: event.projected }]);
    });

    it('delivers an event again under the same id', async () => {
      const event = testEvent(200);
      expect(await sink.deliver([event])).toEqual([]);
      expect(await sink.deliver([event])).toEqual([]);
      for (const { body } of await arrived([event])) expect(body).toBe(event.json);
    });

    it('has nothing to say to no events', async () => {
      expect(await sink.deliver([])).toEqual([]);
    });

    const { refused } = harness;
    it.runIf(refused !== undefined)('lets no event that is refused keep another from arriving', async () => {
      const events = testEvents(5, 300);
      const bad = refused?.(testEvent(310)) as OutgoingEvent;
      const failures = await sink.deliver([...events.slice(0, 2), bad, ...events.slice(2)]);
      expect(failures).toEqual([expect.objectContaining({ id: bad.id, kind: 'refused' })]);
      expect(failures[0]?.reason).toMatch(/\S/);
      if (harness.responds) expect(failures[0]?.response).toMatch(/\S/);
      expectNoSecrets(failures);
      expect(sorted(await arrived(events))).toEqual(idsOf(events));
    });

    describe.skipIf(harness.cannotDie)('whose server dies', () => {
      it('fails as away, soon and without credentials, opens and closes all the same, and delivers again', async () => {
        expect(await sink.deliver(testEvents(3, 400))).toEqual([]);
        await server.kill();
        const early = await openSink(harness.kind, server, errors);
        const late = testEvents(2, 500);
        expect(await attempt(early, late)).toEqual(
          late.map(({ id }) => expect.objectContaining({ id, kind: 'away' })),
        );
        const closing = await openSink(harness.kind, server, errors);
        const failing = attempt(closing, testEvents(1, 610));
        const closed = Date.now();
        await closing.close();
        expect(Date.now() - closed).toBeLessThan(CLOSE_WITHIN_MS);
        expect(await failing).toHaveLength(1);
        const begun = Date.now();
        const events = testEvents(3, 410);
        const failures = await attempt(sink, events);
        expect(Date.now() - begun).toBeLessThan(AWAY_WITHIN_MS);
        expect(idsOf(failures)).toEqual(idsOf(events));
        for (const failure of failures) {
          expect(failure).toEqual(
            expect.objectContaining({ kind: 'away', reason: expect.stringMatching(/\S/) }),
          );
        }
        expectNoSecrets(failures);
        await server.restart();
        try {
          for (const [one, wanted] of [
            [sink, events],
            [early, late],
          ] as const) {
            await deliverAtLast(one, wanted);
            expect(sorted(await arrived(wanted))).toEqual(idsOf(wanted));
          }
        } finally {
          await early.close();
        }
      }, 120_000);

      it('has all of 1,000 events when it is killed in the middle of them and comes back', async () => {
        const failures = await streamThroughDeath(sink, server);
        expect(failures.length).toBeGreaterThan(0);
        for (const { kind } of failures) expect(kind).toBe('away');
        expectNoSecrets(failures);
        const events = testEvents(EVENTS, 10_000);
        const bodies = new Map(events.map(({ id, json }) => [id, json]));
        const received = await arrived(events);
        expect(sorted(received)).toEqual(idsOf(events));
        for (const { id, body } of received) expect(body).toBe(bodies.get(id));
      }, 90_000);
    });
  });
}
