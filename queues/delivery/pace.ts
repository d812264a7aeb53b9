import type { Redis } from 'ioredis';
import type { Pace } from '../../src/ports/delivery.js';
import { pause } from './pause.js';

/**
 * Takes the next free time for so many milliseconds, by the clock of Redis, so that all dispatchers share
 * one rate; returns the milliseconds until then. BullMQ's limits count jobs, and these hold many events.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local free = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0))
local next = free + tonumber(ARGV[1])
redis.call('SET', KEYS[1], string.format('%.3f', next), 'PX', math.ceil(next - now) + 1000)
return math.ceil(free - now)
`;

/** Holds what is sent to so many events a second, of all dispatchers together; undefined: no limit. */
export function paceOf(connection: Redis, key: string, rate: number | undefined, closing: AbortSignal): Pace {
  if (rate === undefined) return async () => true;
  return async (events, signal) => {
    const waitMs = Number(await connection.eval(TAKE, 1, key, (events * 1000) / rate));
    if (waitMs > 0) await pause(waitMs, [closing, signal]);
    return !closing.aborted && !signal.aborted;
  };
}
