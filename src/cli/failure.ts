import { formatProblem, SluiceError } from '../core/problem.js';
import { isStdoutLost, plain, print } from './output.js';
import { redisTrouble } from './redis-trouble.js';

/** Problems that are printed; the rest are counted. */
const MOST_PRINTED = 50;

/** What a failure looks like on standard error: the message, then one problem a line. */
export function failureLines(error: SluiceError): string[] {
  const lines = [`sluice: ${plain(error.message)}`];
  for (const problem of error.problems.slice(0, MOST_PRINTED))
    lines.push(`  ${plain(formatProblem(problem))}`);
  const more = error.problems.length - MOST_PRINTED;
  if (more > 0) lines.push(`  ... and ${more} more`);
  return lines;
}

/** What a failure looks like with `--json`: the whole document. */
export function failureDocument(error: SluiceError): Record<string, unknown> {
  const { code, message, problems } = error;
  return { error: { code, message, problems } };
}

/** A failure that cannot be told as JSON has been told on standard error. */
async function printDocument(document: Record<string, unknown>): Promise<void> {
  if (isStdoutLost()) return;
  await print(`${JSON.stringify(document)}\n`).catch(() => {});
}

/** Tells a failure on standard error (and as JSON on standard output); answers with the exit code. */
export async function reportFailure(failure: unknown, json: boolean): Promise<number> {
  const error = redisTrouble(failure) ?? failure;
  if (error instanceof SluiceError) {
    process.stderr.write(`${failureLines(error).join('\n')}\n`);
    if (json) await printDocument(failureDocument(error));
    return error.exitCode;
  }
  const defect = error instanceof Error ? error : new Error(String(error));
  const message = plain(defect.message) || defect.name;
  process.stderr.write(`sluice: internal error: ${message} (SLUICE_DEBUG=1 shows where)\n`);
  if (process.env.SLUICE_DEBUG === '1') process.stderr.write(`${defect.stack ?? ''}\n`);
  if (json) await printDocument({ error: { code: 'INTERNAL', message, problems: [] } });
  return 3;
}
