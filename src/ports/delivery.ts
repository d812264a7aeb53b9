/** What is left of a delivery after one try. */
export interface DeliveryRest {
  positions: string[];
  reason: string;
  /** Milliseconds that the receiver asked us to wait. */
  retryAfterMs?: number;
}

/** Bringing the outbox to one sink, step by step; a queue decides when which step is taken. */
export interface SinkDelivery {
  /** Name of the reader of the outbox: the same sink keeps its place over restarts. */
  readonly name: string;
  /**
   * Claims what is new and hands it over; returns how many entries it took. Handing over may happen
   * twice for the same entries, never not at all.
   */
  claim(consumer: string, waitMs: number, hand: (positions: string[]) => Promise<void>): Promise<number>;
  /** Delivers the entries at these positions; undefined when every one has arrived. */
  deliver(positions: readonly string[]): Promise<DeliveryRest | undefined>;
  /** Sets aside what could not be delivered, so that it holds up nothing behind it. */
  giveUp(rest: DeliveryRest): Promise<void>;
  close(): Promise<void>;
}
