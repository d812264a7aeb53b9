import { sha256 } from './digest.js';

/** An event on its way out: the CloudEvent as JSON, made once and never again (DESIGN 7). */
export interface OutboxEvent {
  id: string;
  type: string;
  json: string;
}

export const EVENT_PREFIX = 'dev.sluice.';
export const EVENT_VERSION = '.v1';

/** Every event of this version, without prefix and version (DESIGN 7). */
export const EVENT_NAMES = [
  'evaluation.accepted',
  'evaluation.unserved',
  'evaluation.passed',
  'evaluation.failed',
  'advisory.raised',
  'validation.failed',
  'validation.errored',
  'batch.progressed',
  'batch.completed',
  'delivery.dead',
  'delivery.disabled',
  'command.refused',
  'plan.gate.passed',
  'plan.retry.requested',
  'plan.revision.requested',
  'plan.escalated',
  'plan.failed',
  'plan.applied',
  'plan.cancelled',
  'plan.phase.changed',
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** What happened to which aggregate; becomes a CloudEvent. */
export interface EventInput {
  fleet: string;
  name: EventName;
  /** Evaluation, plan or batch id. */
  subject: string;
  /** Revision of the aggregate (or the check's id): same aggregate, revision and name, same id. */
  revision: string;
  /** Position in the life of the aggregate, as CloudEvents' `sequence`. */
  sequence: number;
  correlation?: string;
  causation?: string;
  /** Where evidence lies that was left out of `data`: a URI reference. */
  dataref?: string;
  /** Milliseconds since the epoch. */
  time: number;
  data: Record<string, unknown>;
}

/** Id of an event: a hash of aggregate, revision and name, so that a repeat is the same event (DESIGN 5.4). */
export function eventId(subject: string, revision: string, name: string): string {
  return sha256(`${subject}\u0000${revision}\u0000${name}`).slice(0, 32);
}

let lastTime = Number.NaN;
let lastText = '';

/** The events of a chunk have one time: it is put into words once. */
function timeText(time: number): string {
  if (time !== lastTime) {
    lastTime = time;
    lastText = new Date(time).toISOString();
  }
  return lastText;
}

/** A CloudEvents 1.0 event in JSON format; extensions in `[a-z0-9]` only (DESIGN 7). */
export function makeEvent(input: EventInput): OutboxEvent {
  return makeEventOf(input, JSON.stringify(input.data));
}

/**
 * As `makeEvent`, of data that is JSON already. Put together by hand: every evaluation has two events, and a
 * serialiser would walk through an object that is made for it alone.
 */
export function makeEventOf(input: Omit<EventInput, 'data'>, dataText: string): OutboxEvent {
  const id = eventId(input.subject, input.revision, input.name);
  const type = EVENT_PREFIX + input.name + EVENT_VERSION;
  const subject = JSON.stringify(input.subject);
  const { correlation, causation, dataref } = input;
  const json =
    `{"specversion":"1.0","id":"${id}","source":${JSON.stringify(`/sluice/${input.fleet}`)},"type":"${type}",` +
    `"subject":${subject},"time":"${timeText(input.time)}","datacontenttype":"application/json",` +
    `"partitionkey":${subject},"sequence":"${input.sequence}",` +
    (correlation === undefined ? '' : `"correlationid":${JSON.stringify(correlation)},`) +
    (causation === undefined ? '' : `"causationid":${JSON.stringify(causation)},`) +
    (dataref === undefined ? '' : `"dataref":${JSON.stringify(dataref)},`) +
    `"data":${dataText}}`;
  return { id, type, json };
}
