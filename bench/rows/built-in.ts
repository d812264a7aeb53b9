import type { Row } from '../harness/row.js';
import { batch, packingOff } from './batch.js';
import { inline } from './inline.js';
import { latency } from './latency.js';
import { sandbox } from './sandbox.js';
import { sinks } from './sinks.js';

/** All rows, in the order in which they are measured. */
export const ROWS: readonly Row[] = [batch, packingOff, latency, inline, sinks, sandbox];
