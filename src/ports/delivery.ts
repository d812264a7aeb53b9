/** Entries of the outbox on their way to one sink, in the order in which they are to be tried. */
export interface DeliveryTask {
  positions: string[];
  /** Tries by which the sink refused each, by position; absent: none. */
  tries?: Record<string, number>;
  /** When the sink was last found away by each, by position, in milliseconds since the epoch. */
  awayAt?: Record<string, number>;
}

/** What is to be done with a delivery after one step. */
export type DeliveryStep =
  | { kind: 'done' }
  /** Each of these is to be delivered, after so many milliseconds; one at most of a sink that keeps order. */
  | { kind: 'again'; tasks: { task: DeliveryTask; afterMs: number }[] }
  /** Delivery ends here; the rest is to be kept for the next who starts. */
  | { kind: 'stopped'; task: DeliveryTask };

/** Waits until so many events may be sent; false: delivery ends, nothing may be sent. */
export type Pace = (events: number, signal: AbortSignal) => Promise<boolean>;

/** What is handed over at a time: of a sink that keeps order with the lane of its events. */
export interface DeliveryPage {
  positions: string[];
  /** 0 to LANES - 1. */
  lane?: number;
}

export interface ClaimSettings {
  /** Milliseconds to wait for something new. */
  waitMs: number;
  /** Milliseconds for which the one who claims in order keeps the lead. */
  leadMs: number;
  /** Nothing that was handed over waits to be delivered. */
  idle: boolean;
}

/** Bringing the outbox to one sink, step by step; a queue decides when which step is taken. */
export interface SinkDelivery {
  /** Name of the reader of the outbox: the same sink keeps its place over restarts. */
  readonly name: string;
  /** `subject`: lanes are delivered each in its order, one task at a time. */
  readonly order: 'none' | 'subject';
  /** Deliveries in hand at a time. */
  readonly concurrency: number;
  /** Events a second at most, of all dispatchers together; undefined: no limit. */
  readonly rate: number | undefined;
  /**
   * Claims what is new and hands it over; returns how many entries it took. Handing over may happen
   * twice for the same entries, never not at all. A sink that is away or disabled gets nothing new,
   * except what has waited too long: delivering that sets it aside.
   */
  claim(
    consumer: string,
    settings: ClaimSettings,
    hand: (pages: DeliveryPage[]) => Promise<void>,
  ): Promise<number>;
  /**
   * Waits until the sink may be tried, and delivers. What is refused for good, refused too often or has
   * waited too long at a sink that is away becomes a dead letter on the way.
   */
  deliver(task: DeliveryTask, signal: AbortSignal, pace: Pace): Promise<DeliveryStep>;
  /** Delivers dead letters once: those that arrive are letters no more. False: delivery ends, nothing was tried. */
  redeliver(letters: readonly string[], signal: AbortSignal, pace: Pace): Promise<boolean>;
  /** Takes nothing new; what waits for the sink comes back as `stopped`. */
  stop(consumer: string): Promise<void>;
  close(): Promise<void>;
}
