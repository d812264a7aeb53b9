import type { Command } from 'commander';

/** Where a command leaves its exit code. */
export interface Outcome {
  exitCode: number;
}

/** Reads an option that may be given several times. */
export const collect = (value: string, sofar: string[] | undefined) => [...(sofar ?? []), value];

/** What every command on a fleet takes. */
export function fleetOptions(command: Command): Command {
  return command
    .option(
      '--redis <url>',
      'redis:// or rediss:// URL of the fleet’s Redis (default: REDIS_URL, then a private one)',
    )
    .option('--config <file>', 'settings file (default: SLUICE_CONFIG)')
    .option('--fleet <name>', 'name of the fleet; several share a Redis')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent; logs go to stderr');
}

/** What every command takes that runs roles. */
export function metricsOption(command: Command): Command {
  return command.option(
    '--metrics <host:port>',
    'serve /metrics, /healthz and /readyz there; port 0: a free one (default: metrics.listen)',
  );
}

/** What every command takes that looks at what is registered and planned, or changes it. */
export function askerOptions(command: Command): Command {
  return fleetOptions(
    command
      .option(
        '--actor <name>',
        'who asks; kept with what changes (default: SLUICE_ACTOR, then the user’s name)',
      )
      .option('--json', 'print one JSON document'),
  );
}

/** Examples at the end of the help. */
export function example(command: Command, ...lines: string[]): Command {
  const title = lines.length === 1 ? 'Example:' : 'Examples:';
  return command.addHelpText('after', `\n${title}\n${lines.map((line) => `  $ ${line}`).join('\n')}`);
}
