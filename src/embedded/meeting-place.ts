import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, realpath } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SluiceError } from '../core/problem.js';

/** Unix sockets have at most 107 bytes of path on Linux, 103 on macOS. */
const LONGEST_PATH = 100;

/**
 * Creates what is missing of `dir` and of its `redis` folder.
 * @throws SluiceError IO when it cannot be created
 */
export async function prepareDataFolder(dir: string): Promise<string> {
  try {
    await mkdir(join(dir, 'redis'), { recursive: true, mode: 0o700 });
    return await realpath(dir);
  } catch (error) {
    throw new SluiceError(
      'IO',
      `cannot create ${join(dir, 'redis')} for the private Redis: ${reasonOf(error)}`,
    );
  }
}

/**
 * The folder where guard and users of one data folder meet: named after the real path, owned by this
 * user and closed to all others. The data folder itself may lie too deep for a socket's path.
 * @throws SluiceError IO when it cannot be had, or when someone else made it
 */
export async function openMeetingPlace(dataFolder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const folder = meetingPlaceOf(dataFolder, env);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new SluiceError('IO', `cannot create ${folder} for the private Redis: ${reasonOf(error)}`);
    }
  }
  if (!(await isOwn(folder))) {
    throw new SluiceError('IO', `${folder} is not a folder of this user alone; remove it and try again`);
  }
  return folder;
}

/** The same where both folders are there; undefined where nobody ever met. Makes nothing. */
export async function knownMeetingPlace(dir: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const folder = meetingPlaceOf(await realpath(dir), env);
    return (await isOwn(folder)) ? folder : undefined;
  } catch {
    return undefined;
  }
}

const ownId = () => process.getuid?.() ?? 0;

function meetingPlaceOf(dataFolder: string, env: NodeJS.ProcessEnv): string {
  const name = `sluice-${ownId()}-${createHash('sha256').update(dataFolder).digest('hex').slice(0, 16)}`;
  const wanted = join(env.TMPDIR || tmpdir(), name);
  return Buffer.byteLength(wanted) + 12 > LONGEST_PATH ? join('/tmp', name) : wanted;
}

async function isOwn(folder: string): Promise<boolean> {
  const stat = await lstat(folder);
  return stat.isDirectory() && stat.uid === ownId() && (stat.mode & 0o077) === 0;
}

/** Numbers of the sockets in a meeting place, newest first. A dead guard leaves its number behind. */
export async function socketNumbers(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .map((name) => Number(/^(\d+)\.sock$/.exec(name)?.[1] ?? -1))
    .filter((number) => number >= 0)
    .sort((a, b) => b - a);
}

export function socketPath(folder: string, number: number): string {
  return join(folder, `${number}.sock`);
}

/** An open connection, or undefined when nobody listens there. */
export function connectTo(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
