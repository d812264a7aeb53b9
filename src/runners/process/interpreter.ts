import { closeSync, openSync, readSync } from 'node:fs';
import { posix } from 'node:path';
import { exists } from './paths.js';

/** As far as the kernel reads a first line. */
const MOST_BYTES = 256;

/** What a script names in its first line, `#!/bin/sh`; undefined where it is no script. */
function interpreterIn(head: Buffer): string | undefined {
  const [line = ''] = head.subarray(0, MOST_BYTES).toString('utf8').split('\n', 1);
  return /^#![ \t]*([^ \t]+)/.exec(line)?.[1];
}

/** The beginning of a program as a run sees it: one of its files, or one of this host. */
export function headOf(name: string, program: string, files: ReadonlyMap<string, Uint8Array> = new Map()) {
  if (name.includes('/') && !posix.isAbsolute(name)) {
    const path = posix.normalize(name);
    const found = [...files].find(([file]) => posix.normalize(file) === path)?.[1];
    return Buffer.from(found?.subarray(0, MOST_BYTES) ?? '');
  }
  const head = Buffer.alloc(MOST_BYTES);
  try {
    const file = openSync(program, 'r');
    try {
      return head.subarray(0, readSync(file, head));
    } finally {
      closeSync(file);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * Why a program that is there was `not found`, in words that follow its name: what interprets it is not
 * there. Undefined where that is not so.
 */
export function lacksInterpreter(head: Buffer, sandboxed: boolean): string | undefined {
  const name = interpreterIn(head);
  if (name === undefined) return undefined;
  const plain = name.replace(/\r$/, '');
  const what = `is there, but its first line names the interpreter ${plain}`;
  if (plain !== name)
    return `${what} and ends with CRLF, which counts as part of that name; save it with LF line ends`;
  if (!exists(plain)) return `${what}, which is not there`;
  return sandboxed ? `${what}, which is not shown by the sandbox; declare its folder under paths` : undefined;
}
