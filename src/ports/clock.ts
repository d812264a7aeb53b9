/** The time, as an argument. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}
