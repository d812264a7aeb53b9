import { type Logger, pino, stdTimeFunctions } from 'pino';
import { nearestName, SluiceError } from '../core/problem.js';
import { plain, say } from './output.js';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Throws USAGE when the level is unknown. */
export function checkLogLevel(level: string | undefined, fallback: string): string {
  if (level === undefined) return fallback;
  if ((LOG_LEVELS as readonly string[]).includes(level)) return level;
  const nearest = nearestName(level, LOG_LEVELS);
  throw new SluiceError('USAGE', 'unknown log level', [
    {
      code: 'USAGE',
      path: '--log-level',
      message: 'is no log level',
      found: level,
      allowed: [...LOG_LEVELS],
      ...(nearest === undefined ? {} : { nearest }),
    },
  ]);
}

const REDACTED = ['*.password', 'redisUrl'];

/** A logger on standard error: readable on a terminal, JSON lines otherwise (DESIGN 8). */
export async function createLog(level: string): Promise<Logger> {
  const options = {
    level,
    base: null,
    redact: REDACTED,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (!process.stderr.isTTY) {
    // What cannot be logged (a full disk, a closed pipe) must not end the process.
    return pino(
      options,
      pino.destination({ fd: 2, sync: true }).on('error', () => {}),
    );
  }
  const { default: pretty } = await import('pino-pretty');
  return pino(options, pretty({ destination: 2, sync: true, ignore: 'pid,hostname' }));
}

/** A log entry as a plain sentence: `sluice: what happened: why`. */
export function sentenceOf(entry: string): string {
  const { msg, reason, err } = JSON.parse(entry) as {
    msg?: string;
    reason?: string;
    err?: { message?: string };
  };
  const why = err?.message ?? reason;
  return plain(`sluice: ${msg ?? 'something happened'}${why === undefined ? '' : `: ${why}`}`);
}

/** A logger for commands that speak to a person: each entry a plain sentence on standard error. */
export function createSentences(level: string): Logger {
  return pino({ level, base: null, redact: REDACTED }, { write: (entry) => say(sentenceOf(entry)) });
}
