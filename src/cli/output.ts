import { SluiceError } from '../core/problem.js';

let gone = false;
let broken: NodeJS.ErrnoException | undefined;
let guarded = false;

function noteStdout(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') gone = true;
  else broken ??= error;
}

/**
 * A reader that went away (`| head`) is no error: what is left to say is dropped. Any other error of
 * standard output is told by the write that meets it, and standard error has nobody to tell.
 */
export function guardStreams(): void {
  if (guarded) return;
  guarded = true;
  process.stdout.on('error', noteStdout);
  process.stderr.on('error', () => {});
}

/** Whether nobody reads standard output any more. */
export function isStdoutGone(): boolean {
  return gone;
}

/** Whether writing more to standard output is useless: nobody reads, or it cannot be written. */
export function isStdoutLost(): boolean {
  return gone || broken !== undefined;
}

/**
 * Writes to standard output with backpressure; does nothing when nobody reads.
 * @throws SluiceError IO when it cannot be written, as on a full disk
 */
export async function print(text: string): Promise<void> {
  if (gone) return;
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error === null || error === undefined) return resolve();
      noteStdout(error);
      if (gone) return resolve();
      reject(new SluiceError('IO', `standard output cannot be written: ${error.message}`));
    });
  });
}

export function printJson(value: unknown): Promise<void> {
  return print(`${JSON.stringify(value, null, 2)}\n`);
}

/** One line for the person at the terminal; never on standard output. */
export function say(line: string): void {
  // On a terminal a progress bar may stand in the line.
  process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${line}\n` : `${line}\n`);
}

/** Text without control characters, so that no input steers a terminal. */
export function plain(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}
