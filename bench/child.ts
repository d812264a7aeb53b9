import { pino } from 'pino';
import { configSchema } from '../config/schema.js';
import { openFleet } from '../src/compose.js';
import { startExecutor } from '../workers/executor.js';
import { untilTold } from '../workers/lifecycle.js';
import { runRawChecks } from './raw-flows.js';

const [kind, url = '', fleet = ''] = process.argv.slice(2);
const log = pino({ level: 'warn' }, pino.destination(2));

async function start(): Promise<() => Promise<void>> {
  if (kind === 'raw') {
    const worker = runRawChecks(url);
    await worker.waitUntilReady();
    return () => worker.close();
  }
  const engine = await openFleet(configSchema.parse({ fleet }), url, log);
  const role = await startExecutor(engine);
  return async () => {
    await role.stop();
    await engine.close();
  };
}

const stop = await start();
process.send?.('ready');
await untilTold();
await stop();
process.exit(0);
