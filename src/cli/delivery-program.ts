import type { Command } from 'commander';
import type { LetterOptions } from './commands/letters.js';
import type { FleetOptions } from './options.js';
import { collect, example, fleetOptions, type Outcome } from './program-parts.js';

const letters = () => import('./commands/letters.js');
const sinks = () => import('./commands/sinks.js');

/** What tells which dead letters are meant. */
function letterFilter(command: Command): Command {
  return command
    .option('--sink <name>', 'only of this sink')
    .option('--source <name>', 'only of this source')
    .option('--type <name>', 'only this event, such as evaluation.failed or plan.* (repeatable)', collect)
    .option(
      '--code <word>',
      'only set aside for this reason, as the list shows it: refused, away, projection …',
    )
    .option('--since <duration>', 'only set aside within this time, such as 10m or 24h')
    .option('--before <duration>', 'only set aside longer ago than this')
    .option('--id <id>', 'only the one with this id (repeatable)', collect);
}

const json = (command: Command): Command => command.option('--json', 'print one JSON document');

function addLetters(program: Command, outcome: Outcome): void {
  const group = program
    .command('dead-letters')
    .summary('look after what could not be delivered or taken')
    .description('Events that a sink did not take, and messages of a source that are no commands.');

  const list = letterFilter(
    group
      .command('list')
      .summary('list dead letters, the oldest first')
      .description('Lists dead letters, the oldest first.'),
  )
    .option('--limit <n>', 'how many (default: 50)')
    .option('--cursor <text>', 'go on behind an earlier list, as that one says');
  fleetOptions(json(list)).action(async (options: LetterOptions & { limit?: string; cursor?: string }) => {
    outcome.exitCode = await (await letters()).listLetters(options);
  });
  example(list, 'sluice dead-letters list --sink audit --since 24h');

  const redrive = letterFilter(
    group
      .command('redrive')
      .summary('deliver dead letters once more')
      .description(
        'Delivers dead letters of sinks once more, takes those of sources again, waits, and tells what became of them. ' +
          'Exits 0 when each is delivered, 1 when some are dead letters still.',
      ),
  )
    .option('--all', 'all of them')
    .option('--rate <n>', 'letters a second at most (default: 50)')
    .option('--wait <duration>', 'how long to wait (default: what the rate needs, and 30s)');
  fleetOptions(json(redrive)).action(
    async (options: LetterOptions & { all?: boolean; rate?: string; wait?: string }) => {
      outcome.exitCode = await (await letters()).redriveLetters(options);
    },
  );
  example(redrive, 'sluice dead-letters redrive --sink audit --code away --rate 20');

  const drop = letterFilter(
    group
      .command('drop')
      .summary('remove dead letters for good')
      .description('Removes dead letters for good.'),
  ).option('--all', 'all of them');
  fleetOptions(json(drop)).action(async (options: LetterOptions & { all?: boolean }) => {
    outcome.exitCode = await (await letters()).dropLetters(options);
  });
  example(drop, 'sluice dead-letters drop --sink audit --before 30d');
  example(group, 'sluice dead-letters list');
}

function addSinks(program: Command, outcome: Outcome): void {
  const group = program
    .command('sinks')
    .summary('see whether events leave, and what waits')
    .description('Sinks as their dispatchers found them.');

  const list = group
    .command('list')
    .summary('list sinks with their states')
    .description(
      'Lists sinks: whether they deliver, what waits for them, and how many dead letters they have.',
    );
  fleetOptions(json(list)).action(async (options: FleetOptions) => {
    outcome.exitCode = await (await sinks()).printSinks(options);
  });
  example(list, 'sluice sinks list');

  const enable = group
    .command('enable')
    .summary('deliver again to a sink that is disabled')
    .description(
      'Delivers again to a sink that was disabled because its receiver said that it is gone (410).',
    )
    .argument('<name>', 'name of the sink');
  fleetOptions(json(enable)).action(async (name: string, options: FleetOptions) => {
    outcome.exitCode = await (await sinks()).enable(name, options);
  });
  example(enable, 'sluice sinks enable audit');

  const forget = group
    .command('forget')
    .summary('forget a sink that is configured no more')
    .description(
      'Forgets a sink that is configured no more, so that no events are kept for it. Its dispatcher must not run any ' +
        'more; its dead letters stay.',
    )
    .argument('<name>', 'name of the sink')
    .option('--discard', 'also when events wait for it');
  fleetOptions(json(forget)).action(async (name: string, options: FleetOptions & { discard?: boolean }) => {
    outcome.exitCode = await (await sinks()).forget(name, options);
  });
  example(forget, 'sluice sinks forget audit');
  example(group, 'sluice sinks list');
}

/** The commands on sinks, and on what they did not take (DESIGN 8). */
export function addDelivery(program: Command, outcome: Outcome): void {
  addLetters(program, outcome);
  addSinks(program, outcome);
}
