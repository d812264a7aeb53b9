import { sandboxTrouble } from '../../src/runners/process/available.js';
import { LocalProcesses, type ProcessSettings } from '../../src/runners/process/processes.js';
import type { ProcessOutcome, RunRequest } from '../../src/runners/process/request.js';

export const SETTINGS: ProcessSettings = {
  sandbox: 'bubblewrap',
  memoryMiB: 256,
  processes: 64,
  scratchMiB: 16,
  outputCap: 65_536,
  graceMs: 300,
  paths: ['/'],
};

/** Why there is no sandbox to test here; undefined: there is one. */
export const noSandbox = await sandboxTrouble(SETTINGS);
if (noSandbox !== undefined) console.warn(`SKIPPED, no sandbox on this host: ${noSandbox}`);

export type Extra = Partial<RunRequest> & { settings?: Partial<ProcessSettings>; signal?: AbortSignal };

/** Runs a shell script, or a program with arguments; 20 s at most unless `extra` says otherwise. */
export function runScript(script: string | readonly [string, ...string[]], extra: Extra = {}) {
  const { settings, signal, ...request } = extra;
  const processes = new LocalProcesses({ ...SETTINGS, ...settings });
  const argv = typeof script === 'string' ? (['sh', '-c', script] as const) : script;
  return processes.run(
    { argv, network: false, deadlineMs: 20_000, ...request },
    signal ?? new AbortController().signal,
  );
}

/** The same, where anything but an ended process is a mistake. */
export async function ranScript(
  script: string | readonly [string, ...string[]],
  extra: Extra = {},
): Promise<ProcessOutcome> {
  const outcome = await runScript(script, extra);
  if (outcome.kind === 'failure') throw new Error(`${outcome.reason}: ${outcome.message}`);
  return outcome;
}
