import { LETTER_DIRECTIONS, QUEUE_NAMES, ROLE_NAMES, SINK_STATES } from './label-values.js';

/** Upper bounds of the buckets of checks, in seconds: from a pattern to a playbook. */
const CHECK_SECONDS = [0.0001, 0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300];
/** … of packs, decisions and deliveries. */
const WORK_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300];
/** … of round trips to Redis. */
const REDIS_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5];
const PACK_SIZES = [1, 2, 4, 8, 16, 32, 64, 128];

/** A metric with all its series. */
export interface Family {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  /** One sentence; also the text of the documentation. */
  help: string;
  labels: readonly string[];
  /** Upper bounds, of a histogram alone. */
  buckets?: readonly number[];
  /** `process`: what this process did; `fleet`: read from Redis when somebody asks. */
  of: 'process' | 'fleet';
}

const counter = (name: string, help: string, ...labels: string[]) =>
  ({ name, type: 'counter', help, labels, of: 'process' }) as const satisfies Family;

const histogram = (name: string, help: string, buckets: readonly number[], ...labels: string[]) =>
  ({ name, type: 'histogram', help, labels, buckets, of: 'process' }) as const satisfies Family;

const gauge = (name: string, help: string, ...labels: string[]) =>
  ({ name, type: 'gauge', help, labels, of: 'fleet' }) as const satisfies Family;

const or = (values: readonly string[]) => `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
const queue = `queue: ${or(QUEUE_NAMES)}`;

/** What processes count of their own work. */
export const PROCESS = {
  checks: counter(
    'sluice_checks_total',
    'Checks that were run, by outcome and by built-in validator or source of the tool',
    'outcome',
    'validator',
  ),
  checkSeconds: histogram(
    'sluice_check_duration_seconds',
    'Time of one check, by what performs it',
    CHECK_SECONDS,
    'kind',
  ),
  packs: counter(
    'sluice_packs_total',
    'Runs of packs, by what became of them: done, split, unserved or limited (put off), retried or failed',
    'queue',
    'end',
  ),
  packSeconds: histogram('sluice_pack_duration_seconds', 'Time of one run of a pack', WORK_SECONDS, 'queue'),
  packSize: histogram('sluice_pack_evaluations', 'Evaluations in one pack', PACK_SIZES),
  decisions: counter('sluice_decisions_total', 'Decisions: passed, failed or errored', 'status'),
  decideSeconds: histogram(
    'sluice_decide_duration_seconds',
    'Time in which the aggregator decides one chunk of evaluations',
    WORK_SECONDS,
  ),
  accepted: counter('sluice_evaluations_accepted_total', 'Evaluations that were accepted'),
  deliveries: counter(
    'sluice_deliveries_total',
    'Events that a sink took (delivered), will be offered again (retried), or that became dead letters (dead)',
    'sink',
    'kind',
    'result',
  ),
  deliverySeconds: histogram(
    'sluice_delivery_duration_seconds',
    'Time in which a sink takes what is handed to it at once, by kind of sink',
    WORK_SECONDS,
    'kind',
  ),
  retries: counter('sluice_retries_total', 'Jobs that failed and are run again', 'queue'),
  stalled: counter(
    'sluice_stalled_total',
    'Jobs that were taken from a process which stopped answering',
    'queue',
  ),
  redisSeconds: histogram(
    'sluice_redis_command_seconds',
    'Round trips of the store to Redis; one command in 16 is timed',
    REDIS_SECONDS,
  ),
  commands: counter(
    'sluice_commands_total',
    'Commands from outside: accepted, duplicate, refused (a dead letter), or later (they come again)',
    'result',
  ),
  requests: counter(
    'sluice_http_requests_total',
    'Answers of the HTTP API, by operation and class of the status: 2xx to 5xx',
    'operation',
    'status_class',
  ),
  target: { ...gauge('sluice_autoscale_target', 'Workers that this autoscaler wants'), of: 'process' },
  build: {
    ...gauge(
      'sluice_build_info',
      'Always 1; says the version and the role of the process',
      'version',
      'role',
    ),
    of: 'process',
  },
} as const satisfies Record<string, Family>;

/** What is read from Redis; every process that shows it shows the same. */
export const FLEET = {
  waiting: gauge('sluice_queue_waiting', `Jobs that nobody has taken yet (${queue})`, 'queue', 'shard'),
  active: gauge('sluice_queue_active', 'Jobs in hand', 'queue', 'shard'),
  delayed: gauge(
    'sluice_queue_delayed',
    'Jobs that wait for a time: to be tried again, or for a worker that serves them',
    'queue',
    'shard',
  ),
  oldest: gauge(
    'sluice_queue_oldest_seconds',
    'Age of the oldest job that nobody has taken yet; 0 when none waits',
    'queue',
    'shard',
  ),
  chunks: gauge('sluice_open_evaluations_chunks', 'Chunks of evaluations that are not decided yet'),
  outbox: gauge(
    'sluice_outbox_entries',
    'Events in the outbox, delivered ones that are still kept included',
    'shard',
  ),
  undelivered: gauge(
    'sluice_outbox_oldest_undelivered_seconds',
    'Age of the oldest event that a sink has not taken yet; 0 when it has taken all',
    'sink',
  ),
  sinkState: gauge(
    'sluice_sink_state',
    `1 for the state that a sink is in, 0 for the others (state: ${or(SINK_STATES)})`,
    'sink',
    'state',
  ),
  letters: gauge('sluice_dead_letters', `Dead letters (direction: ${or(LETTER_DIRECTIONS)})`, 'direction'),
  workers: gauge('sluice_workers', `Processes that are alive (role: ${or(ROLE_NAMES)})`, 'role'),
  wanted: gauge('sluice_workers_wanted', 'Workers that the work at hand asks for'),
  memory: gauge('sluice_redis_used_memory_bytes', 'Memory that Redis uses'),
  maxMemory: gauge('sluice_redis_max_memory_bytes', 'Memory that Redis may use; 0: no limit'),
  up: gauge(
    'sluice_redis_up',
    '1 when Redis answered; 0: it did not, and other metrics of the fleet are missing',
  ),
} as const satisfies Record<string, Family>;

/** Every metric of Sluice, in the order of the page and of the documentation. */
export const FAMILIES: readonly Family[] = [...Object.values(PROCESS), ...Object.values(FLEET)];
