import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';

/** What runs may leave behind on this host, each thing by a name that says what it is. */
export type Traces = ReadonlySet<string>;

/** A kill is carried out by the kernel a moment after it was asked for. */
const SETTLED_MS = 2_000;

interface Process {
  pid: number;
  parent: number;
  command: string;
  environment: string;
}

function text(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** What runs now; zombies are gone but for their entry. */
function processes(): Process[] {
  const found: Process[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = text(`/proc/${name}/stat`);
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === undefined || parent === undefined || state === 'Z' || state === 'X') continue;
    found.push({
      pid: Number(name),
      parent: Number(parent),
      command: text(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim(),
      environment: text(`/proc/${name}/environ`),
    });
  }
  return found;
}

/** Every run of this process has its pid in the mark. */
const MARK = `SLUICE_RUN=${process.pid}.`;

/** Descendants of this process, and what lost its parent but still carries the mark of a run. */
function ours(): Process[] {
  const all = processes();
  const family = new Set([process.pid]);
  for (let size = 0; size !== family.size; ) {
    size = family.size;
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid);
  }
  return all.filter(
    ({ pid, environment, command }) =>
      pid !== process.pid && (family.has(pid) || environment.includes(MARK) || command.includes(MARK)),
  );
}

/** Inode of each listening socket to where it listens. */
function listening(): Map<string, string> {
  const found = new Map<string, string>();
  for (const table of ['tcp', 'tcp6']) {
    for (const line of text(`/proc/net/${table}`).split('\n').slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
      if (state === '0A' && local !== undefined && inode !== undefined) {
        found.set(inode, `${table} port ${Number.parseInt(local.split(':')[1] ?? '', 16)}`);
      }
    }
  }
  for (const line of text('/proc/net/unix').split('\n').slice(1)) {
    const [, , , flags, , , inode, path] = line.trim().split(/\s+/);
    if (flags === '00010000' && inode !== undefined) found.set(inode, `unix socket ${path ?? ''}`);
  }
  return found;
}

function socketsOf(pid: number, sockets: ReadonlyMap<string, string>): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1];
      const place = inode === undefined ? undefined : sockets.get(inode);
      return place === undefined ? [] : [place];
    });
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/**
 * Descendants of this process and processes with the mark of one of its runs, sockets on which
 * they or this process listen, and entries `sluice-*` of the folder for temporary files.
 */
export function traces(): Traces {
  const sockets = listening();
  const mine = ours();
  return new Set([
    ...mine.map(({ pid, command }) => `process ${pid}: ${command.slice(0, 200)}`),
    ...[process.pid, ...mine.map(({ pid }) => pid)].flatMap((pid) =>
      socketsOf(pid, sockets).map((place) => `process ${pid} listens on ${place}`),
    ),
    ...readdirSync(tmpdir())
      .filter((name) => name.startsWith('sluice-'))
      .map((name) => `file ${join(tmpdir(), name)}`),
  ]);
}

/** What is there now and was not `before`, once no more of it goes away; empty: nothing was left. */
export async function newTraces(before: Traces): Promise<string[]> {
  const until = performance.now() + SETTLED_MS;
  for (;;) {
    const left = [...traces()].filter((trace) => !before.has(trace));
    if (left.length === 0 || performance.now() > until) return left;
    await later(50);
  }
}
