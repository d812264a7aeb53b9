import { ensurePrivateRedis } from '../../src/embedded/private-redis.js';

// A user of the private Redis in a process of its own: says what it got and stays until it is killed.
const redis = await ensurePrivateRedis({ dir: process.argv[2] ?? '.sluice', env: process.env });
process.stdout.write(`${JSON.stringify(redis)}\n`);
setInterval(() => {}, 60_000);
