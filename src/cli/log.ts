import { type Logger, pino } from 'pino';
import pinoPretty from 'pino-pretty';
import { nearestName, SluiceError } from '../core/problem.js';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Throws USAGE when the level is unknown. */
export function checkLogLevel(level: string | undefined, fallback: string): string {
  if (level === undefined) return fallback;
  if ((LOG_LEVELS as readonly string[]).includes(level)) return level;
  const nearest = nearestName(level, LOG_LEVELS);
  throw new SluiceError('USAGE', 'unknown log level', [
    {
      path: '--log-level',
      message: 'is no log level',
      found: level,
      allowed: [...LOG_LEVELS],
      ...(nearest === undefined ? {} : { nearest }),
    },
  ]);
}

/** A logger on standard error: readable on a terminal, JSON lines otherwise (DESIGN 8). */
export function createLog(level: string): Logger {
  const options = { level, base: null, redact: ['*.password', 'redisUrl'] };
  if (!process.stderr.isTTY) return pino(options, pino.destination({ fd: 2, sync: true }));
  return pino(options, pinoPretty({ destination: 2, sync: true, ignore: 'pid,hostname' }));
}
