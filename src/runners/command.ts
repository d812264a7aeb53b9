import { commandLine } from '../core/command/line.js';
import { commandReturn } from '../core/command/return.js';
import { failure } from '../core/failure.js';
import type { RunFailure } from '../core/validators/validator.js';
import type { Ran, ToolOutput, ToolRun, ToolRunner } from '../ports/runner.js';
import type { Processes, RunRequest } from './process/request.js';
import { decoded, overSnapshot } from './snapshot-files.js';

/** Runs tools that are commands (DESIGN 6.1); nothing is kept between calls. */
export class CommandRunner implements ToolRunner {
  readonly #processes: Processes;

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  async run(call: ToolRun, signal: AbortSignal): Promise<Ran<ToolOutput>> {
    const request = requestOf(call);
    // What never ran wrote nothing.
    if ('kind' in request) return { outcome: request, readOnly: 'enforced' };
    const outcome = await this.#processes.run(request, signal);
    if (outcome.kind === 'failure') return { outcome, readOnly: 'enforced' };
    return {
      outcome: commandReturn(call.document, { ...outcome, deadlineMs: call.deadlineMs }),
      readOnly: outcome.readOnly,
    };
  }

  async close(): Promise<void> {}
}

/** The process of a call, or why there can be none. */
function requestOf(call: ToolRun): RunRequest | RunFailure {
  const { document, subject, resource, slot, deadlineMs } = call;
  const [program = '', ...rest] = commandLine(document, call);
  if (program === '')
    return failure('not_found', 'the command has no program: its placeholder stands for nothing');
  const env = {
    ...document.env,
    SLUICE_TOOL: document.name,
    SLUICE_RESOURCE: resource ?? '',
    SLUICE_SLOT: slot ?? '',
  };
  if ([program, ...rest, ...Object.values(env)].some((text) => text.includes('\u0000')))
    return failure('arguments', 'a NUL character cannot be passed to a command');
  const own = decoded(document.files ?? {});
  const folder = document.snapshot_files === true ? overSnapshot(subject, own) : { files: own };
  if ('message' in folder) return failure('subject', folder.message);
  return {
    argv: [program, ...rest],
    env,
    files: folder.files,
    paths: document.paths ?? [],
    network: document.capability.network,
    stdin: stdinOf(call),
    deadlineMs,
  };
}

function stdinOf({ args, subject, resource, slot, ...call }: ToolRun): string {
  const state = 'state' in call ? { state: call.state } : {};
  return `${JSON.stringify({ args, subject: subject ?? null, resource, slot, ...state })}\n`;
}
