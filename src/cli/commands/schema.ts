import { z } from 'zod';
import { configSchema } from '../../../config/schema.js';
import { COMMAND_NAMES } from '../../core/commands/names.js';
import { evaluateDocumentSchema, evaluationDocumentSchema } from '../../core/document.js';
import { commandAbout, eventAbout } from '../../core/documents/about.js';
import { asyncApi } from '../../core/documents/asyncapi.js';
import { commandJsonSchema, eventJsonSchema } from '../../core/documents/schemas.js';
import { EVENT_NAMES } from '../../core/events.js';
import { nearestName, SluiceError } from '../../core/problem.js';
import { documentJsonSchemas } from '../../core/registry/document.js';
import { ruleResultSchema } from '../../core/result.js';
import { runRecordSchema } from '../../core/run-record.js';
import { scenarioJsonSchema } from '../../core/scenario/schema.js';
import { print, printJson } from '../output.js';

interface Named {
  about: string;
  create(): unknown | Promise<unknown>;
}

const input = (schema: z.ZodType) => () => z.toJSONSchema(schema, { io: 'input' });
const output = (schema: z.ZodType) => () => z.toJSONSchema(schema, { io: 'output' });

/** Every schema and document that `sluice schema NAME` prints. */
export const SCHEMAS: Readonly<Record<string, Named>> = {
  scenario: { about: 'scenario.json', create: scenarioJsonSchema },
  run: { about: 'a run record, one JSON object a line', create: input(runRecordSchema) },
  result: { about: 'the result of one check', create: output(ruleResultSchema) },
  evaluation: { about: 'one evaluation, as reports show it', create: output(evaluationDocumentSchema) },
  batch: { about: 'the document of evaluate --json', create: output(evaluateDocumentSchema) },
  tool: { about: 'a tool, as `tool add` reads it', create: documentJsonSchemas.tool },
  validation: {
    about: 'a validation, as `validation add` reads it',
    create: documentJsonSchemas.validation,
  },
  skill: { about: 'a skill, as `skill add` reads it', create: documentJsonSchemas.skill },
  config: { about: 'the settings file', create: input(configSchema) },
  ...Object.fromEntries(
    EVENT_NAMES.map((name) => [
      name,
      { about: `event: ${eventAbout[name]}`, create: () => eventJsonSchema(name) },
    ]),
  ),
  ...Object.fromEntries(
    COMMAND_NAMES.map((name) => [
      name,
      { about: `command: ${commandAbout[name]}`, create: () => commandJsonSchema(name) },
    ]),
  ),
  asyncapi: { about: 'every event and command, as AsyncAPI 3.0', create: asyncApi },
  openapi: {
    about: 'the HTTP API, as OpenAPI 3.1',
    create: async () => (await import('../../../workers/documents.js')).describeApi(),
  },
};

/** `sluice schema [NAME]`; answers 0. Throws USAGE for a name that is none. */
export async function printSchema(name: string | undefined, options: { json?: boolean }): Promise<number> {
  const names = Object.keys(SCHEMAS);
  if (name === undefined) {
    const list = Object.entries(SCHEMAS).map(([key, { about }]) => ({ name: key, about }));
    const width = Math.max(...names.map((each) => each.length)) + 2;
    if (options.json) await printJson({ schemas: list });
    else await print(list.map((entry) => `${entry.name.padEnd(width)}${entry.about}\n`).join(''));
    return 0;
  }
  const found = names.includes(name) ? SCHEMAS[name] : undefined;
  if (found === undefined) {
    const nearest = nearestName(name, names);
    throw new SluiceError('USAGE', `There is no schema "${name}".`, [
      {
        path: 'name',
        message: 'is no schema',
        found: name,
        allowed: names,
        ...(nearest === undefined ? {} : { nearest }),
      },
    ]);
  }
  await printJson(await found.create());
  return 0;
}
