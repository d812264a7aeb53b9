export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A delivery that is over. */
export interface DeliverySpan {
  /** W3C traceparent that the event carries. */
  parent: string;
  /** Milliseconds since the epoch. */
  from: number;
  to: number;
  attributes: SpanAttributes;
  /** Why it did not arrive. */
  failure?: string | undefined;
}

/** Follows work from process to process. Where nobody asks for traces there is none. */
export interface Tracer {
  /**
   * Runs work in a span of its own. It continues `parent`, a W3C traceparent, where there is one; else the
   * span around it; else a trace begins. A parent that cannot be read counts as none.
   */
  span<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>, parent?: string): Promise<T>;
  /** Runs work as a part of what `parent` names. */
  within<T>(parent: string, work: () => Promise<T>): Promise<T>;
  /** W3C traceparent of the span that this work is part of; undefined: of none. */
  active(): string | undefined;
  /** Writes the span of an event's delivery. */
  delivered(span: DeliverySpan): void;
  /** Sends what was not sent yet, for two seconds at most. Does not throw. */
  close(): Promise<void>;
}
