/** The thread in which functions run: takes a task, answers, says when it takes the next. */
import { parentPort } from 'node:worker_threads';
import type { FromThread, Task } from './messages.js';
import { Sandbox } from './sandbox.js';

const sandbox = new Sandbox();

function say(message: FromThread): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', async (task: Task) => {
  say({ kind: 'answer', answer: sandbox.run(task) });
  await sandbox.prepare();
  say({ kind: 'ready' });
});
await sandbox.prepare();
say({ kind: 'ready' });
