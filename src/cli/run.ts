import { CommanderError } from 'commander';
import { SluiceError } from '../core/problem.js';
import { reportFailure } from './failure.js';
import { guardStreams } from './output.js';
import { createProgram, type Outcome } from './program.js';

/** Milliseconds that connections get to close by themselves before the process ends all the same. */
const LINGER_MS = 100;
const HOLD_MS = 60_000;

const HELP_CODES = new Set(['commander.helpDisplayed', 'commander.version']);

function usageOf(error: CommanderError): SluiceError {
  const message = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  return new SluiceError('USAGE', `${message}; sluice --help lists what there is.`);
}

/** Whether the user asked for JSON, seen before the options are parsed: a usage error is JSON too. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
}

/**
 * Runs one command to its end and answers with the exit code (DESIGN 8): 0 all passed, 1 something
 * failed or errored, 2 bad input or usage, 3 infrastructure or a defect of ours. Never throws.
 */
export async function run(args: readonly string[]): Promise<number> {
  guardStreams();
  const json = wantsJson(args);
  const outcome: Outcome = { exitCode: 0 };
  let defect = false;
  const onDefect = (error: unknown) => {
    if (defect) return;
    defect = true;
    void reportFailure(error, json).then((code) => process.exit(code));
  };
  // A command that waits for nothing but timers without a hold would end in the middle, with exit 13.
  const hold = setInterval(() => {}, HOLD_MS);
  process.on('uncaughtException', onDefect);
  process.on('unhandledRejection', onDefect);
  try {
    await createProgram(outcome).parseAsync(args, { from: 'user' });
    return outcome.exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportFailure(error, json);
    if (HELP_CODES.has(error.code)) return 0;
    if (error.code === 'commander.help') return 2;
    return reportFailure(usageOf(error), json);
  } finally {
    clearInterval(hold);
    process.off('uncaughtException', onDefect);
    process.off('unhandledRejection', onDefect);
  }
}

/** Ends the process once nothing is left to do, or soon after: a socket must not keep it alive. */
export function endGently(exitCode: number): void {
  process.exitCode = exitCode;
  setTimeout(() => process.exit(exitCode), LINGER_MS).unref();
}
