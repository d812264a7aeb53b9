import type { Command } from 'commander';
import type { AutoscaleOptions } from './commands/autoscale.js';
import { example, fleetOptions, metricsOption, type Outcome } from './program-parts.js';

/** Workers on demand. */
export function addAutoscale(program: Command, outcome: Outcome): void {
  const command = program
    .command('autoscale')
    .summary('run workers on this machine as the work needs them, from none')
    .description(
      'Starts worker processes when work waits, ends them when it does not, and starts others in the place of those ' +
        'that end by themselves. Aggregator and sweeper run beside it. One process is kept loaded, so that a worker begins ' +
        'at once; it costs about 90 MB of memory (--warm 0: none, and a worker begins about a second later). On SIGTERM or ' +
        'Ctrl-C its workers finish what they have in hand, and end with it.',
    )
    .option('--min <n>', 'workers that are kept when there is nothing to do (default: 0)')
    .option('--max <n>', 'most workers (default: the cores of this machine)')
    .option('--idle <duration>', 'how long fewer must have sufficed before some are ended (default: 30s)')
    .option(
      '--target-age <duration>',
      'how long the oldest check may wait before some are added (default: 2s)',
    )
    .option('--warm <n>', 'loaded processes that wait to be workers (default: 1)')
    .option('--listen <host:port>', 'serve GET /scale there: how many workers are wanted; port 0: a free one')
    .option('--json', 'print what runs as JSON');
  fleetOptions(metricsOption(command)).action(async (options: AutoscaleOptions) => {
    const { autoscale } = await import('./commands/autoscale.js');
    outcome.exitCode = await autoscale(options);
  });
  example(command, 'sluice autoscale --redis redis://127.0.0.1:6379 --min 0 --max 4 --idle 30s');
}
