/** A word as a POSIX shell takes it. */
function quoted(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The call that finishes a batch: this one, with its `--batch` (and without a password in it). */
export function resumeCommand(args: readonly string[], batch: string): string {
  const named = args.some((arg) => arg === '--batch' || arg.startsWith('--batch='));
  const words = named ? args : [...args, '--batch', batch];
  return ['sluice', ...words.map((word) => quoted(word.replace(/(rediss?:\/\/)[^@/]*@/, '$1***@')))].join(
    ' ',
  );
}
