import { runChild } from '../harness/in-child.js';
import { rawChecks } from '../peers/raw-flows.js';

await runChild<{ url: string }>(async ({ url }) => {
  const worker = rawChecks(url);
  await worker.waitUntilReady();
  return { answer: () => process.cpuUsage(), stop: () => worker.close() };
});
