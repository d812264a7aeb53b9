import type { WorkQueueName } from '../ports/backlog.js';
import type { SinkState } from '../ports/dead-letters.js';
import type { RoleName } from '../ports/store.js';

export const QUEUE_NAMES = ['pure', 'runner', 'decide'] as const satisfies readonly WorkQueueName[];
export const ROLE_NAMES = [
  'worker',
  'aggregator',
  'dispatcher',
  'sweeper',
  'server',
  'autoscaler',
] as const satisfies readonly RoleName[];
export const SINK_STATES = [
  'delivering',
  'away',
  'disabled',
] as const satisfies readonly SinkState['state'][];
export const LETTER_DIRECTIONS = ['out', 'in'] as const;
