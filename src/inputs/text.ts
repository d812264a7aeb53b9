import { isUtf8 } from 'node:buffer';

const BOM = '\ufeff';

/** The text of UTF-8 bytes without a byte order mark, or why there is none. */
export function decode(bytes: Buffer): { text: string } | { message: string } {
  if (!isUtf8(bytes)) return { message: 'is not valid UTF-8' };
  const text = bytes.toString('utf8');
  return { text: text.startsWith(BOM) ? text.slice(1) : text };
}

/** JSON.parse with its complaint as a value. */
export function parseJson(text: string): { value: unknown } | { message: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (text.includes('\u0000')) return { message: 'is not valid JSON: it contains NUL bytes' };
    return {
      message: `is not valid JSON: ${error instanceof Error ? printable(error.message) : 'unreadable'}`,
    };
  }
}

function printable(message: string): string {
  return message.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, 200);
}

const MAGIC: readonly { bytes: readonly number[]; message: string }[] = [
  { bytes: [0x1f, 0x8b], message: 'is compressed with gzip; unpack it first (gunzip -c FILE) or pipe it in' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], message: 'is compressed with zstd; unpack it first' },
  { bytes: [0x50, 0x4b, 0x03, 0x04], message: 'is a ZIP archive; unpack it first' },
  { bytes: [0xff, 0xfe], message: 'is UTF-16 text; convert it to UTF-8 first' },
  { bytes: [0xfe, 0xff], message: 'is UTF-16 text; convert it to UTF-8 first' },
];

/** Why the head of a file cannot be JSON text at all; undefined when it may be. */
export function refuseHead(head: Buffer): string | undefined {
  const known = MAGIC.find(({ bytes }) => bytes.every((byte, i) => head[i] === byte));
  if (known !== undefined) return known.message;
  if (!head.includes(0)) return undefined;
  const first = head.find((byte) => byte > 0x20);
  return first === 0x7b || first === 0x5b
    ? undefined
    : 'is a binary file (it contains NUL bytes), not JSON text';
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist: a part of its path is no folder',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: operation not permitted',
  ELOOP: 'cannot be read: too many symbolic links',
  EISDIR: 'is a folder',
  EMFILE: 'cannot be read: too many open files',
};

/** What a system error means for the file that was to be read. */
export function readFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? `cannot be read: ${code === '' ? String(error) : code}`;
}
