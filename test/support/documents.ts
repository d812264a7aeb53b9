import { COMMAND_NAMES } from '../../src/core/commands/names.js';
import { commandAbout, eventAbout } from '../../src/core/documents/about.js';
import { asyncApi } from '../../src/core/documents/asyncapi.js';
import { messageSchemas } from '../../src/core/documents/schemas.js';
import { EVENT_NAMES, EVENT_PREFIX, EVENT_VERSION } from '../../src/core/events.js';
import { describeApi } from '../../src/http/describe.js';

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Files that are made from the code alone, by their path. */
export function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const [name, schema] of Object.entries(messageSchemas()))
    files.set(`docs/schemas/${name}.json`, pretty(schema));
  files.set('docs/asyncapi.json', pretty(asyncApi()));
  files.set('docs/openapi.json', pretty(describeApi()));
  return files;
}

const INTRODUCTION = `# Events and commands

Every message is a [CloudEvent](https://cloudevents.io) 1.0 in JSON. [asyncapi.json](asyncapi.json) describes all of them,
[schemas/](schemas/evaluation.passed.json) has a JSON Schema of each; \`sluice schema NAME\` prints the same. The examples
below are real: they were sent and taken by the engine. This page is made by \`npm run documents\`.

## The envelope

| attribute | what |
|---|---|
| \`id\` | always the same for the same event: a redelivery is byte for byte the first delivery. Drop repeats by it |
| \`source\` | \`/sluice/<fleet>\`; of a command who sends it |
| \`type\` | \`dev.sluice.<name>.v1\` |
| \`subject\` | evaluation, plan or batch; of \`delivery.*\` the event or the sink, of \`command.refused\` the command |
| \`time\` | when it happened, UTC |
| \`partitionkey\` | the same for all events whose order matters |
| \`sequence\` | place in the life of the subject |
| \`correlationid\` | the batch or plan, or what the request said |
| \`causationid\` | the event or command that led to it |
| \`dataref\` | where all of it lies, where something was left out to stay below 48 KiB (\`data.truncated\`) |

Later versions may add keys to \`data\`: pass over what you do not know. A change that would break a consumer gets another
type (\`.v2\`). \`data.actor\` says who asked: the name of the token, the source, or the user.

Commands with the same \`source\` and \`id\` are one command, however often they come. They may come over every
[source](buses.md#sources) and over HTTP (\`POST /v1/events\`).
`;

const table = (names: readonly string[], about: Record<string, string>) =>
  [
    '| name | when |',
    '|---|---|',
    ...names.map((name) => `| [${name}](#${name.replaceAll('.', '')}) | ${about[name]} |`),
  ].join('\n');

/** docs/events.md, with these examples. */
export function eventsPage(examples: ReadonlyMap<string, unknown>): string {
  const section = (name: string, about: Record<string, string>) =>
    [
      `### ${name}`,
      '',
      `${about[name]} Type \`${EVENT_PREFIX}${name}${EVENT_VERSION}\`, [schema](schemas/${name}.json).`,
      '',
      '```json',
      JSON.stringify(examples.get(name), null, 2),
      '```',
      '',
    ].join('\n');
  return [
    INTRODUCTION,
    `## Events: what Sluice says\n\n${table(EVENT_NAMES, eventAbout)}\n`,
    ...EVENT_NAMES.map((name) => section(name, eventAbout)),
    `## Commands: what Sluice is told\n\n${table(COMMAND_NAMES, commandAbout)}\n`,
    ...COMMAND_NAMES.map((name) => section(name, commandAbout)),
  ].join('\n');
}

/** The examples that stand on the page, by name. */
export function examplesOn(page: string): Map<string, unknown> {
  const found = [...page.matchAll(/^### ([a-z.]+)\n[\s\S]*?^```json\n([\s\S]*?)^```$/gm)];
  return new Map(found.map(([, name = '', json = '']) => [name, JSON.parse(json)]));
}
