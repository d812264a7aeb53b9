import type { CloudEventIn } from '../../core/cloud-events.js';
import { type Command, commandOf } from '../../core/commands/command.js';
import { sha256 } from '../../core/digest.js';
import type { IncomingMessage } from '../../ports/source.js';
import { MOST_ACTOR } from './evaluations.js';
import { type Refusal, refusalOf, type SourceIdentity } from './set-aside.js';

/** The same message of the same source. */
export function keyOf({ body, contentType, attributes }: IncomingMessage, { name }: SourceIdentity): string {
  return sha256(JSON.stringify([name, sha256(body), contentType, attributes]));
}

type Read = { ignored: true } | { refusal: Refusal } | { command: Command; actor: string };

/** An event of a source as a command with its actor, or why it is none. */
export function readCommand(event: CloudEventIn, source: SourceIdentity): Read {
  const answer = commandOf(event);
  if (answer.kind === 'ignored') return { ignored: true };
  const named = source.trustActor ? event.extensions.actor : undefined;
  const actor = typeof named === 'string' && named !== '' ? named : source.actor;
  const problems = answer.kind === 'refused' ? [...answer.problems] : [];
  if (actor.length > MOST_ACTOR)
    problems.push({ path: 'actor', message: `has more than ${MOST_ACTOR} characters` });
  if (answer.kind === 'refused' || problems.length > 0) return { refusal: refusalOf(problems) };
  return { command: answer.command, actor };
}
