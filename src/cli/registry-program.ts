import { type Command, Option } from 'commander';
import type { Kind } from '../core/registry/model.js';
import type { AskerOptions } from './asker.js';
import type { AttachmentsOptions, AttachOptions, ExplainOptions } from './commands/registry/attachments.js';
import type { CallOptions } from './commands/registry/call.js';
import type { DiscoverOptions } from './commands/registry/discover.js';
import type { ListOptions } from './commands/registry/documents.js';
import type { GivenWords } from './given-arguments.js';
import { askerOptions, example, type Outcome } from './program-parts.js';

const ABOUT: Readonly<Record<Kind, string>> = {
  tool: 'what agents and validations call',
  validation: 'tools that verify work, and what they are attached to',
  skill: 'named lists of tools and validations',
};

const ADD_EXAMPLES: Readonly<Record<Kind, string[]>> = {
  tool: ['cat line-count.yaml | sluice tool add -', 'sluice tool add tools/'],
  validation: ['sluice validation add validations/ tools/coverage.yaml'],
  skill: ['sluice skill add review.yaml'],
};

const NAMES: Readonly<Record<Kind, string>> = {
  tool: 'local/coverage',
  validation: 'local/coverage-high',
  skill: 'local/review',
};

/** Words behind the names, and what the command takes for its own. */
const given = (words: string[], command: Command): GivenWords => ({
  words,
  known: command.options.map(({ long }) => long ?? ''),
});

/** What follows a name as `--key value` belongs to the tool, not to sluice. */
function takesArguments(command: Command, whose: string): Command {
  return command
    .argument(
      '[arguments...]',
      `arguments of the ${whose}, as --key value; behind -- also those that sluice takes`,
    )
    .option('--args <json>', `arguments of the ${whose} as a JSON object, or @FILE with one`)
    .allowUnknownOption();
}

function addDocuments(parent: Command, kind: Kind, outcome: Outcome): void {
  const documents = () => import('./commands/registry/documents.js');
  const add = parent
    .command('add')
    .summary(`register ${kind}s from YAML or JSON`)
    .description(
      'Registers documents from YAML or JSON files, folders of these, or standard input (-): all of them, or, ' +
        `when anything is wrong with one, none. A document without a kind is a ${kind}.`,
    )
    .argument('<file...>', 'files, or folders of .yaml, .yml and .json files; - is standard input');
  askerOptions(add).action(async (files: string[], options: AskerOptions) => {
    outcome.exitCode = await (await documents()).addDocuments(kind, files, options);
  });
  example(add, ...ADD_EXAMPLES[kind]);

  const list = parent.command('list').summary(`list the registered ${kind}s`);
  list.description(`Lists the registered ${kind}s by name.`);
  if (kind === 'tool') list.option('--built-in', 'also the tools that come with sluice');
  askerOptions(list).action(async (options: ListOptions) => {
    outcome.exitCode = await (await documents()).listDocuments(kind, options);
  });
  example(list, `sluice ${kind} list`);

  const show = parent
    .command('show')
    .summary(`print a ${kind} as YAML`)
    .argument('<name>', `name of the ${kind}`);
  show.description(
    `Prints a ${kind} as YAML: the document, its version${kind === 'skill' ? '' : ', and what it is attached to'}.`,
  );
  askerOptions(show).action(async (name: string, options: AskerOptions) => {
    outcome.exitCode = await (await documents()).showDocument(kind, name, options);
  });
  example(show, `sluice ${kind} show ${NAMES[kind]}`);

  const remove = parent
    .command('remove')
    .summary(`remove a ${kind}`)
    .argument('<name>', `name of the ${kind}`);
  remove.description(
    kind === 'validation'
      ? 'Removes a validation and, in the same step, its attachments. Refused while something wraps or lists it.'
      : `Removes a ${kind}.${kind === 'tool' ? ' Refused while something wraps or lists it.' : ''}`,
  );
  askerOptions(remove).action(async (name: string, options: AskerOptions) => {
    outcome.exitCode = await (await documents()).removeDocument(kind, name, options);
  });
  example(remove, `sluice ${kind} remove ${NAMES[kind]}`);
}

function callOptions(command: Command): Command {
  return takesArguments(command, 'tool')
    .option('--subject <what>', 'evidence to judge: a file, a folder, or inline JSON')
    .option('--resource <name>', 'resource that the call is about')
    .option('--slot <name>', 'slot of the tool that the resource is bound to');
}

function addCalls(tool: Command, skill: Command, outcome: Outcome): void {
  const call = callOptions(
    tool.command('call').summary('run a tool or a validation once').argument('<name>', 'name of the tool'),
  ).description(
    'Runs a tool or a validation in this process and prints what it returns. Exits 0 for a value or a pass, 1 for ' +
      'a fail or an error, 2 for arguments that the tool does not take.',
  );
  askerOptions(call).action(async (name: string, words: string[], options: CallOptions) => {
    const { callTool } = await import('./commands/registry/call.js');
    outcome.exitCode = await callTool(name, given(words, call), options);
  });
  example(
    call,
    'sluice tool call local/line-count --subject report.txt --at-least 3',
    'sluice tool call builtin/task_count --subject run.json --max 5',
  );
  const inSkill = callOptions(
    skill
      .command('call')
      .summary('run a tool of a skill once')
      .argument('<skill>', 'name of the skill')
      .argument('<tool>', 'name of a tool or validation in it'),
  ).description(
    'Runs a tool or a validation of a skill as `tool call` does; refused for one that is not in it.',
  );
  askerOptions(inSkill).action(
    async (name: string, member: string, words: string[], options: CallOptions) => {
      const { callInSkill } = await import('./commands/registry/call.js');
      outcome.exitCode = await callInSkill(name, member, given(words, inSkill), options);
    },
  );
  example(inSkill, 'sluice skill call local/review local/coverage --subject coverage.json');
}

function addDiscover(tool: Command, outcome: Outcome): void {
  const command = tool
    .command('discover')
    .summary('print the tools of an MCP server as documents')
    .description(
      'Lists the tools of an MCP server of the settings, or the validations of its plugins, as documents that ' +
        '`tool add -` takes, and registers nothing. Annotations say what an MCP tool does: one that writes, or of ' +
        'which nothing is known, becomes no validation. Exits 2 for an unknown server, 3 for one that cannot be started.',
    )
    .argument('[server]', 'name of a server under mcp_servers in the settings')
    .option('--plugins', 'the validations of the plugins instead')
    .option('--as <kind>', 'tool or validation (default: tool)')
    .option('--namespace <name>', 'namespace of the documents (default: the name of the server)')
    .option('--config <file>', 'settings file (default: SLUICE_CONFIG)')
    .addOption(new Option('--json', 'print JSON instead of YAML').conflicts('yaml'))
    .option('--yaml', 'print YAML, which is the default')
    .action(async (server: string | undefined, options: DiscoverOptions) => {
      const { discover } = await import('./commands/registry/discover.js');
      outcome.exitCode = await discover(server, options);
    });
  example(
    command,
    'sluice tool discover files --config sluice.yaml',
    'sluice tool discover files --config sluice.yaml | sluice tool add -',
  );
}

function addAttach(parent: Command, kind: 'validation' | 'skill', outcome: Outcome): void {
  const what = kind === 'validation' ? 'a validation' : 'every validation of a skill';
  const attach = parent.command('attach').summary(`attach ${what} to a resource`);
  attach
    .argument('<resource>', 'type/name, or a name')
    .argument(`<${kind}>`, `name of the ${kind}`)
    .description(
      `Attaches ${what} to a resource: always, only when it is reached through a project, or only in one plan. ` +
        'Arguments are checked before anything is stored.',
    )
    .option('--project <name>', 'only where the resource is reached through this project')
    .option('--plan <id>', 'only in this plan')
    .option('--slot <name>', 'slot of the validation that the resource is bound to')
    .addOption(
      new Option('--mode [mode]', 'refused: the mode is set when a validation is registered').hideHelp(),
    );
  takesArguments(attach, 'validation');
  askerOptions(attach).action(
    async (resource: string, name: string, words: string[], options: AttachOptions) => {
      const { attach: run } = await import('./commands/registry/attachments.js');
      outcome.exitCode = await run(kind, resource, name, given(words, attach), options);
    },
  );
  example(
    attach,
    `sluice ${kind} attach repo/api ${NAMES[kind]}${kind === 'validation' ? ' --at-least 90' : ''}`,
    `sluice ${kind} attach --project billing repo/api ${NAMES[kind]}`,
  );
}

function addAttachments(validation: Command, outcome: Outcome): void {
  const attachments = () => import('./commands/registry/attachments.js');
  const detach = validation
    .command('detach')
    .summary('take an attachment off')
    .description('Takes an attachment off; evaluations that run keep what they started with.')
    .argument('<id>', 'id that attach printed');
  askerOptions(detach).action(async (id: string, options: AskerOptions) => {
    outcome.exitCode = await (await attachments()).detach(id, options);
  });
  example(detach, 'sluice validation detach 01J9Z3W8Q4T6V2X0Y1A5B7C9DE');

  const list = validation
    .command('attachments')
    .summary('list attachments')
    .description('Lists attachments, the oldest first.')
    .option('--resource <name>', 'only those of this resource')
    .option('--validation <name>', 'only those of this validation');
  askerOptions(list).action(async (options: AttachmentsOptions) => {
    outcome.exitCode = await (await attachments()).listAttachments(options);
  });
  example(list, 'sluice validation attachments --resource repo/api');

  const explain = validation
    .command('explain')
    .summary('say which attachments of a resource apply, and why')
    .description(
      'Lists every attachment of a resource with why it applies, why it does not, or what shadows it.',
    )
    .argument('<resource>', 'type/name, or a name')
    .option('--project <name>', 'as seen through this project')
    .option('--plan <id>', 'as seen in this plan; its project is taken when it exists');
  askerOptions(explain).action(async (resource: string, options: ExplainOptions) => {
    outcome.exitCode = await (await attachments()).explain(resource, options);
  });
  example(explain, 'sluice validation explain repo/api --project billing --plan release-7');
}

/** The commands tool, validation and skill (DESIGN 8). */
export function addRegistry(program: Command, outcome: Outcome): void {
  const parents = (['tool', 'validation', 'skill'] as const).map((kind) => {
    const parent = program
      .command(kind)
      .summary(ABOUT[kind])
      .description(`Registers and looks at ${ABOUT[kind]}.`);
    addDocuments(parent, kind, outcome);
    return parent;
  }) as [Command, Command, Command];
  const [tool, validation, skill] = parents;
  addCalls(tool, skill, outcome);
  addDiscover(tool, outcome);
  addAttach(validation, 'validation', outcome);
  addAttach(skill, 'skill', outcome);
  addAttachments(validation, outcome);
  example(tool, 'sluice tool list');
  example(validation, 'sluice validation attach repo/api local/coverage-high --at-least 90');
  example(skill, 'sluice skill attach repo/api local/review');
}
