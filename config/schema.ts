import { z } from 'zod';
import { autoscaleSettings } from './autoscale.js';
import { backpressureSettings } from './backpressure.js';
import { busSettings } from './buses.js';
import { fairnessSettings } from './fairness.js';
import { count, duration, LONGEST_KEPT, place } from './fields.js';
import { limitSettings } from './limits.js';
import { metricsSettings } from './metrics.js';
import { retentionSettings } from './retention.js';
import { shardSettings } from './shards.js';
import { telemetrySettings } from './telemetry.js';

export { LONGEST_KEPT } from './fields.js';

const names = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string());

const mcpServer = z.union([
  z.strictObject({
    command: z
      .array(z.string().min(1))
      .min(1)
      .describe('Program and arguments; speaks over stdin and stdout'),
    env: names.default({}).describe('Variables of its environment'),
    env_from: names
      .default({})
      .describe('Variables whose values are taken from variables of the worker, by name'),
    network: z.boolean().default(false).describe('It needs the network'),
    paths: z.array(place).default([]).describe('Files and folders of the host that it reads'),
    sessions: z.number().int().min(1).max(32).default(1).describe('Servers that one worker keeps at a time'),
  }),
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }).describe('Streamable HTTP endpoint'),
    headers: z.record(z.string(), z.string()).default({}).describe('Headers of each request'),
    headers_from: z
      .record(z.string(), z.string())
      .default({})
      .describe('Headers whose values are taken from variables of the worker'),
    sessions: z.number().int().min(1).max(32).default(1).describe('Sessions that one worker keeps at a time'),
  }),
]);

const plugin = z
  .union([z.string().min(1), z.strictObject({ module: z.string().min(1), network: z.boolean() })], {
    error: 'expected a module, or {module, network}',
  })
  .transform((given) => (typeof given === 'string' ? { module: given, network: false } : given));

/** What an operator may set, in a YAML or JSON file; every key has a default. */
export const configSchema = z.strictObject({
  fleet: z
    .string()
    .regex(/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/, 'expected a letter, then letters, digits, _ or -; 64 at most')
    .default('sluice')
    .describe('Name of the installation; prefixes every key, so that several share a Redis'),
  redis: z.string().optional().describe('redis:// or rediss:// URL of the fleet’s Redis'),
  redis_durability: z
    .enum(['any', 'always'])
    .default('any')
    .describe(
      'always: only a Redis that has every write on disk before it answers (appendonly yes, appendfsync always)',
    ),
  evaluation: z
    .strictObject({
      deadline: duration('24h', LONGEST_KEPT).describe('What has no result by then is decided as an error'),
      retention: duration('24h', LONGEST_KEPT).describe(
        'How long decided evaluations and their subjects are kept; of a batch, from its completion on',
      ),
      informational_errors: z
        .enum(['ignore', 'block'])
        .default('ignore')
        .describe('Whether an error in an informational rule closes the compliance gate'),
      require_enforced: z
        .boolean()
        .default(false)
        .describe('Whether a required check passes only where something kept it from writing'),
    })
    .prefault({}),
  worker: z
    .strictObject({
      concurrency: count(4).describe(
        'Packs of pure checks that one worker has in hand; more when they are small',
      ),
      runner_concurrency: count(2, 0).describe(
        'Checks with a runner that one worker runs at a time; 0: none',
      ),
      tries: count(3).describe('Runs of a check before infrastructure trouble makes it an error'),
      drain: duration('20s').describe('How long a worker finishes what it has in hand when told to stop'),
      lock: duration('15s').describe('How long a worker may be silent before its jobs go to another'),
      stalled_interval: duration('5s').describe('How often to look for such jobs'),
      max_stalls: count(20, 5).describe('Times that a job may be taken from a silent worker'),
      poisonous_after: count(5).describe('Stalls after which a single check is given up as an error'),
      unserved: z
        .enum(['wait', 'error'])
        .default('wait')
        .describe(
          'What becomes of a check that this worker has no runner for: another worker may take it until its deadline, or it is an error at once',
        ),
    })
    .prefault({}),
  plans: z
    .strictObject({
      fixes: count(3, 0).describe('Fixes that a failed plan may try under one strategy'),
      revisions: count(3, 0).describe('Revisions of the strategy after that'),
      escalations: count(1, 0).describe('Escalations to a person that may be answered with a retry'),
      error_retries: count(2, 0).describe('Evaluations again of what failed by errors alone'),
      require_validations: z
        .boolean()
        .default(false)
        .describe('Whether a resource without any validation keeps the gate shut'),
      require_enforced: z
        .boolean()
        .default(false)
        .describe('Whether a required check passes only where something kept it from writing'),
      deadlines: z
        .strictObject({
          strategize: duration('24h', LONGEST_KEPT).describe('How long a plan waits for its strategy'),
          execute: duration('24h', LONGEST_KEPT).describe('… for its execution'),
          fix: duration('24h', LONGEST_KEPT).describe('… for a fix'),
          escalated: duration('7d', LONGEST_KEPT).describe('… for a person’s answer'),
        })
        .prefault({}),
      retention: duration('30d', LONGEST_KEPT).describe(
        'How long ended plans, their history and evidence are kept',
      ),
    })
    .prefault({}),
  aggregator: z.strictObject({ concurrency: count(4).describe('Decisions in hand at a time') }).prefault({}),
  patterns: z
    .strictObject({
      deadline: duration('5s').describe('Longest search of one pattern in one text'),
    })
    .prefault({}),
  sandbox: z
    .enum(['bubblewrap', 'container', 'off'])
    .default('bubblewrap')
    .describe(
      'What keeps commands, playbooks and local MCP servers from writing: bubblewrap; the worker’s own read-only container; or nothing. With the first alone results may say that it was enforced',
    ),
  runners: z
    .strictObject({
      memory: count(1024, 16).describe('MiB of memory that each process of a tool may use'),
      processes: count(128, 4).describe('Processes and threads of one run of a tool'),
      scratch: count(64).describe('MiB that a run may write in its private folders'),
      output_cap: count(1_048_576, 1024).describe('Bytes of each output stream that are kept, head and tail'),
      grace: duration('2s', '60s').describe('How long a tool has between SIGTERM and SIGKILL'),
      paths: z
        .array(place)
        .default(['/'])
        .describe('Folders of this host in which the paths that tools declare must lie'),
    })
    .prefault({}),
  ansible: z
    .strictObject({
      deadline: duration('5m').describe('Longest run of a playbook'),
      output_cap: count(1_048_576).describe('Bytes of output that are kept, head and tail'),
      vault_password_file: place
        .optional()
        .describe('File with the password of Ansible vaults, on the worker'),
      private_key_file: place.optional().describe('SSH key for remote hosts, on the worker'),
      known_hosts_file: place
        .optional()
        .describe('Host keys of remote hosts, on the worker; without it keys are accepted when first seen'),
    })
    .prefault({}),
  mcp_servers: z
    .record(z.string().regex(/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/), mcpServer)
    .default({})
    .describe('MCP servers that tools with source mcp may name'),
  plugins: z
    .array(plugin)
    .default([])
    .describe(
      'Compiled modules with validations of the operator’s own: paths, or names of packages; as {module, network: true} with the network',
    ),
  sweeper: z
    .strictObject({
      every: duration('5s').describe('How often to look for what is stuck'),
      check_after: duration('30s').describe('When an undecided evaluation is first looked at, and again'),
    })
    .prefault({}),
  outbox: z
    .strictObject({
      cap: count(1_000_000).describe('Undelivered events above which intake stops'),
      keep: duration('24h', LONGEST_KEPT).describe('How long delivered events are kept for `events tail`'),
      keep_count: count(500_000).describe('… and how many of them'),
    })
    .prefault({}),
  events: z
    .strictObject({
      per_check: z.boolean().default(false).describe('Also emit validation.failed and validation.errored'),
    })
    .prefault({}),
  ...shardSettings,
  ...busSettings,
  ...retentionSettings,
  ...autoscaleSettings,
  ...backpressureSettings,
  ...fairnessSettings,
  ...limitSettings,
  ...metricsSettings,
  ...telemetrySettings,
});

export type Config = z.output<typeof configSchema>;
