import { userInfo } from 'node:os';
import { type FleetEngine, openFleet } from '../compose.js';
import { checkLogLevel, createLog, createSentences } from './log.js';
import { observingOf } from './observing.js';
import { type FleetOptions, ProblemList } from './options.js';
import { loadSettings, type RedisPlace, requireRedis } from './redis.js';

/** Options of the commands that look at registry and plans, or change them. */
export interface AskerOptions extends FleetOptions {
  actor?: string;
}

const ACTOR = /^(?=.*\S)[^\u0000-\u001f\u007f]{1,256}$/u;

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under an id that no name is known of.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Who asks: `--actor`, SLUICE_ACTOR, or the user's name; what cannot be one goes to `problems`. */
export function actorOf(option: string | undefined, env: NodeJS.ProcessEnv, problems: ProblemList): string {
  const given = option ?? (env.SLUICE_ACTOR || undefined);
  if (given === undefined) return userName();
  if (ACTOR.test(given)) return given;
  problems.add({
    code: 'BAD_ACTOR',
    path: option === undefined ? 'SLUICE_ACTOR' : '--actor',
    message: 'expected 1 to 256 characters, none of them a control character',
    found: JSON.stringify(given),
  });
  return '';
}

/** A fleet that is open for one command. */
export interface Asked {
  engine: FleetEngine;
  actor: string;
  place: RedisPlace;
}

/**
 * Opens the fleet of a command, lets it do its work and closes the fleet. `problems` holds what is
 * wrong with the command's own options: all of it is told before anything is opened, with what did
 * not happen. `read`: a private Redis that this folder never had is not made.
 */
export async function withFleet<T>(
  options: AskerOptions,
  access: 'read' | 'write',
  problems: ProblemList,
  consequence: string,
  work: (asked: Asked) => Promise<T>,
): Promise<T> {
  const { logLevel } = options;
  const level = (await problems.take(() => checkLogLevel(logLevel, 'warn'))) ?? 'warn';
  const actor = actorOf(options.actor, process.env, problems);
  const config = await problems.take(() => loadSettings(options));
  problems.throwIfAny('USAGE', consequence);
  if (config === undefined) throw new Error('settings without a problem are missing');
  const place = await requireRedis(config, { create: access === 'write' });
  try {
    const log = logLevel === undefined ? createSentences(level) : await createLog(level);
    const observing = await observingOf(config, 'command', false);
    const engine = await openFleet(config, place.url, log, undefined, observing);
    try {
      return await work({ engine, actor, place });
    } finally {
      await engine.close();
    }
  } finally {
    await place.release();
  }
}

/** As `withFleet`, for commands without options of their own. */
export function askFleet<T>(
  options: AskerOptions,
  access: 'read' | 'write',
  work: (asked: Asked) => Promise<T>,
): Promise<T> {
  const consequence = access === 'read' ? 'nothing was read.' : 'nothing was changed.';
  return withFleet(options, access, new ProblemList(), consequence, work);
}
