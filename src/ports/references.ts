import { SluiceError } from '../core/problem.js';

/** What lies elsewhere cannot be had now: its host does not answer, or not as it should. */
export class AwayError extends SluiceError {
  constructor(message: string) {
    super('UNAVAILABLE', message);
  }
}

/** Evidence that a command names instead of carrying it. */
export interface Reference {
  /** `file:///…` or `https://…`. */
  uri: string;
  /** Of the bytes, hex: what does not match is refused. */
  sha256: string;
}

/** Reads what commands refer to, from where the operator allows it. */
export interface ReferenceReader {
  /**
   * The text (UTF-8). Throws SluiceError BAD_REFERENCE (not allowed, not found, too large, another digest:
   * asking again does not help) or AwayError, UNAVAILABLE (the host does not answer now).
   */
  read(reference: Reference): Promise<string>;
}
