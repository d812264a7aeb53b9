import { sha256 } from '../../src/core/digest.js';
import { type Problem, SluiceError, show } from '../../src/core/problem.js';

/** A refusal that asking again does not help. */
export function badReference(
  path: 'uri' | 'sha256',
  message: string,
  more: { found?: string; allowed?: readonly string[] } = {},
): SluiceError {
  const problem: Problem = { path, message };
  if (more.found !== undefined) problem.found = show(more.found);
  if (more.allowed !== undefined) problem.allowed = [...more.allowed];
  return new SluiceError('BAD_REFERENCE', `The reference cannot be used: ${message}.`, [problem]);
}

/** The bytes as text, once they are the ones that were meant. Throws BAD_REFERENCE. */
export function textOf(bytes: Buffer, digest: string): string {
  const found = sha256(bytes);
  if (found !== digest.toLowerCase())
    throw badReference('sha256', 'what is there has another digest', { found, allowed: [digest] });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badReference('uri', 'what is there is not valid UTF-8');
  }
}
