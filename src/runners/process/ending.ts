import { constants } from 'node:os';
import type { Ending } from './started.js';

const NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/**
 * 128 and more than that is a signal, as in shells: between the program and this process is one that
 * can say it in no other way, and without a sandbox it must mean the same.
 */
export function endingOf({ exitCode, signal }: Ending): { exitCode: number | null; signal?: string } {
  if (signal !== undefined) return { exitCode: null, signal };
  const name = exitCode !== null && exitCode > 128 ? NAMES.get(exitCode - 128) : undefined;
  return name === undefined ? { exitCode } : { exitCode: null, signal: name };
}
