import { readFile, readlink, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';

/** Part of every sandbox. */
const ALWAYS_THERE = ['/usr', '/bin', '/sbin', '/'];
/** Of a Python environment; all else in its folder may be anybody’s. */
const PARTS = ['bin', 'lib', 'pyvenv.cfg'];
const LINKS = 20;

/** A program and what it is a symbolic link to, each in turn. */
async function chainOf(program: string): Promise<string[]> {
  const chain = [program];
  while (chain.length < LINKS) {
    const last = chain.at(-1) as string;
    const target = await readlink(last).catch(() => undefined);
    if (target === undefined) return chain;
    chain.push(resolve(dirname(last), target));
  }
  return chain;
}

async function inPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const program = join(folder, name);
    const info = !isAbsolute(folder) ? undefined : await stat(program).catch(() => undefined);
    if (info?.isFile()) return program;
  }
  return undefined;
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map((path) => stat(path).then(Boolean, () => false)));
  return paths.filter((_, i) => found[i]);
}

export interface Install {
  /** Absolute path of ansible-playbook. */
  program: string;
  /** What it needs that no sandbox shows by itself. */
  paths: string[];
}

/**
 * The ansible-playbook in PATH; undefined where there is none. One that stands in an environment of its own,
 * such as a venv, needs `bin` and `lib` of that and of its Python.
 */
export async function findInstall(): Promise<Install | undefined> {
  const program = await inPath('ansible-playbook');
  if (program === undefined) return undefined;
  const scripts = await chainOf(program);
  const first = await readFile(scripts.at(-1) as string, 'latin1').catch(() => '');
  const interpreter = /^#!\s*(\/\S+)/.exec(first)?.[1];
  const programs = interpreter === undefined ? scripts : [...scripts, ...(await chainOf(interpreter))];
  const prefixes = new Set(programs.map((path) => dirname(dirname(path))));
  const own = [...prefixes].filter((prefix) => !ALWAYS_THERE.includes(prefix) && !prefix.startsWith('/usr/'));
  const folders = await existing(own.flatMap((prefix) => PARTS.map((part) => join(prefix, part))));
  return { program, paths: own.length === 0 ? [] : [...new Set([...scripts, ...folders])] };
}
