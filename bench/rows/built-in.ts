import type { Row } from '../harness/row.js';
import { batch, packingOff } from './batch.js';
import { celery } from './celery.js';
import { fairness } from './fairness.js';
import { fromZero } from './from-zero.js';
import { graphile } from './graphile.js';
import { inline } from './inline.js';
import { large } from './large.js';
import { latency } from './latency.js';
import { million } from './million.js';
import { promptfoo } from './promptfoo.js';
import { sandbox } from './sandbox.js';
import { shards } from './shards.js';
import { sinks } from './sinks.js';
import { waiting } from './waiting.js';

/** All rows, in the order in which they are measured. */
export const ROWS: readonly Row[] = [
  batch,
  packingOff,
  promptfoo,
  celery,
  graphile,
  latency,
  inline,
  large,
  million,
  fairness,
  fromZero,
  waiting,
  shards,
  sinks,
  sandbox,
];
