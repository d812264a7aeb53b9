import type { PageOptions } from './registry.js';
import { type CallOptions, segment, type Transport } from './transport.js';
import type { DropInput, Dropped, Letters, RedriveInput, Redriven, Sink, Sinks } from './types.js';

export interface LetterOptions extends PageOptions {
  /** Only of this sink. */
  sink?: string;
  /** Only of this source. */
  source?: string;
  /** Names such as evaluation.failed, or plan.* */
  type?: readonly string[];
  code?: string;
  /** ISO 8601: only set aside at or after. */
  since?: string;
  /** ISO 8601: only set aside before. */
  before?: string;
  id?: readonly string[];
}

/** Sinks, and what could not be delivered or taken. */
export interface DeliveryClient {
  /** The oldest first; a page may be empty while there are more. */
  listDeadLetters(options?: LetterOptions): Promise<Letters>;
  /** Delivers them again, and says what came of each. */
  redriveDeadLetters(given: RedriveInput, options?: CallOptions): Promise<Redriven>;
  dropDeadLetters(given: DropInput, options?: CallOptions): Promise<Dropped>;
  listSinks(options?: CallOptions): Promise<Sinks>;
  /** Delivers to a sink again that was disabled. */
  enableSink(sink: string, options?: CallOptions): Promise<Sink>;
}

export function deliveryClient(transport: Transport): DeliveryClient {
  return {
    listDeadLetters: ({ signal, ...query } = {}) => transport.read('/v1/dead-letters', query, { signal }),
    redriveDeadLetters: (given, options) =>
      transport.change('POST', '/v1/dead-letters/redrive', given, options),
    dropDeadLetters: (given, options) => transport.change('POST', '/v1/dead-letters/drop', given, options),
    listSinks: (options) => transport.read('/v1/sinks', undefined, options),
    enableSink: (sink, options) =>
      transport.change('POST', `/v1/sinks/${segment(sink)}/enable`, undefined, options),
  };
}
