import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { SluiceError } from '../../core/problem.js';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** A disk without room in plain words; anything else as it is. */
export function spoolFailure(error: unknown): unknown {
  if (!FULL.has((error as { code?: string }).code ?? '')) return error;
  const message = 'The server has no room for this upload; nothing of it was stored. Try again later.';
  return new SluiceError('UNAVAILABLE', message);
}

/**
 * A private temporary file that nothing leaves behind: its name is removed at once, so that it ends with the
 * process, whatever ends that.
 */
export class Spool {
  readonly #files: FileHandle[] = [];
  readonly #folder: string;
  #main: FileHandle | undefined;
  #size = 0;

  /** `folder`: default that of the system for temporary files. */
  constructor(folder: string = tmpdir()) {
    this.#folder = folder;
  }

  /** Another such file. */
  async file(): Promise<FileHandle> {
    const path = join(this.#folder, `sluice-upload-${randomBytes(12).toString('hex')}`);
    const { O_CREAT, O_EXCL, O_RDWR } = constants;
    const file = await open(path, O_CREAT | O_EXCL | O_RDWR, 0o600);
    this.#files.push(file);
    await unlink(path);
    return file;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#main ??= await this.file();
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await this.#main.write(bytes, done, bytes.length - done, this.#size);
      done += bytesWritten;
      this.#size += bytesWritten;
    }
  }

  /** All that was written, from the beginning. */
  read(): Readable {
    return this.#main === undefined
      ? Readable.from([])
      : this.#main.createReadStream({ start: 0, autoClose: false, highWaterMark: 256 * 1024 });
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#files.splice(0).map((file) => file.close()));
  }
}
