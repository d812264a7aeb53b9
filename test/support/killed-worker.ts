import { once } from 'node:events';
import { LocalProcesses } from '../../src/runners/process/processes.js';
import { SETTINGS } from './sandboxed.js';

// A worker in the middle of a run, part of which hides from its process group, until it is killed.
const open = await new LocalProcesses(SETTINGS).open({
  argv: ['sh', '-c', 'setsid sleep 4715 & echo up; sleep 4715'],
  files: new Map([['file', Buffer.from('left behind')]]),
  network: false,
});
if ('kind' in open) throw new Error(open.message);
await once(open.stdout, 'data');
console.log('running');
