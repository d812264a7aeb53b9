import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exists, liesIn } from './paths.js';

/** Beside /usr, as this host has them: links on most, folders on others. */
const TOP = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** What programs need to start, to find their users, time and certificates. No secrets. */
const ETC = [
  'alternatives',
  'ca-certificates',
  'crypto-policies',
  'debian_version',
  'gai.conf',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'pki/ca-trust',
  'pki/tls/cert.pem',
  'pki/tls/certs',
  'protocols',
  'services',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
  'timezone',
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
  return names
    .map((name) => `/etc/${name}`)
    .filter(exists)
    .flatMap((file) => ['--ro-bind', file, file]);
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
    binds: [...bound.flatMap((path) => ['--ro-bind', path, path]), ...links, ...bindsOf(ETC)],
    networkBinds: bindsOf(ETC_OF_NETWORK),
    bound,
    programs: [...new Set([...SYSTEM_FOLDERS, ...(node.length === 0 ? [] : [dirname(process.execPath)])])],
  };
}
