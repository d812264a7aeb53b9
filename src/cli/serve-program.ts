import type { Command } from 'commander';
import type { ServeOptions } from './commands/serve.js';
import type { FleetOptions } from './options.js';
import { collect, example, fleetOptions, metricsOption, type Outcome } from './program-parts.js';

function addTokens(program: Command, outcome: Outcome): void {
  const token = program.command('token').summary('make, list and end tokens of the HTTP API');
  const add = token
    .command('add')
    .summary('make a token, and show it this once')
    .description(
      'Makes a token of the HTTP API and prints it this once; only its digest is kept. Its name is the actor of ' +
        'what it asks for. Each role includes those before it: read, submit, operate.',
    )
    .argument('<name>', 'name of the token')
    .option('--role <role>', 'read, submit or operate (required)')
    .option('--expires <duration>', 'how long it lasts, such as 90d (default: until it is removed)')
    .option('--json', 'print one JSON document');
  fleetOptions(add).action(async (name: string, options: FleetOptions & { role?: string }) => {
    const { addToken } = await import('./commands/token.js');
    outcome.exitCode = await addToken(name, options);
  });
  example(add, 'sluice token add ci --role submit --expires 90d');
  const list = token
    .command('list')
    .summary('list tokens, without what they are')
    .option('--json', 'print one JSON document');
  fleetOptions(list).action(async (options: FleetOptions) => {
    const { listTokens } = await import('./commands/token.js');
    outcome.exitCode = await listTokens(options);
  });
  example(list, 'sluice token list');
  const remove = token
    .command('remove')
    .summary('end a token at once')
    .argument('<name>', 'name of the token')
    .option('--json', 'print one JSON document');
  fleetOptions(remove).action(async (name: string, options: FleetOptions) => {
    const { removeToken } = await import('./commands/token.js');
    outcome.exitCode = await removeToken(name, options);
  });
  example(remove, 'sluice token remove ci');
  example(token, 'sluice token add ci --role submit');
}

/** The HTTP API and its tokens. */
export function addServe(program: Command, outcome: Outcome): void {
  const serve = program
    .command('serve')
    .summary('serve the HTTP API, and take commands from the sources')
    .description(
      'Serves the HTTP API of a fleet and takes commands from its sources. It judges and delivers nothing itself: ' +
        'worker, aggregator, sweeper and dispatcher run beside it, or `sluice up` in its place. Ends on SIGTERM or Ctrl-C ' +
        'once the requests in hand are answered.',
    )
    .option(
      '--listen <host:port>',
      'where to listen; port 0: a free one (default: http.listen, then 127.0.0.1:8080)',
    )
    .option(
      '--source <kind=target>',
      'where commands come from, besides the configured sources (repeatable)',
      collect,
    )
    .option('--json', 'print where it listens as JSON');
  fleetOptions(metricsOption(serve)).action(async (options: ServeOptions) => {
    const { serve: run } = await import('./commands/serve.js');
    outcome.exitCode = await run(options);
  });
  example(serve, 'sluice serve --redis redis://127.0.0.1:6379 --listen 127.0.0.1:8080');
  addTokens(program, outcome);
}
