import { execFile } from 'node:child_process';

export interface CommandResult {
  /** null when it could not be started or was stopped by its deadline. */
  exitCode: number | null;
  output: string;
  /** The program is not in PATH. */
  missing: boolean;
}

/** Runs a program to its end, 10 s at most; never throws. */
export function runCommand(file: string, args: string[], env: NodeJS.ProcessEnv): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(file, args, { env, timeout: 10_000 }, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim();
      if (error === null) return resolve({ exitCode: 0, output, missing: false });
      const code = error.code as number | string | undefined;
      const exitCode = typeof code === 'number' ? code : null;
      resolve({ exitCode, output: output || error.message, missing: code === 'ENOENT' });
    });
  });
}
