import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SluiceError } from '../../src/core/problem.js';
import { badReference } from './text.js';

interface FileSettings {
  folders: readonly string[];
  max_bytes: number;
}

/** A link is not followed, and neither a pipe nor a device is waited for. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CHUNK_BYTES = 256 * 1024;

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`);
}

function pathOf(url: URL): string {
  if (url.hostname !== '' && url.hostname !== 'localhost')
    throw badReference('uri', 'a file of another host cannot be read', {
      found: url.hostname,
      allowed: ['file:///PATH'],
    });
  try {
    const path = fileURLToPath(`file://${url.pathname}`);
    if (!path.includes('\0')) return path;
  } catch {
    // A coded slash, or what is no UTF-8.
  }
  throw badReference('uri', 'the path of the file is none', { found: url.pathname });
}

/** The one answer for what is not there and for what may not be seen, so that nobody finds out which. */
function notAllowed(path: string, { folders }: FileSettings): SluiceError {
  if (folders.length === 0)
    return badReference('uri', 'files are not allowed; references.folders names no folder', { found: path });
  return badReference('uri', 'there is no such file in the folders that are allowed', {
    found: path,
    allowed: folders,
  });
}

async function isAllowed(real: string, { folders }: FileSettings): Promise<boolean> {
  for (const folder of folders) {
    const place = await realpath(folder).catch(() => undefined);
    if (place !== undefined && isInside(real, place)) return true;
  }
  return false;
}

/** Where a file really lies, when that is inside an allowed folder. */
async function placeOf(path: string, settings: FileSettings): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined && (await isAllowed(real, settings))) return real;
  throw notAllowed(path, settings);
}

/**
 * Whether the open file lies inside: a folder on the way may have become a link in between. Linux tells
 * where what is open lies; elsewhere the path is looked at once more, which a swap back and forth deceives.
 */
async function liesInside(file: FileHandle, place: string, settings: FileSettings): Promise<boolean> {
  const real = await readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
  if (real !== undefined) return isAllowed(real, settings);
  const [opened, again] = await Promise.all([file.stat(), placeOf(place, settings).then(stat)]);
  return again.ino === opened.ino && again.dev === opened.dev;
}

async function readWhole(file: FileHandle, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    total += bytesRead;
    if (total > most) throw tooLarge(most);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

const tooLarge = (most: number) =>
  badReference('uri', `the file is too large; ${most} bytes are allowed (references.max_bytes)`);

/**
 * The bytes of a file in an allowed folder. Throws BAD_REFERENCE: links out of the folders, and what is no
 * regular file, are refused.
 */
export async function readFileReference(url: URL, settings: FileSettings): Promise<Buffer> {
  const path = pathOf(url);
  const place = await placeOf(path, settings);
  const file = await open(place, FLAGS).catch(() => {
    throw notAllowed(path, settings);
  });
  try {
    const opened = await file.stat();
    if (!opened.isFile()) throw badReference('uri', 'this is no regular file', { found: path });
    if (!(await liesInside(file, place, settings).catch(() => false))) throw notAllowed(path, settings);
    if (opened.size > settings.max_bytes) throw tooLarge(settings.max_bytes);
    return await readWhole(file, settings.max_bytes);
  } finally {
    await file.close();
  }
}
