import type { JsonObject } from '../../core/registry/model.js';

/** Bytes of JSON that a validation may return. */
export const MOST_RESULT_BYTES = 1024 * 1024;
/** Bytes of one line from a child: a result, or what a module brings. */
export const MOST_LINE_BYTES = 8 * MOST_RESULT_BYTES;

/** What the program in the child is started with. */
export interface HostSettings {
  /** File that a package is looked up from; it need not exist. */
  base: string;
  /** URL of a file, or the name of a package. */
  specifier: string;
  /** Bytes of JSON of a result. */
  mostBytes: number;
  /** UTF-16 units of a message, and of what a bad result looks like. */
  mostMessage: number;
  mostRaw: number;
}

/** A validation as its module describes it. */
export interface Described {
  name: string;
  description: string;
  input_schema?: JsonObject;
  output_schema?: JsonObject;
}

/** To the child, one JSON a line. */
export interface PluginCall {
  /** Not to be guessed: what a plugin prints is never taken for an answer. */
  id: string;
  name: string;
  input: Record<string, unknown>;
  deadline_ms: number;
}

/** From the child about its module, once. */
export type Loading = { loaded: Described[] } | { broken: string };

/** From the child about a call. */
export type PluginAnswer = {
  id: string;
  /** Milliseconds that it took; an answer may lie unread while the worker is busy. */
  ms: number;
} & (
  | { value: unknown }
  | { failed: 'threw' | 'malformed' | 'too_large' | 'unknown'; message: string; raw?: string }
);
