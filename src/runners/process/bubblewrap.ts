import { foldersAbove, hostView } from './host.js';
import { findIn, pathFolders } from './look-up.js';
import { type HostPath, liesIn } from './paths.js';
import { type StartScript, startScript } from './script.js';
import { socketFilter } from './seccomp.js';
import { isRoot } from './users.js';

/** Working folder in a sandbox, in the one file system there that may be written. */
export const WORK = '/tmp/work';
/** Apart from it: programs load code from their home, and what is judged stands in the working folder. */
export const HOME = '/tmp/home';
/** What the runner itself puts there. */
const OWN = '/.sluice';

export interface Wrapping extends Omit<StartScript, 'processes'> {
  processes: number;
  scratchMiB: number;
  network: boolean;
  paths: readonly HostPath[];
  /** Number of user and group. */
  user: number;
  /** Folder of the host whose content the working folder begins with. */
  files?: string;
  /** Text of its standard input. */
  stdin?: string;
}

export interface Wrapped {
  file: string;
  args: readonly string[];
  feeds: readonly (string | Buffer)[];
}

/**
 * Root makes the mounts as root and then becomes another user: that one has limits of its own and
 * reads what everybody may. Others are themselves in a namespace of users.
 */
function namespaces(user: number): string[] {
  return isRoot()
    ? [
        ...['--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
        ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID'],
      ]
    : [
        ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
        ...['--uid', `${user}`, '--gid', `${user}`],
      ];
}

function becoming(user: number): string[] {
  const id = `${user}`;
  return isRoot()
    ? ['/usr/bin/setpriv', '--reuid', id, '--regid', id, '--clear-groups', '--inh-caps', '-all']
    : [];
}

/** Links in every sandbox, as on most hosts. */
const TOP_LINKS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/var/tmp'];

/** Bound where they are; a link to one is a link there, unless it lies in what is bound anyway. */
function pathBinds(paths: readonly HostPath[]): string[] {
  const bound: string[] = [...hostView().bound];
  const shown = (path: string) => bound.some((folder) => liesIn(folder, path));
  const binds = paths.flatMap(({ real }) => {
    if (shown(real)) return [];
    bound.push(real);
    return [...foldersAbove([real]), '--ro-bind', real, real];
  });
  const links = paths.flatMap(({ given, real }) => {
    if (given === real || shown(given) || TOP_LINKS.some((link) => liesIn(link, given))) return [];
    bound.push(given);
    return [...foldersAbove([given]), '--symlink', real, given];
  });
  return [...binds, ...links];
}

/** First descriptor that is fed. */
const FED = 3;

/** Arguments of bwrap for one run (docs/adr/0013-sandbox.md). */
export function wrapped(run: Wrapping): Wrapped {
  const view = hostView();
  const size = `${run.scratchMiB * 1024 * 1024}`;
  const { files, stdin, ...script } = run;
  const filter = socketFilter(run.network);
  const start = startScript({
    ...script,
    ...(files === undefined ? {} : { files: `${OWN}/files` }),
    ...(stdin === undefined ? {} : { stdin: `${OWN}/stdin` }),
  });
  const written: [path: string, content: string][] = [
    [`${OWN}/start`, start],
    ['/etc/passwd', `root:x:0:0::/:/bin/false\nnobody:x:${run.user}:${run.user}::${HOME}:/bin/sh\n`],
    ['/etc/group', `root:x:0:\nnogroup:x:${run.user}:\n`],
  ];
  // A file, because programs open /dev/stdin, which they cannot where it is a socket.
  if (stdin !== undefined) written.push([`${OWN}/stdin`, stdin]);
  const args = [
    ...namespaces(run.user),
    ...(run.network ? [] : ['--unshare-net']),
    ...['--hostname', 'sandbox', '--die-with-parent', '--new-session'],
    ...view.binds,
    ...(run.network ? view.networkBinds : []),
    ...['--proc', '/proc', '--dev', '/dev', '--remount-ro', '/dev'],
    ...['--perms', '1777', '--size', size, '--tmpfs', '/dev/shm'],
    ...['--perms', '1777', '--size', size, '--tmpfs', '/tmp', '--perms', '0777', '--dir', WORK],
    ...['--perms', '0777', '--dir', HOME],
    ...[
      '--dir',
      '/run',
      '--dir',
      '/var',
      '--symlink',
      '../run',
      '/var/run',
      '--symlink',
      '../tmp',
      '/var/tmp',
    ],
    ...written.flatMap(([path], i) => ['--perms', '0444', '--file', `${FED + i}`, path]),
    ...(files === undefined ? [] : ['--ro-bind', files, `${OWN}/files`]),
    ...pathBinds(run.paths),
    ...(filter === undefined ? [] : ['--seccomp', `${FED + written.length}`]),
    ...['--remount-ro', '/', '--chdir', WORK, '--'],
    ...becoming(run.user),
    ...['/bin/sh', `${OWN}/start`],
  ];
  const feeds = [...written.map(([, content]) => content), ...(filter === undefined ? [] : [filter])];
  return { file: bwrapProgram() ?? 'bwrap', args, feeds };
}

/** Absolute path of bwrap; undefined: it is not in PATH. */
export function bwrapProgram(): string | undefined {
  return findIn(pathFolders(), 'bwrap');
}
