/** What the first process of a run does before it becomes the program. */
export interface StartScript {
  /** Absolute path of the program. */
  program: string;
  args: readonly string[];
  /** Exported for the program; empty where the environment is handed over otherwise. */
  env: Readonly<Record<string, string>>;
  /** Printed to standard error when the program could not be started. */
  token: string;
  /** KiB of private memory of each process. */
  memoryKiB: number;
  /** Processes and threads; absent: not limited here. */
  processes?: number;
  /** Folder whose content is copied into the working folder. */
  files?: string;
  /** File that becomes its standard input. */
  stdin?: string;
}

/** A word that a shell reads as it stands. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Script for any POSIX shell. Limits are set here, because within a sandbox they count for it alone.
 * A shell whose `exec` fails ends by its exit trap (bash: with execfail), which tells that from a
 * program that ended with the same exit code.
 */
export function startScript(script: StartScript): string {
  const { program, args, env, token, memoryKiB, processes, files, stdin } = script;
  const input = stdin === undefined ? '' : ` <${quoted(stdin)}`;
  return [
    'shopt -s execfail 2>/dev/null',
    `trap 'echo ${token} >&2' EXIT`,
    // The first to go when the host runs out of memory.
    '{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null',
    'ulimit -c 0 2>/dev/null',
    `ulimit -d ${memoryKiB} 2>/dev/null`,
    // dash and busybox call it -p, bash -u.
    ...(processes === undefined
      ? []
      : [`ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`]),
    ...(files === undefined ? [] : [`PATH=/usr/bin:/bin cp -R ${quoted(`${files}/.`)} . || exit 1`]),
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`),
    `exec ${[program, ...args].map(quoted).join(' ')}${input}`,
    '',
  ].join('\n');
}
