/** A queue whose jobs executors or aggregators take. */
export type WorkQueueName = 'pure' | 'runner' | 'decide';

/** How much waits in one queue of one shard. */
export interface QueueBacklog {
  queue: WorkQueueName;
  shard: number;
  /** Jobs that nobody has taken yet, those of large batches included. */
  waiting: number;
  /** Jobs in hand. */
  active: number;
  /** Jobs that wait for a time: tries again, and those that were put off. */
  delayed: number;
  /** Milliseconds until the first of these may be taken, 0 when its time has come; undefined: there is none. */
  dueMs: number | undefined;
  /** Jobs that were ever added: what has left the queue follows from it. */
  added: number;
  /** Milliseconds since the oldest waiting job was added; undefined: none waits. */
  oldestMs: number | undefined;
}

/** What waits in the queues of a fleet. */
export interface Backlog {
  read(): Promise<QueueBacklog[]>;
  /**
   * Resolves when work has arrived in one of these queues since the last call (the first call: since the
   * port was opened), or after `timeoutMs`. Takes nothing away from those who do the work.
   */
  arrival(queues: readonly WorkQueueName[], timeoutMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
