import { eventProblems, isExtension } from './cloud-event-attributes.js';
import { BATCHED_TYPE, STRUCTURED_TYPE } from './http-binding.js';
import { isPlainObject } from './json.js';
import { joinPath } from './json-path.js';
import { type Problem, show } from './problem.js';
import { childPath, scanJson } from './scenario/json-scan.js';

/** A message as a bus or an HTTP request brings it. */
export interface CloudEventMessage {
  body: Uint8Array;
  /** `application/cloudevents+json`, `application/cloudevents-batch+json`, or that of the data (binary mode). */
  contentType?: string;
  /** Attributes in binary mode, by their names without the prefix of the bus; empty in the other modes. */
  attributes: Readonly<Record<string, string>>;
}

/** A CloudEvent that came in. */
export interface CloudEventIn {
  /** Position in its message, from 0. */
  index: number;
  id: string;
  source: string;
  type: string;
  subject?: string;
  time?: string;
  datacontenttype?: string;
  dataschema?: string;
  extensions: Record<string, string | number | boolean>;
  /** JSON; of another type of content the text, or its base64. Absent: there is none. */
  data?: unknown;
  /** The event in JSON format, as it came; in binary mode put together. */
  json: Record<string, unknown>;
}

/** One event of a batch that is none. */
export interface RefusedEvent {
  index: number;
  problems: Problem[];
  /** What stands in its place. */
  json: unknown;
}

export interface MessageLimits {
  /** Bytes of the body. */
  maxBytes: number;
}

export type DecodedMessage =
  /** `refused`: only of a batch, whose other events are good all the same. */
  | { ok: true; isBatch: boolean; events: CloudEventIn[]; refused: RefusedEvent[] }
  | { ok: false; problems: Problem[] };

export const DEFAULT_LIMITS: MessageLimits = { maxBytes: 2 ** 20 };
/** Events of one batch: each that is bad becomes a dead letter. */
const MOST_EVENTS = 1000;
/** Problems that are told of one message or event; the rest are counted. */
const MOST_PROBLEMS = 100;

const JSON_TYPE = /^(?:[^\s/;]+\/(?:json|[^\s/;]+\+json)|text\/json)$/;

interface ContentType {
  /** Lower case, without parameters; empty: none was given. */
  media: string;
  charset: string | undefined;
}

function contentTypeOf(text = ''): ContentType {
  const [media = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  return { media, charset: charset?.replaceAll('"', '') };
}

/** Whether data of this content type is JSON; without one it is. */
export function isJsonType(contentType: string | undefined): boolean {
  const { media } = contentTypeOf(contentType);
  return media === '' || JSON_TYPE.test(media);
}

const refusedFor = (...problems: Problem[]): DecodedMessage => ({ ok: false, problems: capped(problems) });

function capped(problems: Problem[]): Problem[] {
  const more = problems.length - MOST_PROBLEMS;
  if (more <= 0) return problems;
  return [...problems.slice(0, MOST_PROBLEMS), { path: '', message: `and ${more} more problems` }];
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** A JSON text with everything that is wrong with it; `value` only where it can be parsed at all. */
function parsed(text: string): { value?: unknown; problems: Problem[] } {
  const { fatal, flaws } = scanJson(text);
  if (fatal !== undefined)
    return { problems: [{ path: '', message: `is not valid JSON: ${fatal.message}` }] };
  return { value: JSON.parse(text), problems: flaws.map(({ path, message }) => ({ path, message })) };
}

/**
 * Reads a message as CloudEvents 1.0: structured, a batch, or binary by its attributes. Never throws;
 * every problem is told at once, with its path (`[3].source` in a batch). A batch has its good events
 * and its bad ones, each with its position.
 */
export function decodeMessage(message: CloudEventMessage, limits = DEFAULT_LIMITS): DecodedMessage {
  const { body, attributes } = message;
  const { media, charset } = contentTypeOf(message.contentType);
  if (body.byteLength > limits.maxBytes)
    return refusedFor({
      code: 'TOO_LARGE',
      path: '',
      message: `has ${body.byteLength} bytes; ${limits.maxBytes} are allowed`,
    });
  if (media.startsWith('application/cloudevents') && media !== STRUCTURED_TYPE && media !== BATCHED_TYPE)
    return refusedFor({
      path: '',
      message: 'is in a format that is not known here',
      found: show(media),
      allowed: [STRUCTURED_TYPE, BATCHED_TYPE],
    });
  const isBinary = media !== STRUCTURED_TYPE && media !== BATCHED_TYPE && Object.keys(attributes).length > 0;
  if (isBinary) return binary(message);
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')
    return refusedFor({ path: '', message: 'must be in UTF-8', found: show(charset), allowed: ['utf-8'] });
  if (!isJsonType(media))
    return refusedFor({
      path: '',
      message: 'is no CloudEvent: it has no attributes of one, and its content type is another',
      found: show(media),
      allowed: [STRUCTURED_TYPE, BATCHED_TYPE],
    });
  return fromJson(body, media);
}

function fromJson(body: Uint8Array, media: string): DecodedMessage {
  const text = textOf(body);
  if (text === undefined) return refusedFor({ path: '', message: 'is not valid UTF-8' });
  if (text.trim() === '') return refusedFor({ path: '', message: 'is empty' });
  const { value, problems } = parsed(text);
  if (value === undefined) return refusedFor(...problems);
  if (media === STRUCTURED_TYPE || (media !== BATCHED_TYPE && !Array.isArray(value)))
    return single(value, problems);
  return batch(value, problems);
}

function single(value: unknown, flaws: Problem[]): DecodedMessage {
  const read = eventOf(value, 0, '');
  const problems = [...flaws, ...read.problems];
  if (read.event === undefined || problems.length > 0) return refusedFor(...problems);
  return { ok: true, isBatch: false, events: [read.event], refused: [] };
}

function batch(value: unknown, flaws: Problem[]): DecodedMessage {
  if (!Array.isArray(value))
    return refusedFor({ path: '', message: 'must be a list of CloudEvents', found: show(value) });
  if (value.length > MOST_EVENTS)
    return refusedFor({ path: '', message: `has ${value.length} events; ${MOST_EVENTS} are allowed` });
  const events: CloudEventIn[] = [];
  const refused: RefusedEvent[] = [];
  const own = flawsByEvent(flaws);
  value.forEach((json: unknown, index) => {
    const read = eventOf(json, index, `[${index}]`);
    const problems = [...(own.get(index) ?? []), ...read.problems];
    if (read.event !== undefined && problems.length === 0) events.push(read.event);
    else refused.push({ index, problems: capped(problems), json });
  });
  return { ok: true, isBatch: true, events, refused };
}

/** The flaws of each event of a batch, in one pass: a hostile body has a hundred thousand of them. */
function flawsByEvent(flaws: readonly Problem[]): Map<number, Problem[]> {
  const found = new Map<number, Problem[]>();
  for (const flaw of flaws) {
    const index = Number.parseInt(flaw.path.slice(1), 10);
    const own = found.get(index);
    if (own === undefined) found.set(index, [flaw]);
    else own.push(flaw);
  }
  return found;
}

/** In binary mode the body is the data, and its content type that of the data. */
function binary({ body, contentType, attributes }: CloudEventMessage): DecodedMessage {
  const json: Record<string, unknown> = Object.fromEntries(
    Object.entries(attributes).filter(([name]) => name !== 'datacontenttype'),
  );
  if (contentType !== undefined && contentType !== '') json.datacontenttype = contentType;
  const problems: Problem[] = [];
  for (const name of ['data', 'data_base64'])
    if (Object.hasOwn(json, name)) {
      problems.push({ path: name, message: 'is no attribute; the body is the data' });
      delete json[name];
    }
  const text = textOf(body);
  if (body.byteLength > 0 && isJsonType(contentType)) {
    const data = text === undefined ? undefined : parsed(text);
    if (data === undefined) problems.push({ path: 'data', message: 'is not valid UTF-8' });
    else {
      problems.push(...data.problems.map((each) => ({ ...each, path: joinPath('data', each.path) })));
      json.data = data.value;
    }
  } else if (body.byteLength > 0) {
    if (text === undefined) json.data_base64 = base64Of(body);
    else json.data = text;
  }
  return single(json, problems);
}

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** The data of an event that has no problem so far. */
function dataOf(json: Record<string, unknown>, at: string): { data?: unknown; problems: Problem[] } {
  const { data_base64: base64, datacontenttype } = json;
  if (typeof base64 !== 'string')
    return Object.hasOwn(json, 'data') ? { data: json.data, problems: [] } : { problems: [] };
  if (typeof datacontenttype === 'string' && !isJsonType(datacontenttype))
    return { data: base64, problems: [] };
  const path = childPath(at, 'data_base64');
  const text = textOf(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
  if (text === undefined) return { problems: [{ path, message: 'is not valid UTF-8' }] };
  const { value, problems } = parsed(text);
  return { data: value, problems: problems.map((each) => ({ ...each, path: joinPath(path, each.path) })) };
}

const OPTIONAL = ['subject', 'time', 'datacontenttype', 'dataschema'] as const;

function eventOf(json: unknown, index: number, at: string): { event?: CloudEventIn; problems: Problem[] } {
  const problems = eventProblems(json, at);
  if (problems.length > 0 || !isPlainObject(json)) return { problems };
  const found = dataOf(json, at);
  if (found.problems.length > 0) return { problems: found.problems };
  const event: CloudEventIn = {
    index,
    id: json.id as string,
    source: json.source as string,
    type: json.type as string,
    extensions: {},
    json,
  };
  for (const name of OPTIONAL) if (typeof json[name] === 'string') event[name] = json[name];
  for (const [name, value] of Object.entries(json))
    if (isExtension(name) && value !== null) event.extensions[name] = value as string | number | boolean;
  if (found.data !== undefined) event.data = found.data;
  return { event, problems: [] };
}
