import { failure } from '../../core/failure.js';
import type { RunFailure } from '../../core/validators/validator.js';
import { HOME, WORK, wrapped } from './bubblewrap.js';
import { type PrivateFolder, privateFolder, strayFile } from './folder.js';
import { hostView } from './host.js';
import { headOf } from './interpreter.js';
import { pathFolders } from './look-up.js';
import { MARK_NAME, OWNER } from './owner.js';
import { hostPaths } from './paths.js';
import { programOf } from './program.js';
import type { ProcessRequest, RunRequest } from './request.js';
import { startScript } from './script.js';
import type { ProcessSettings } from './settings.js';
import { isRoot, sandboxUser } from './users.js';

/** All that spawning needs, and what goes when the run is over. */
export interface Launch {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd?: string;
  /** Written to its descriptors from 3 on. */
  feeds: readonly (string | Buffer)[];
  /** On standard error: the program was not started. */
  token: string;
  /** In the environment of all that the run starts. */
  mark: string;
  sandboxed: boolean;
  /** Absolute path of the program, as the run sees it. */
  program: string;
  /** Its first bytes, for telling why it cannot be started. */
  head(): Buffer;
  release(): Promise<void>;
  /** Removes its folder when there is no time for `release`. */
  abandon(): void;
}

/** Standard input is known beforehand, or spoken to later. */
export type LaunchRequest = ProcessRequest & Pick<RunRequest, 'stdin'>;

let runs = 0;

function badRequest(request: ProcessRequest): RunFailure | undefined {
  const refused = (message: string) => failure('bad_request', message);
  const words = [...request.argv, ...Object.values(request.env ?? {})];
  if (words.some((word) => word.includes('\0'))) {
    return refused('an argument or a variable holds a NUL character, which no program can be given');
  }
  const name = Object.keys(request.env ?? {}).find((each) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(each));
  if (name !== undefined) return refused(`the variable ${JSON.stringify(name)} has no name for a variable`);
  const stray = strayFile(request.files);
  return stray === undefined
    ? undefined
    : refused(
        `the file ${JSON.stringify(stray)} would leave the folder of the run; name it relative, without ..`,
      );
}

/** What a run needs to be spawned, or why it must not or cannot be. */
export async function launchOf(
  request: LaunchRequest,
  settings: ProcessSettings,
): Promise<Launch | RunFailure> {
  const bad = badRequest(request);
  if (bad !== undefined) return bad;
  const mark = `${OWNER}-${++runs}`;
  return settings.sandbox === 'bubblewrap'
    ? inSandbox(request, settings, mark)
    : onHost(request, settings, mark);
}

const tokenOf = (mark: string) => `sluice-not-started-${mark}`;

async function inSandbox(
  request: LaunchRequest,
  settings: ProcessSettings,
  mark: string,
): Promise<Launch | RunFailure> {
  const view = hostView();
  const paths = await hostPaths(request.paths ?? [], settings.paths, isRoot());
  if ('kind' in paths) return paths;
  const visible = [...view.bound, ...paths.map(({ real }) => real)];
  const folders = [...new Set([...view.programs, ...pathFolders().filter(isLasting)])];
  const program = programOf(request.argv[0], { work: WORK, files: request.files, folders, visible });
  if (typeof program !== 'string') return program;
  const folder = request.files?.size ? await privateFolder(request.files) : undefined;
  const user = sandboxUser();
  const shown = folders.filter((each) => view.programs.includes(each) || covers(visible, each));
  const launch = wrapped({
    program,
    args: request.argv.slice(1),
    env: environment(HOME, '/tmp', shown, mark, request.env),
    token: tokenOf(mark),
    memoryKiB: settings.memoryMiB * 1024,
    processes: settings.processes,
    scratchMiB: settings.scratchMiB,
    network: request.network,
    paths,
    user: user.id,
    ...(folder === undefined ? {} : { files: folder.work }),
    ...(request.stdin === undefined ? {} : { stdin: request.stdin }),
  });
  const release = async () => {
    user.release();
    await folder?.remove();
  };
  const abandon = () => folder?.removeNow();
  const env = { [MARK_NAME]: mark };
  const head = () => headOf(request.argv[0], program, request.files);
  return { ...launch, env, token: tokenOf(mark), mark, sandboxed: true, program, head, release, abandon };
}

/** What npm adds for the time of a script is there or not by how the worker was started. */
const isLasting = (folder: string) => !folder.includes('/node_modules/');

const covers = (folders: readonly string[], path: string) =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`));

async function onHost(
  request: LaunchRequest,
  settings: ProcessSettings,
  mark: string,
): Promise<Launch | RunFailure> {
  const paths = await hostPaths(request.paths ?? [], settings.paths, false);
  if ('kind' in paths) return paths;
  const folder: PrivateFolder = await privateFolder(request.files, request.stdin);
  const folders = pathFolders();
  const places = { work: folder.work, files: request.files, folders, visible: undefined };
  const program = programOf(request.argv[0], places);
  if (typeof program !== 'string') {
    await folder.remove();
    return program;
  }
  const script = startScript({
    program,
    args: request.argv.slice(1),
    env: {},
    token: tokenOf(mark),
    memoryKiB: settings.memoryMiB * 1024,
    ...(request.stdin === undefined ? {} : { stdin: folder.input }),
  });
  return {
    file: '/bin/sh',
    args: ['-c', script],
    env: { ...environment(folder.home, folder.temporary, folders, mark, request.env), PWD: folder.work },
    cwd: folder.work,
    feeds: [],
    token: tokenOf(mark),
    mark,
    sandboxed: false,
    program,
    head: () => headOf(request.argv[0], program, request.files),
    release: folder.remove,
    abandon: folder.removeNow,
  };
}

/** Nothing of the worker's own: no secrets reach a tool by accident. */
function environment(
  home: string,
  temporary: string,
  folders: readonly string[],
  mark: string,
  own: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  return {
    PATH: folders.join(':'),
    HOME: home,
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    ...own,
    [MARK_NAME]: mark,
  };
}
