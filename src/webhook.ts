import { timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { decodeMessage } from './core/cloud-events.js';
import type { EventName } from './core/events.js';
import { decodeAttribute, HEADER_PREFIX, isCloudEvent } from './core/http-binding.js';
import { formatProblem } from './core/problem.js';

/** `type` of every event that Sluice sends. */
export type CloudEventType = `dev.sluice.${EventName}.v1`;

/** A CloudEvent 1.0 in JSON format. */
export interface CloudEvent<Data = Record<string, unknown>> {
  specversion: '1.0';
  /** The same when the event comes again: drop what you have had. */
  id: string;
  source: string;
  type: CloudEventType;
  /** Id of the evaluation, plan or batch. */
  subject?: string;
  /** ISO 8601, UTC. */
  time?: string;
  datacontenttype?: string;
  data?: Data;
  /** Extensions, such as `sequence` and `correlationid`. */
  [attribute: string]: unknown;
}

/**
 * `missing_header`: it is not signed; `bad_timestamp`: its time is none; `too_old`, `too_new`: it was signed
 * longer ago, or later, than is tolerated; `no_match`: none of the secrets signed it; `bad_secret`: a secret
 * is none of Standard Webhooks; `bad_body`: it is signed, but holds no CloudEvents.
 */
export type WebhookErrorCode =
  | 'missing_header'
  | 'bad_timestamp'
  | 'too_old'
  | 'too_new'
  | 'no_match'
  | 'bad_secret'
  | 'bad_body';

/** A request that must not be believed. Answer it with 401, or 400 where the code is `bad_body`. */
export class WebhookVerificationError extends Error {
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.code = code;
  }
}

/** Headers as Node and Express have them, or as `fetch` has them. */
export type WebhookHeaders =
  | { get(name: string): string | null; forEach(each: (value: string, name: string) => void): void }
  | Record<string, string | readonly string[] | undefined>;

export interface WebhookRequest {
  /** The body as it came: text that was parsed and put together again has another signature. */
  body: string | Uint8Array;
  headers: WebhookHeaders;
  /** `whsec_…`; more than one while they are rotated. */
  secrets: string | readonly string[];
  /** How long ago, or how far ahead, it may have been signed, in seconds. Default 300. */
  toleranceSeconds?: number;
}

const TOLERANCE_SECONDS = 300;
const MOST_BYTES = 64 * 2 ** 20;

/** Headers by their names in lower case. */
function read(headers: WebhookHeaders): Map<string, string> {
  const found = new Map<string, string>();
  if (typeof headers.get === 'function') {
    (headers as Headers).forEach((value, name) => {
      found.set(name.toLowerCase(), value);
    });
    return found;
  }
  for (const [name, value] of Object.entries(headers as Record<string, string | readonly string[]>))
    if (value !== undefined)
      found.set(name.toLowerCase(), typeof value === 'string' ? value : value.join(','));
  return found;
}

/** Throws when the time of signing is none, or too far away. Milliseconds since the epoch. */
function signedAt(text: string, tolerance: number): Date {
  if (!/^\d{1,12}$/.test(text))
    throw new WebhookVerificationError('bad_timestamp', 'webhook-timestamp is no time in seconds');
  const age = Math.floor(Date.now() / 1000) - Number(text);
  if (age > tolerance)
    throw new WebhookVerificationError(
      'too_old',
      `it was signed ${age} seconds ago; ${tolerance} are allowed`,
    );
  if (-age > tolerance)
    throw new WebhookVerificationError(
      'too_new',
      `it was signed ${-age} seconds ahead of this clock; ${tolerance} are allowed`,
    );
  return new Date(Number(text) * 1000);
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function signerOf(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch {
    throw new WebhookVerificationError('bad_secret', 'a secret is not whsec_ and base64');
  }
}

function textOf(body: string | Uint8Array): string {
  if (typeof body === 'string') return body;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new WebhookVerificationError('bad_body', 'the body is not valid UTF-8');
  }
}

function verified({ secrets, toleranceSeconds }: WebhookRequest, headers: Map<string, string>, body: string) {
  const wanted = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const missing = wanted.filter((name) => !headers.get(name));
  if (missing.length > 0)
    throw new WebhookVerificationError('missing_header', `the request lacks ${missing.join(', ')}`);
  const [id = '', timestamp = '', signature = ''] = wanted.map((name) => headers.get(name));
  const at = signedAt(timestamp, toleranceSeconds ?? TOLERANCE_SECONDS);
  const given = signature.split(' ');
  const live = [secrets].flat();
  if (live.length === 0)
    throw new WebhookVerificationError('bad_secret', 'there is no secret to verify with');
  const expected = live.map((secret) => signerOf(secret).sign(id, at, body));
  // Each is compared with each, whatever came before: nothing is learnt from the time that it takes.
  const matches = expected.flatMap((own) => given.filter((other) => isSame(own, other)));
  if (matches.length === 0)
    throw new WebhookVerificationError('no_match', 'none of the secrets made this signature');
  return id;
}

/**
 * Verifies a request of Sluice's webhooks by Standard Webhooks and returns its CloudEvents, whichever mode
 * they came in. Throws WebhookVerificationError, with a stable `code`. In binary mode the signature covers
 * data and id alone; the other attributes are headers that nothing signs.
 */
export function verifyWebhook<Data = Record<string, unknown>>(request: WebhookRequest): CloudEvent<Data>[] {
  const headers = read(request.headers);
  const text = textOf(request.body);
  const id = verified(request, headers, text);
  const attributes: Record<string, string> = {};
  for (const [name, value] of headers)
    if (name.startsWith(HEADER_PREFIX)) attributes[name.slice(HEADER_PREFIX.length)] = decodeAttribute(value);
  const contentType = headers.get('content-type');
  const message = decodeMessage(
    {
      body: new TextEncoder().encode(text),
      attributes,
      ...(contentType === undefined ? {} : { contentType }),
    },
    { maxBytes: MOST_BYTES },
  );
  const problems = message.ok ? message.refused.flatMap((each) => each.problems) : message.problems;
  if (!message.ok || problems.length > 0)
    throw new WebhookVerificationError(
      'bad_body',
      `the body holds no CloudEvents: ${problems.map(formatProblem).join('; ')}`,
    );
  const [first] = message.events;
  if (message.events.length === 1 && !message.isBatch && first?.id !== id)
    throw new WebhookVerificationError('bad_body', 'webhook-id is not the id of the event');
  // Headers are not signed: events of a body must not pass as the data of another that headers tell of.
  if (first !== undefined && [first.data].flat().some(isCloudEvent))
    throw new WebhookVerificationError('bad_body', 'the data of the event are events themselves');
  return message.events.map(({ json }) => json as unknown as CloudEvent<Data>);
}
