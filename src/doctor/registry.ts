import type { DoctorCheck } from './check.js';
import { ansibleCheck } from './checks/ansible.js';
import { bubblewrapCheck } from './checks/bubblewrap.js';
import { diskCheck } from './checks/disk.js';
import { mcpCheck } from './checks/mcp.js';
import { nodeCheck } from './checks/node.js';
import { pluginsCheck } from './checks/plugins.js';
import { redisCheck } from './checks/redis.js';
import { redisServerCheck } from './checks/redis-server.js';
import { runnersCheck } from './checks/runners.js';
import { shardsCheck } from './checks/shards.js';
import { sinksCheck } from './checks/sinks.js';
import { sourcesCheck } from './checks/sources.js';

/** In the order of the report. */
export const DOCTOR_CHECKS: readonly DoctorCheck[] = [
  nodeCheck,
  redisCheck,
  redisServerCheck,
  shardsCheck,
  ansibleCheck,
  bubblewrapCheck,
  mcpCheck,
  pluginsCheck,
  runnersCheck,
  sinksCheck,
  sourcesCheck,
  diskCheck,
];
