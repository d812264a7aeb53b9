import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SluiceError } from '../core/problem.js';
import { openSource, type RunSource } from './run-sources.js';

/** Sources that can be read as often as one likes. */
export interface SpooledSources {
  sources: RunSource[];
  /** Removes the copies; may be called more than once. */
  cleanup(): Promise<void>;
}

export interface SpoolOptions {
  stdin?: NodeJS.ReadableStream;
  /** Folder for the copies; default: the system's. */
  folder?: string;
  signal?: AbortSignal;
}

async function isPipe(source: string): Promise<boolean> {
  if (source === '-') return true;
  const info = await stat(source).catch(() => undefined);
  return info?.isFIFO() ?? false;
}

/**
 * Copies what can be read only once (`-` and pipes) to private temporary files; everything else
 * stays where it is. Names shown to the user do not change.
 * @throws SluiceError IO when a copy cannot be made, INTERRUPTED when the signal fires
 */
export async function spoolSources(
  sources: readonly string[],
  options: SpoolOptions = {},
): Promise<SpooledSources> {
  let folder: string | undefined;
  const cleanup = async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  const spooled: RunSource[] = [];
  const copies = new Map<string, RunSource>();
  try {
    for (const file of sources) {
      if (copies.has(file) || !(await isPipe(file))) {
        spooled.push(copies.get(file) ?? { file, path: file });
        continue;
      }
      folder ??= await mkdtemp(join(options.folder ?? tmpdir(), 'sluice-runs-'));
      const path = join(folder, String(copies.size));
      const input = openSource({ file, path: file }, options.stdin ?? process.stdin);
      const to = createWriteStream(path, { mode: 0o600 });
      await pipeline(input, to, options.signal === undefined ? {} : { signal: options.signal });
      const copy = { file, path };
      copies.set(file, copy);
      spooled.push(copy);
    }
  } catch (error) {
    await cleanup();
    if (options.signal?.aborted) throw new SluiceError('INTERRUPTED', 'interrupted while the input was read');
    const reason = error instanceof Error ? error.message : String(error);
    throw new SluiceError('IO', `the input cannot be copied to a temporary file: ${reason}`);
  }
  return { sources: spooled, cleanup };
}
