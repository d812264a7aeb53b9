import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { exists, liesIn } from './paths.js';

/** Beside /usr, as this host has them: links on most, folders on others. */
const TOP = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** What programs need to start, to find their users, time and certificates. No secrets, and few: each costs 0.1 ms. */
const ETC = [
  'alternatives',
  'debian_version',
  'ld.so.cache',
  'localtime',
  'nsswitch.conf',
  'os-release',
  'pki/tls/certs',
  'protocols',
  'services',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
];
const ETC_OF_NETWORK = ['host.conf', 'hosts', 'resolv.conf'];

const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** What every sandbox of this host shows of it. */
export interface HostView {
  /** Arguments of bwrap. */
  binds: readonly string[];
  /** Further ones with the network. */
  networkBinds: readonly string[];
  /** Real folders and files that are bound, programs among them. */
  bound: readonly string[];
  /** Folders for PATH. */
  programs: readonly string[];
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function bindsOf(names: readonly string[]): string[] {
  const files = names.map((name) => `/etc/${name}`).filter(exists);
  const shown = files.flatMap((file) => {
    const target = linkTarget(file);
    const inUsr = target !== undefined && liesIn('/usr', resolve(dirname(file), target));
    return inUsr ? ['--symlink', target, file] : ['--ro-bind', file, file];
  });
  return [...foldersAbove(files), ...shown];
}

/** bwrap itself would make the folders above so that only their owner may enter them. */
export function foldersAbove(paths: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let each = dirname(path); each !== '/'; each = dirname(each)) folders.add(each);
  }
  return [...folders].sort().flatMap((folder) => ['--dir', folder]);
}

/** This Node where it is not in /usr: its own folder when it has one, else the program alone. */
function nodeOf(): string[] {
  const program = realpathSync(process.execPath);
  const prefix = dirname(dirname(program));
  if (liesIn('/usr', program)) return [];
  return exists(join(prefix, 'include', 'node')) && prefix !== '/' ? [prefix] : [program];
}

let kept: HostView | undefined;

/** Looked at once: hosts keep their shape while a worker lives. */
export function hostView(): HostView {
  kept ??= look();
  return kept;
}

function look(): HostView {
  const node = nodeOf();
  const folders = TOP.filter((path) => exists(path) && linkTarget(path) === undefined);
  const links = TOP.flatMap((path) => {
    const target = linkTarget(path);
    return target === undefined ? [] : ['--symlink', target, path];
  });
  const bound = ['/usr', ...folders, ...node];
  return {
    binds: [
      ...foldersAbove(bound),
      ...bound.flatMap((path) => ['--ro-bind', path, path]),
      ...links,
      ...bindsOf(ETC),
    ],
    networkBinds: bindsOf(ETC_OF_NETWORK),
    bound,
    programs: [...new Set([...SYSTEM_FOLDERS, ...(node.length === 0 ? [] : [dirname(process.execPath)])])],
  };
}
