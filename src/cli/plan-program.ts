import type { Command } from 'commander';
import type { AskerOptions } from './asker.js';
import type { CommandOptions } from './commands/plan/command.js';
import type { CreateOptions, SnapshotOptions } from './commands/plan/commands.js';
import type { PlanListOptions } from './commands/plan/look.js';
import { askerOptions, example, type Outcome } from './program-parts.js';

const commands = () => import('./commands/plan/commands.js');
const look = () => import('./commands/plan/look.js');

/** What every command takes that changes a plan. */
function commandOptions(command: Command): Command {
  return askerOptions(
    command.option(
      '--command <id>',
      'id of this command: the same one again is done once (default: a new one)',
    ),
  );
}

function revisionOption(command: Command): Command {
  return command.option('--revision <n>', 'refuse when the plan is at another revision');
}

function snapshotOptions(command: Command): Command {
  return command
    .option(
      '--snapshot <name=what...>',
      'snapshot of a resource: a file, a folder, or inline JSON (repeatable)',
    )
    .option('--snapshots <file>', 'JSON file with an object of snapshots by resource; - is standard input');
}

function waitOption(command: Command): Command {
  return command.option(
    '--wait [duration]',
    'follow the plan until it is judged; exit 0 only when the gate is open',
  );
}

function addBeginnings(plan: Command, outcome: Outcome): void {
  const create = plan
    .command('create')
    .summary('begin a plan with its strategy')
    .description('Begins a plan in phase strategize, and lists the validations that its resources will meet.')
    .argument('[id]', 'id of the plan (default: a new one)')
    .option('--project <name>', 'project through which the resources are reached')
    .option('--resource <name...>', 'resources of the plan, each type/name or a name (required)');
  commandOptions(create).action(async (id: string | undefined, options: CreateOptions) => {
    outcome.exitCode = await (await commands()).createPlan(id, options);
  });
  example(create, 'sluice plan create release-7 --project billing --resource repo/api db/orders');

  const submit = plan
    .command('submit')
    .summary('have finished work validated as a new plan')
    .description(
      'Begins a plan with work that is done, and has it validated; for those who track no earlier phase.',
    )
    .argument('[id]', 'id of the plan (default: a new one)')
    .option('--project <name>', 'project through which the resources are reached');
  waitOption(snapshotOptions(submit));
  commandOptions(submit).action(async (id: string | undefined, options: SnapshotOptions) => {
    outcome.exitCode = await (await commands()).submitPlan(id, options);
  });
  example(
    submit,
    'sluice plan submit release-7 --project billing --snapshot repo/api=./api --wait',
    `sluice plan submit --snapshot db/orders='{"rows": 12}' --json`,
  );
}

function addWork(plan: Command, outcome: Outcome): void {
  const strategized = plan
    .command('strategized')
    .summary('say that the strategy stands')
    .description('Takes a plan from strategize to execute.')
    .argument('<id>', 'id of the plan');
  commandOptions(revisionOption(strategized)).action(async (id: string, options: CommandOptions) => {
    outcome.exitCode = await (await commands()).strategizedPlan(id, options);
  });
  example(strategized, 'sluice plan strategized release-7');

  const about = {
    executed: [
      'hand in what execution brought about',
      'Takes snapshots of what was executed and has them validated.',
    ],
    fix: [
      'hand in a fix',
      'Takes snapshots of the fixed work; what had failed is judged first, then the rest.',
    ],
  } as const;
  for (const type of ['executed', 'fix'] as const) {
    const [summary, description] = about[type];
    const command = plan
      .command(type)
      .summary(summary)
      .description(description)
      .argument('<id>', 'id of the plan');
    waitOption(snapshotOptions(command));
    commandOptions(revisionOption(command)).action(async (id: string, options: SnapshotOptions) => {
      outcome.exitCode = await (await commands()).sendWork(type, id, options);
    });
    example(
      command,
      `sluice plan ${type} release-7 --snapshot repo/api=./api db/orders=rows.json --wait 10m`,
    );
  }
}

function addEnds(plan: Command, outcome: Outcome): void {
  const respond = plan
    .command('respond')
    .summary('answer an escalation')
    .description(
      'Answers a plan that was escalated: retry begins anew with the strategy, abort ends the plan.',
    )
    .argument('<id>', 'id of the plan')
    .argument('<answer>', 'retry or abort')
    .option('--guidance <text>', 'what whoever tries again should know');
  commandOptions(revisionOption(respond)).action(
    async (id: string, answer: string, options: CommandOptions & { guidance?: string }) => {
      outcome.exitCode = await (await commands()).respondToPlan(id, answer, options);
    },
  );
  example(respond, 'sluice plan respond release-7 retry --guidance "leave the index alone"');

  const apply = plan
    .command('apply')
    .summary('let validated work into the world')
    .description(
      'Applies a plan whose gate is open: exactly what was validated, named by snapshots or by their digests. Exits 0 ' +
        'when it is applied, 1 when its attachments have changed and it is validated again, 2 when it is refused.',
    )
    .argument('<id>', 'id of the plan')
    .option('--digest <name=sha256...>', 'digest of a resource’s snapshot, as status prints it (repeatable)');
  waitOption(snapshotOptions(apply));
  commandOptions(revisionOption(apply)).action(
    async (id: string, options: SnapshotOptions & { digest?: string[] }) => {
      outcome.exitCode = await (await commands()).applyPlan(id, options);
    },
  );
  example(apply, 'sluice plan apply release-7 --snapshot repo/api=./api');

  const cancel = plan
    .command('cancel')
    .summary('end a plan')
    .description('Ends a plan that is not over; what is being judged is decided as cancelled.')
    .argument('<id>', 'id of the plan')
    .option('--reason <text>', 'why');
  commandOptions(revisionOption(cancel)).action(
    async (id: string, options: CommandOptions & { reason?: string }) => {
      outcome.exitCode = await (await commands()).cancelPlan(id, options);
    },
  );
  example(cancel, 'sluice plan cancel release-7 --reason "superseded by release-8"');
}

function addLooks(plan: Command, outcome: Outcome): void {
  const status = plan
    .command('status')
    .summary('tell everything about a plan')
    .description(
      'Prints where a plan stands, why its gate is shut, its timeline, and each check’s first and final result.',
    )
    .argument('<id>', 'id of the plan');
  askerOptions(status).action(async (id: string, options: AskerOptions) => {
    outcome.exitCode = await (await look()).planStatus(id, options);
  });
  example(status, 'sluice plan status release-7');

  const list = plan
    .command('list')
    .summary('list plans, the newest first')
    .description('Lists plans, the newest first.')
    .option('--phase <phase>', 'only plans in this phase')
    .option('--project <name>', 'only plans of this project')
    .option('--limit <n>', 'how many (default: 50)');
  askerOptions(list).action(async (options: PlanListOptions) => {
    outcome.exitCode = await (await look()).listPlans(options);
  });
  example(list, 'sluice plan list --phase escalated');
}

/** The commands on plans (DESIGN 4.7, 8). */
export function addPlan(program: Command, outcome: Outcome): void {
  const plan = program
    .command('plan')
    .summary('bring agents’ work through the plan gate')
    .description('Plans: work that is applied only once its required validations have passed.');
  addBeginnings(plan, outcome);
  addWork(plan, outcome);
  addEnds(plan, outcome);
  addLooks(plan, outcome);
  example(plan, 'sluice plan submit release-7 --snapshot repo/api=./api --wait');
}
