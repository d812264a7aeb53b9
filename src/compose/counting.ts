import type { MetricsPage } from '../metrics/page.js';
import type { Recorder } from '../metrics/recorder.js';

/** What this process counts, and whether its page tells of the fleet too. */
export interface Counting {
  recorder: Recorder;
  ofFleet: boolean;
}

/** The page of this process. */
export interface Metrics {
  recorder: Recorder;
  page(): Promise<MetricsPage>;
  /** Before each page, others add what they have counted. */
  gatherFrom(others: () => Promise<void>): void;
  close(): Promise<void>;
}
