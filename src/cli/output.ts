let gone = false;
let guarded = false;

/** A reader that went away (`| head`) is no error: what is left to say is dropped. */
export function guardStreams(): void {
  if (guarded) return;
  guarded = true;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    gone = true;
  });
  process.stderr.on('error', () => {});
}

/** Whether nobody reads standard output any more. */
export function isStdoutGone(): boolean {
  return gone;
}

/** Writes to standard output with backpressure; does nothing when nobody reads. */
export async function print(text: string): Promise<void> {
  if (gone) return;
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error === null || error === undefined) return resolve();
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') return reject(error);
      gone = true;
      resolve();
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
