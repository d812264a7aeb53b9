import { commandRefusedEvent } from '../../core/command-events.js';
import { sha256 } from '../../core/digest.js';
import { STRUCTURED_TYPE } from '../../core/http-binding.js';
import { isPlainObject } from '../../core/json.js';
import { listed } from '../../core/listed.js';
import { clipped } from '../../core/plan/fit.js';
import { formatProblem, type Problem, SluiceError } from '../../core/problem.js';
import { redact } from '../../core/redact.js';
import type { Clock } from '../../ports/clock.js';
import type { DeadLetter, DeadLetterStore } from '../../ports/dead-letters.js';
import type { IncomingMessage } from '../../ports/source.js';

/** Bytes that a dead letter keeps of a message that is too large to be taken. */
const MOST_BODY = 2 ** 20;
/** UTF-16 units of a reason. */
const MOST_REASON = 2000;
/** Problems that a reason tells. */
const MOST_PROBLEMS = 10;

/** Who a source is, and whom its commands are of. */
export interface SourceIdentity {
  name: string;
  /** The actor of its commands. */
  actor: string;
  /** Take the actor from the extension `actor` where there is one. */
  trustActor: boolean;
}

/** Why something is no command that can be taken. */
export interface Refusal {
  /** Stable word for the reason. */
  code: string;
  reason: string;
}

const CODES: ReadonlySet<string | undefined> = new Set(['TOO_LARGE', 'UNKNOWN_TYPE', 'UNSUPPORTED_VERSION']);

const told = (text: string): string => clipped(redact(text), MOST_REASON);

function problemsText(problems: readonly Problem[]): string {
  const text = listed(
    problems,
    (problem) => formatProblem({ ...problem, path: problem.path || 'the message' }),
    {
      most: MOST_PROBLEMS,
      between: '; ',
    },
  );
  return problems.length === 1 ? text : `${problems.length} problems: ${text}`;
}

/** The refusal of what is no CloudEvent, or no command. */
export function refusalOf(problems: readonly Problem[]): Refusal {
  const code = problems.find((problem) => CODES.has(problem.code))?.code;
  return { code: code ?? 'INVALID_EVENT', reason: told(problemsText(problems)) };
}

/** The refusal that an error means. */
export function refusalBy(error: unknown): Refusal {
  if (!(error instanceof SluiceError)) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: 'INTERNAL', reason: told(`it met an unexpected error each time: ${message}`) };
  }
  const more = error.problems.length === 0 ? '' : ` ${problemsText(error.problems)}`;
  return { code: error.code, reason: told(error.message + more) };
}

/** What is set aside: a whole message, or one event of a batch. */
export interface Part {
  message: IncomingMessage;
  /** The CloudEvent in it, as far as there is one. */
  json: unknown;
}

/** One event of a batch as a message of its own. */
export function partOf(message: IncomingMessage, json: unknown): Part {
  const body = new TextEncoder().encode(JSON.stringify(json) ?? 'null');
  return {
    message: { body, contentType: STRUCTURED_TYPE, attributes: {}, place: message.place },
    json,
  };
}

const textAt = (json: unknown, key: string): string | null => {
  const value = isPlainObject(json) ? json[key] : undefined;
  return typeof value === 'string' && value !== '' ? clipped(value, MOST_REASON) : null;
};

function letterId(source: string, { message, json }: Part): string {
  const [origin, id] = isPlainObject(json) ? [json.source, json.id] : [];
  const isNamed = [origin, id].every((text) => typeof text === 'string' && text !== '');
  const own = isNamed ? `${origin}\u0000${id}` : sha256(message.body);
  return sha256(`${source}\u0000${own}`);
}

/** A message as its dead letter keeps it. */
interface Kept {
  body: string;
  /** Absent: text. */
  encoding?: 'base64';
  content_type: string | null;
  attributes: Record<string, string>;
  place: string;
  actor: string;
  trust_actor: boolean;
  /** Bytes that it had before it was cut; absent: it is whole. */
  cut_from?: number;
}

function keptOf(
  { body, contentType, attributes, place }: IncomingMessage,
  source: SourceIdentity,
  maxBytes: number,
): Kept {
  const whole = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const isCut = whole.length > Math.max(MOST_BODY, maxBytes);
  const bytes = isCut ? whole.subarray(0, MOST_BODY) : whole;
  const text = bytes.toString('utf8');
  const isText = isCut || Buffer.from(text, 'utf8').equals(bytes);
  return {
    body: isText ? text : bytes.toString('base64'),
    ...(isText ? {} : { encoding: 'base64' as const }),
    content_type: contentType ?? null,
    attributes,
    place,
    actor: source.actor,
    trust_actor: source.trustActor,
    ...(isCut ? { cut_from: whole.length } : {}),
  };
}

/** The message that a dead letter keeps, and the source as it was; or why it cannot be taken again. */
export function messageOf(letter: DeadLetter): { message: IncomingMessage; source: SourceIdentity } | string {
  let kept: Partial<Kept>;
  try {
    kept = JSON.parse(letter.content) as Partial<Kept>;
  } catch {
    return 'its content cannot be read';
  }
  const { body, encoding, content_type: contentType, attributes, place, actor } = kept;
  if (typeof body !== 'string') return 'its content cannot be read';
  if (kept.cut_from !== undefined)
    return `its ${kept.cut_from} bytes are too many to be kept; only the first are here`;
  return {
    message: {
      body: Buffer.from(body, encoding ?? 'utf8'),
      attributes: attributes ?? {},
      place: place ?? letter.endpoint,
      ...(typeof contentType === 'string' ? { contentType } : {}),
    },
    source: {
      name: letter.endpoint,
      actor: actor ?? `source:${letter.endpoint}`,
      trustActor: kept.trust_actor === true,
    },
  };
}

export interface SetAsideDeps {
  letters: Pick<DeadLetterStore, 'get' | 'put'>;
  clock: Clock;
  fleet: string;
  /** Bytes of a message that can be taken: it is kept whole. */
  maxBytes: number;
}

/** Keeps a part as a dead letter, with its event; the same once more changes nothing. Returns the new letter. */
export async function setAside(
  { letters, clock, fleet, maxBytes }: SetAsideDeps,
  source: SourceIdentity,
  part: Part,
  refusal: Refusal,
  tries: number,
): Promise<DeadLetter | undefined> {
  const id = letterId(source.name, part);
  const content = JSON.stringify(keptOf(part.message, source, maxBytes));
  const [known] = await letters.get('in', source.name, [id]);
  // The bus brings it again when its acknowledgement was lost, or when others of its batch must wait.
  if (known !== undefined && known.code === refusal.code && isSame(known.content, content)) return undefined;
  const now = clock.now();
  const letter: DeadLetter = {
    direction: 'in',
    endpoint: source.name,
    id,
    type: textAt(part.json, 'type'),
    subject: textAt(part.json, 'subject'),
    reason: refusal.reason,
    code: refusal.code,
    response: null,
    at: now,
    tries,
    redriven: 0,
    content,
  };
  const event = commandRefusedEvent(
    fleet,
    {
      endpoint: source.name,
      letter: id,
      code: refusal.code,
      reason: refusal.reason,
      id: textAt(part.json, 'id'),
      source: textAt(part.json, 'source'),
      type: textAt(part.json, 'type'),
    },
    now,
  );
  await letters.put(letter, event);
  return letter;
}

/** The same message; it may have come from another place. */
function isSame(a: string, b: string): boolean {
  const [one, other] = [a, b].map((json) => JSON.parse(json) as Kept);
  return one?.body === other?.body && JSON.stringify(one?.attributes) === JSON.stringify(other?.attributes);
}
