import { execFile } from 'node:child_process';
import { access, constants, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** A server program that can be started, and what it needs in its environment. */
export interface RedisBinary {
  path: string;
  env: NodeJS.ProcessEnv;
}

const NAMES = ['redis-server', 'valkey-server'];
const OLDEST = [6, 2] as const;

/** redis-server or valkey-server from PATH, else what set-up unpacked into `<dir>/tools` (DESIGN 8). */
export async function findRedisBinary(dir: string, env: NodeJS.ProcessEnv): Promise<RedisBinary | undefined> {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const name of NAMES) {
    for (const folder of folders) {
      const path = join(folder, name);
      if (await isExecutable(path)) return { path, env };
    }
  }
  return unpackedBinary(join(dir, 'tools'), env);
}

async function unpackedBinary(tools: string, env: NodeJS.ProcessEnv): Promise<RedisBinary | undefined> {
  const path = join(tools, 'usr', 'bin', 'redis-server');
  if (!(await isExecutable(path))) return undefined;
  const lib = join(tools, 'usr', 'lib');
  const folders = await readdir(lib).catch(() => []);
  const libraries = [...folders.map((folder) => join(lib, folder)), env.LD_LIBRARY_PATH ?? ''];
  return { path, env: { ...env, LD_LIBRARY_PATH: libraries.filter((part) => part !== '').join(delimiter) } };
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** The version a server program reports, such as `7.0.15`; undefined when it does not run or says none. */
export async function versionOf(binary: RedisBinary): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(binary.path, ['--version'], {
      env: binary.env,
      timeout: 5_000,
    });
    return /v=(\d+(?:\.\d+)*)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

/** Whether BullMQ can work with this version of Redis: 6.2 or newer (DESIGN 5.7). */
export function isRecentEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
