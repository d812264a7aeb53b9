import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readEndpoint } from '../../queues/endpoints.js';
import { readSecret } from '../../queues/secrets.js';
import type { IncomingMessage, Source, SourceKind, Take, Taken } from '../../src/ports/source.js';
import { type BusServer, untilSo } from './bus-events.js';
import { eventOf, idOf, type MessageMode, type PublishedEvent, publishedEvents } from './published-events.js';

export { type MessageMode, type PublishedEvent, structured } from './published-events.js';

/** The bus of a source. */
export interface SourceServer extends BusServer {
  /** Resolves once the bus has them, so that they survive `kill`. */
  publish(events: readonly PublishedEvent[], mode: MessageMode): Promise<void>;
}

export interface SourceHarness {
  kind: SourceKind;
  /**
   * Starts a bus. Each call of `place` names another stream, queue or topic of it, with nothing in it, so
   * that the cases do not meet. `place` is called before the source is opened.
   */
  start(): Promise<{
    place(name: string): Promise<SourceServer>;
    stop(): Promise<void>;
  }>;
  /** Default: structured alone. */
  modes?: readonly MessageMode[];
  /** The bus keeps messages only for a source that was opened once: the suite opens it before publishing. */
  subscribesFirst?: true;
  /** Texts that no error may show: passwords, tokens. */
  secrets?: readonly string[];
}

const DONE: Taken = { kind: 'done' };
const MESSAGES = 1_000;

const never = () => new Promise<Taken>(() => {});

/** Lets takes go on when it is told to. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** What every kind of source does, against a real bus. */
export function sourceSuite(name: string, harness: SourceHarness): void {
  const modes = harness.modes ?? ['structured'];

  describe(`the source ${name}`, () => {
    let bus: Awaited<ReturnType<SourceHarness['start']>>;
    const open: Source[] = [];
    const errors: Error[] = [];

    beforeAll(async () => {
      bus = await harness.start();
    }, 120_000);
    afterAll(async () => {
      await bus?.stop();
    }, 120_000);
    afterEach(async () => {
      await Promise.all(open.splice(0).map((source) => source.close(0)));
      for (const { message, stack } of errors) {
        for (const secret of harness.secrets ?? []) expect(`${message} ${stack}`).not.toContain(secret);
      }
    });

    /** Opens the source of a place; the same place is the same source, as after a restart. */
    async function listen(server: SourceServer, take: Take, concurrency = 16): Promise<Source> {
      const { kind } = harness;
      const { target, options = {} } = server;
      const read = readEndpoint([kind], { kind: kind.kind, target, options }, '--source');
      if (!('endpoint' in read)) throw new Error(JSON.stringify(read.problems));
      const { name: named, options: settings } = read.endpoint;
      const context = {
        name: named,
        fleet: 'test',
        redisUrl: 'redis://127.0.0.1:1',
        concurrency,
        secret: readSecret,
        onError: (error: Error) => errors.push(error),
      };
      const source = await kind.open(target, settings, context, take);
      open.push(source);
      return source;
    }

    async function placeWith(events: readonly PublishedEvent[], mode: MessageMode = 'structured') {
      const server = await bus.place(`p${randomBytes(4).toString('hex')}`);
      if (harness.subscribesFirst) {
        await (await listen(server, never)).close(0);
        open.pop();
      }
      await server.publish(events, mode);
      return server;
    }

    it.each(modes)(
      'takes CloudEvents in %s mode, each with its content and where it came from',
      async (mode) => {
        const events = publishedEvents(10);
        const taken: IncomingMessage[] = [];
        await listen(await placeWith(events, mode), async (message) => {
          taken.push(message);
          return DONE;
        });
        await untilSo(
          () => taken.length >= 10,
          () => `${taken.length} taken`,
        );
        const found = taken.map(eventOf).sort((a, b) => (a.id < b.id ? -1 : 1));
        expect(found).toEqual(events);
        for (const { place } of taken) expect(place).toMatch(/\S/);
      },
    );

    it('acknowledges what is done, and nothing else, so that a source that stops leaves the rest', async () => {
      const events = publishedEvents(10);
      const server = await placeWith(events);
      const first: string[] = [];
      const source = await listen(server, async (message) => {
        const id = idOf(message);
        first.push(id);
        return Number(id.slice(-1)) % 2 === 0 ? DONE : never();
      });
      await untilSo(
        () => new Set(first).size === 10,
        () => `${first.length} taken`,
      );
      const begun = Date.now();
      await source.close(200);
      expect(Date.now() - begun).toBeLessThan(3_000);
      const again: string[] = [];
      await listen(server, async (message) => {
        again.push(idOf(message));
        return DONE;
      });
      const odd = events.map(({ id }) => id).filter((id) => Number(id.slice(-1)) % 2 === 1);
      await untilSo(
        () => new Set(again).size >= odd.length,
        () => `${again.length} came again`,
        40_000,
      );
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect([...new Set(again)].sort()).toEqual(odd);
    }, 120_000);

    it('waits at its close for what is in hand', async () => {
      const server = await placeWith(publishedEvents(1));
      const { open: finish, opened } = gate();
      let begun = 0;
      const source = await listen(server, async () => {
        begun += 1;
        await opened;
        return DONE;
      });
      await untilSo(
        () => begun === 1,
        () => 'nothing was taken',
      );
      const closed = source.close(5_000);
      finish();
      await closed;
      let again = 0;
      await listen(server, async () => {
        again += 1;
        return DONE;
      });
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(again).toBe(0);
    }, 30_000);

    it('takes what was put off again, when its time has come', async () => {
      const tries = new Map<string, number[]>();
      await listen(await placeWith(publishedEvents(3)), async (message) => {
        const times = tries.get(idOf(message)) ?? [];
        tries.set(idOf(message), [...times, Date.now()]);
        return times.length < 2 ? { kind: 'later', afterMs: 300, reason: 'not yet' } : DONE;
      });
      const isOver = () => tries.size === 3 && [...tries.values()].every((times) => times.length === 3);
      await untilSo(isOver, () => JSON.stringify([...tries]));
      for (const [first = 0, second = 0, third = 0] of tries.values()) {
        expect(second - first).toBeGreaterThanOrEqual(250);
        expect(third - second).toBeGreaterThanOrEqual(250);
      }
    }, 30_000);

    it('has no more in hand than its concurrency, though it has as many', async () => {
      const { open: goOn, opened } = gate();
      let inHand = 0;
      let most = 0;
      let done = 0;
      await listen(
        await placeWith(publishedEvents(20)),
        async () => {
          inHand += 1;
          most = Math.max(most, inHand);
          await opened;
          inHand -= 1;
          done += 1;
          return DONE;
        },
        4,
      );
      await untilSo(
        () => inHand === 4,
        () => `${inHand} in hand`,
      );
      await new Promise((resolve) => setTimeout(resolve, 300));
      goOn();
      await untilSo(
        () => done >= 20,
        () => `${done} done`,
      );
      expect(most).toBe(4);
    }, 30_000);

    it('is not held up by a message whose take never ends', async () => {
      const done = new Set<string>();
      await listen(
        await placeWith(publishedEvents(40)),
        async (message) => {
          if (idOf(message).endsWith('-000003')) return never();
          done.add(idOf(message));
          return DONE;
        },
        4,
      );
      await untilSo(
        () => done.size === 39,
        () => `${done.size} done`,
      );
    }, 30_000);

    it('has taken all of 1,000 messages when the bus is killed in the middle of them and comes back', async () => {
      const events = publishedEvents(MESSAGES);
      const server = await placeWith(events);
      const done = new Set<string>();
      let dying: Promise<void> | undefined;
      await listen(server, async (message) => {
        // What is in hand while the bus dies is acknowledged to a dead one, and comes again.
        await new Promise((resolve) => setTimeout(resolve, 5));
        done.add(idOf(message));
        if (done.size >= MESSAGES / 5) dying ??= server.kill().then(() => server.restart());
        return DONE;
      });
      await untilSo(
        () => done.size === MESSAGES,
        () => `${done.size} done`,
        120_000,
      );
      await dying;
      expect([...done].sort()).toEqual(events.map(({ id }) => id));
    }, 90_000);

    it('is opened while the bus is dead, and takes when it is there', async () => {
      const server = await placeWith(publishedEvents(3));
      await server.kill();
      const done = new Set<string>();
      const opening = listen(server, async (message) => {
        done.add(idOf(message));
        return DONE;
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
      await server.restart();
      await opening;
      await untilSo(
        () => done.size === 3,
        () => `${done.size} done, ${errors.map(({ message }) => message).join('; ')}`,
        // A broker that was killed takes its time to have its queues again.
        60_000,
      );
    }, 150_000);
  });
}
