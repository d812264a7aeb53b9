import { Command } from 'commander';
import { addAutoscale } from './autoscale-program.js';
import type { TailOptions } from './commands/events.js';
import type { UpOptions } from './commands/up.js';
import { addDelivery } from './delivery-program.js';
import type { RawEvaluateOptions } from './evaluate/options.js';
import type { FleetOptions } from './options.js';
import { packageVersion } from './package.js';
import { addPlan } from './plan-program.js';
import { collect, example, fleetOptions, metricsOption, type Outcome } from './program-parts.js';
import { addRegistry } from './registry-program.js';
import { addServe } from './serve-program.js';

export type { Outcome } from './program-parts.js';

function addEvaluate(program: Command, outcome: Outcome): void {
  const command = program
    .command('evaluate')
    .summary('judge recorded runs against scenarios')
    .description(
      'Judges recorded runs against scenarios, prints what came of it, and exits 0 (all passed), 1 (something ' +
        'failed or errored), 2 (bad input or usage) or 3 (infrastructure).',
    )
    .argument('<scenario...>', 'scenario files, or folders with scenario.json in them or below')
    .option('--runs <path...>', 'files or folders of runs; - is standard input (required)')
    .option('--format <name>', 'format of the runs (default: found out by looking)')
    .option(
      '--from <where>',
      'how the runs were asked for: direct (default), message, or gateway: only then do gateway rules apply',
    )
    .option('--engine <kind>', 'fleet (Redis) or inline (this process alone)')
    .option('--workers <n>', 'worker processes to start; 0: start no role at all')
    .option('--packing <how>', 'auto, or off: one queue job for each check')
    .option('--strict', 'a pass for lack of data counts as fail')
    .option('--skip-invalid', 'pass over broken runs and name them; scenarios must be whole all the same')
    .option('--batch <id>', 'id of the batch; the same id again finishes what is left')
    .option('--dry-run', 'say what would be judged, and stop')
    .option('--report <kind=file>', 'json, ndjson, junit or text, to a file or - (repeatable)', collect)
    .option('--sink <kind=target>', 'where this batch’s events go (repeatable)', collect)
    .option('--exit-zero', 'exit 0 where it would be 1')
    .option('--retention <duration>', 'how long decided evaluations stay in Redis, such as 24h')
    .option('--weight <n>', 'share of the workers beside other large batches, 1 (default) to 100')
    .option(
      '--actor <name>',
      'who asks; stands in decisions and events (default: SLUICE_ACTOR, then the user’s name)',
    )
    .option('--json', 'print one JSON document: the batch and its evaluations');
  fleetOptions(command).action(async (scenarios: string[], options: RawEvaluateOptions) => {
    const { evaluate } = await import('./evaluate/command.js');
    outcome.exitCode = await evaluate(scenarios, options);
  });
  example(
    command,
    'sluice evaluate scenarios/ --runs runs.ndjson',
    'sluice evaluate nginx/scenario.json --runs logs/ --report junit=report.xml --json > results.json',
  );
}

const ROLES = {
  worker: 'run checks: take packs from the queues and record their results',
  aggregator: 'decide evaluations whose checks are through',
  dispatcher: 'bring events to the sinks',
  sweeper: 'find what is stuck and bring it to its decision',
} as const;

function addRoles(program: Command, outcome: Outcome): void {
  for (const [name, summary] of Object.entries(ROLES)) {
    const role = name as keyof typeof ROLES;
    const command = fleetOptions(program.command(role).summary(summary)).description(
      `Joins a fleet to ${summary}. Ends on SIGTERM or Ctrl-C once what it has in hand is done.`,
    );
    if (role === 'worker') command.option('--concurrency <n>', 'packs of pure checks in hand at a time');
    if (role === 'dispatcher')
      command.option(
        '--sink <kind=target>',
        'where events go, besides the configured sinks (repeatable)',
        collect,
      );
    metricsOption(command).option('--json', 'print who joined which fleet as JSON');
    command.action(
      async (options: FleetOptions & { concurrency?: string; sink?: string[]; metrics?: string }) => {
        const { runRole } = await import('./commands/role.js');
        outcome.exitCode = await runRole(role, options);
      },
    );
    example(
      command,
      `sluice ${role} --redis redis://127.0.0.1:6379${role === 'dispatcher' ? ' --sink ndjson=events.ndjson' : ''}`,
    );
  }
}

function addUp(program: Command, outcome: Outcome): void {
  const command = program
    .command('up')
    .summary('run a whole fleet from one terminal')
    .description(
      'Starts workers, aggregator, sweeper, (with sinks) dispatcher and (with --listen) HTTP API; ends them all on Ctrl-C.',
    )
    .option('--workers <n>', 'worker processes (default: one less than the cores)')
    .option('--sink <kind=target>', 'where events go, besides the configured sinks (repeatable)', collect)
    .option('--listen <host:port>', 'serve the HTTP API there too; port 0: a free one (default: http.listen)')
    .option(
      '--source <kind=target>',
      'where commands come from, besides the configured sources (repeatable)',
      collect,
    )
    .option('--json', 'print what runs as JSON');
  fleetOptions(metricsOption(command)).action(async (options: UpOptions) => {
    const { up } = await import('./commands/up.js');
    outcome.exitCode = await up(options);
  });
  example(command, 'sluice up --workers 2 --sink ndjson=events.ndjson');
}

function addEvents(program: Command, outcome: Outcome): void {
  const events = program.command('events').summary('look at the fleet’s events');
  const tail = events
    .command('tail')
    .summary('print events from the oldest that is kept, and follow')
    .description('Prints events from the oldest that is kept, and follows; with --json each as it is stored.')
    .option('--no-follow', 'stop at the newest')
    .option('--type <type>', 'only this type, such as evaluation.failed (repeatable)', collect)
    .option('--batch <id>', 'only events of this batch')
    .option('--plan <id>', 'only events of this plan and its evaluations')
    .option('--since <duration>', 'only events that are no older, such as 10m or 24h')
    .option('--json', 'one CloudEvent a line');
  fleetOptions(tail).action(async (options: TailOptions) => {
    const { tailEvents } = await import('./commands/events.js');
    outcome.exitCode = await tailEvents(options);
  });
  example(
    tail,
    'sluice events tail --type evaluation.failed --since 1h',
    'sluice events tail --json --no-follow > events.ndjson',
  );
  example(events, 'sluice events tail --no-follow');
}

function addLocal(program: Command, outcome: Outcome): void {
  const schema = program
    .command('schema')
    .summary('print a JSON Schema, or the description of an API')
    .description(
      'Prints the JSON Schema of what Sluice reads, writes, sends or takes, or the OpenAPI or AsyncAPI document; ' +
        'without a name, lists them.',
    )
    .argument(
      '[name]',
      'such as scenario, run, config, an event or a command (plan.failed), openapi or asyncapi',
    )
    .option('--json', 'print JSON (a schema always is)')
    .action(async (name: string | undefined, options: { json?: boolean }) => {
      const { printSchema } = await import('./commands/schema.js');
      outcome.exitCode = await printSchema(name, options);
    });
  example(schema, 'sluice schema scenario > scenario.schema.json', 'sluice schema asyncapi > asyncapi.json');
  const doctor = program
    .command('doctor')
    .summary('look at what this machine can run')
    .description('Looks at everything Sluice needs. Exits 0, or 3 when something will not work.')
    .option('--json', 'print the findings as JSON');
  fleetOptions(doctor).action(async (options: FleetOptions) => {
    const { doctorCommand } = await import('./commands/doctor.js');
    outcome.exitCode = await doctorCommand(options);
  });
  example(doctor, 'sluice doctor --redis redis://127.0.0.1:6379');
  const reshard = program
    .command('reshard')
    .summary('give a fleet another number of shards')
    .description(
      'Tells over how many shards a fleet is spread and what is left of another number; with --to changes it, once all processes of the fleet are stopped. What there is stays where it is, and is found there.',
    )
    .option('--to <n>', 'number of shards for new work, 1 to 64')
    .option('--json', 'print the report as JSON');
  fleetOptions(reshard).action(async (options: FleetOptions & { to?: string }) => {
    const { reshardCommand } = await import('./commands/reshard.js');
    outcome.exitCode = await reshardCommand(options);
  });
  example(reshard, 'sluice reshard --to 3');
}

/** Every command (DESIGN 8); what a command does is loaded when it is called, so that --help is quick. */
export function createProgram(outcome: Outcome): Command {
  const program = new Command('sluice')
    .description('Judges the work of agents at volume: exactly one decision per evaluation.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .showSuggestionAfterError();
  addEvaluate(program, outcome);
  addUp(program, outcome);
  addRoles(program, outcome);
  addAutoscale(program, outcome);
  addServe(program, outcome);
  addRegistry(program, outcome);
  addPlan(program, outcome);
  addEvents(program, outcome);
  addDelivery(program, outcome);
  addLocal(program, outcome);
  example(program, 'sluice evaluate scenarios/ --runs runs.ndjson');
  return program;
}
