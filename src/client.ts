import { type DeliveryClient, deliveryClient } from './client/delivery.js';
import { type EvaluationClient, evaluationClient } from './client/evaluations.js';
import { type EventOptions, type EventStream, followEvents } from './client/events.js';
import { type PlanClient, planClient } from './client/plans.js';
import { type RegistryClient, registryClient } from './client/registry.js';
import { type CallOptions, type ClientOptions, Transport } from './client/transport.js';
import type { CloudEventInput, CommandResults, EventsPage } from './client/types.js';

export type { DeliveryClient, LetterOptions } from './client/delivery.js';
export { ClientError, type ClientProblem } from './client/error.js';
export type { DecidedEvaluation, EvaluationClient, WaitOptions } from './client/evaluations.js';
export type { EventGap, EventOptions, EventStream } from './client/events.js';
export type { PlanClient } from './client/plans.js';
export type { DocumentsOptions, PageOptions, RegistryClient } from './client/registry.js';
export type { CallOptions, ChangeOptions, ClientOptions } from './client/transport.js';
export type * from './client/types.js';
export type { Runs, UploadOptions } from './client/uploads.js';

export interface EventPageOptions extends CallOptions {
  type?: readonly string[];
  batch?: string;
  plan?: string;
  evaluation?: string;
  from?: 'now' | 'oldest';
  /** `cursor` of the page before. */
  cursor?: string;
  /** Events of a page, at most 1,000; default 100. */
  limit?: number;
}

/**
 * The HTTP API of a fleet. Every method of an operation has its name; what it throws is a ClientError.
 * A call that changes something carries an idempotency key, so that its own tries are one request.
 */
export interface Client extends EvaluationClient, PlanClient, RegistryClient, DeliveryClient {
  /** Events as they come, from now on unless `from` or `after` says otherwise. */
  events(options?: EventOptions): EventStream;
  /** A page of the events that are kept, the oldest first. */
  listEvents(options?: EventPageOptions): Promise<EventsPage>;
  /** Sends commands as CloudEvents: the same `source` and `id` are the same command. */
  sendEvents(
    events: CloudEventInput | readonly CloudEventInput[],
    options?: CallOptions,
  ): Promise<CommandResults>;
}

/** A client of the HTTP API. Throws a TypeError when the URL is none. */
export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options);
  return {
    ...evaluationClient(transport),
    ...planClient(transport),
    ...registryClient(transport),
    ...deliveryClient(transport),
    events: (wanted) => followEvents(transport, wanted),
    listEvents: ({ signal, ...query } = {}) =>
      transport.read('/v1/events', { ...query, follow: false }, { signal }),
    sendEvents(events, { signal } = {}) {
      const mode = Array.isArray(events) ? 'cloudevents-batch' : 'cloudevents';
      const headers = { 'content-type': `application/${mode}+json` };
      return transport.json({ method: 'POST', path: '/v1/events', json: events, headers, signal });
    },
  };
}
