import { once } from 'node:events';
import { rm, rmdir } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { SluiceError } from '../core/problem.js';
import { findRedisBinary, isRecentEnough, versionOf } from './binary.js';
import { connectTo, openMeetingPlace, reasonOf, socketNumbers, socketPath } from './meeting-place.js';
import { encodeMessage, type GuardMessage } from './messages.js';
import { type RedisServer, startServer } from './server.js';

/** How long the server outlives its last user, so that commands in a row share one. */
const LINGER_MS = 1_000;
/** How long a new guard waits for the user that started it. */
const FIRST_USER_MS = 5_000;

/**
 * Binds the next free number; undefined when another guard has the folder. A number is never taken over,
 * so two guards that see the same dead socket cannot both win: of two newcomers the lower number stays.
 */
async function take(place: string, server: Server): Promise<number | undefined> {
  const [newest = 0] = await socketNumbers(place);
  const number = newest + 1;
  server.listen(socketPath(place, number));
  try {
    await once(server, 'listening');
  } catch {
    return undefined;
  }
  for (const other of await socketNumbers(place)) {
    if (other === number) continue;
    const alive = await connectTo(socketPath(place, other));
    if (!alive) await rm(socketPath(place, other), { force: true });
    else if (other < number || (await owns(alive))) return undefined;
  }
  return number;
}

/** A guard speaks once it owns the folder; a newcomer that gives way closes the connection instead. */
function owns(other: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    other.once('data', () => resolve(true));
    other.once('close', () => resolve(false));
    other.on('error', () => {});
  });
}

/** Starts the server for a data folder (DESIGN 8, Embedded default). */
async function start(
  dir: string,
  deadlineMs: number,
  tell: (message: GuardMessage) => void,
): Promise<RedisServer> {
  const binary = await findRedisBinary(dir, process.env);
  if (!binary) throw new SluiceError('IO', 'redis-server is gone from PATH');
  const version = await versionOf(binary);
  if (version !== undefined && !isRecentEnough(version)) {
    throw new SluiceError('REDIS_VERSION', `${binary.path} is version ${version}; 6.2 or newer is needed`);
  }
  const onLoading = () => tell({ status: 'loading' });
  return startServer({ binary, data: join(dir, 'redis'), deadlineMs, onLoading });
}

function failure(error: unknown): GuardMessage {
  const code = error instanceof SluiceError && error.code === 'REDIS_VERSION' ? 'REDIS_VERSION' : 'IO';
  return { status: 'failed', code, message: reasonOf(error) };
}

/** Who holds a connection to this guard, and what they were told last. */
class Users {
  /** Resolves when nobody has been here for a while. */
  readonly abandoned: Promise<void>;
  private readonly sockets = new Set<Socket>();
  private news: GuardMessage | undefined;
  private giveUp = () => {};
  private timer: NodeJS.Timeout;

  constructor(patienceMs: number) {
    this.abandoned = new Promise((resolve) => {
      this.giveUp = resolve;
    });
    this.timer = setTimeout(this.giveUp, patienceMs);
  }

  add(user: Socket): void {
    clearTimeout(this.timer);
    this.sockets.add(user);
    user.on('error', () => {});
    user.once('close', () => {
      this.sockets.delete(user);
      if (this.sockets.size === 0) this.timer = setTimeout(this.giveUp, LINGER_MS);
    });
    user.resume();
    if (this.news) user.write(encodeMessage(this.news));
  }

  tell(message: GuardMessage): void {
    this.news = message;
    for (const user of this.sockets) user.write(encodeMessage(message));
  }

  dismiss(): void {
    for (const user of this.sockets) user.end();
  }
}

/** Owns one private Redis for as long as anybody holds a connection to the guard's socket. */
async function guard(dir: string, deadlineMs: number): Promise<void> {
  const place = await openMeetingPlace(dir, process.env);
  const users = new Users(FIRST_USER_MS + deadlineMs);
  const server = createServer((user) => users.add(user));
  const number = await take(place, server);
  if (number === undefined) {
    server.close();
    return users.dismiss();
  }
  users.tell({ status: 'loading' });
  let redis: RedisServer | undefined;
  try {
    redis = await start(dir, deadlineMs, (message) => users.tell(message));
    users.tell({ status: 'ready', port: redis.port, password: redis.password });
    await Promise.race([users.abandoned, redis.ended, terminated()]);
  } catch (error) {
    users.tell(failure(error));
  }
  server.close();
  await rm(socketPath(place, number), { force: true });
  await redis?.stop();
  users.dismiss();
  // Not empty when the next guard is already there.
  await rmdir(place).catch(() => {});
}

function terminated(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}

const [dir, deadline] = process.argv.slice(2);
if (dir !== undefined) {
  await guard(dir, Number(deadline));
  process.exit(0);
}
