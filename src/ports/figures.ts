/** How the store of a fleet stands, in numbers. */
export interface FleetFigures {
  /** Chunks that are not decided yet. */
  openChunks: number;
  /** Entries of each shard's outbox, delivered ones that are still kept included. */
  outbox: { shard: number; entries: number }[];
  /** When the oldest event that a sink has not taken was written, in milliseconds since the epoch. */
  undelivered: { sink: string; since: number | undefined }[];
  /** Bytes that Redis uses, and those that it may use; 0: no limit. */
  memory: { used: number; max: number };
}

/** Reads the figures; its cost does not grow with the work at hand. */
export interface Figures {
  /** Throws when Redis does not answer. */
  read(): Promise<FleetFigures>;
  close(): void;
}
