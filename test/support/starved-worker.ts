import { closeSync, openSync } from 'node:fs';
import { LocalProcesses } from '../../src/runners/process/processes.js';

/** Opens files until no descriptor is left; closes them. */
function starved(): () => void {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    return () => {
      for (const each of taken) closeSync(each);
    };
  }
}

// A worker that has no descriptor left for what it starts, and then has some again; twice.
const processes = new LocalProcesses({
  sandbox: process.argv[2] === 'off' ? 'off' : 'bubblewrap',
  ...{ memoryMiB: 256, processes: 64, scratchMiB: 16, outputCap: 65_536, graceMs: 300, paths: ['/'] },
});
const run = () =>
  processes.run({ argv: ['true'], network: false, deadlineMs: 20_000 }, new AbortController().signal);
const outcomes: unknown[] = [];
for (let i = 0; i < 2; i++) {
  const feed = starved();
  outcomes.push(await run());
  feed();
  outcomes.push(await run());
}
console.log(JSON.stringify(outcomes));
