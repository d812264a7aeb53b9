import { readdirSync, readFileSync } from 'node:fs';
import { Parser } from '@asyncapi/parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkEvent } from '../../src/compose/event-check.js';
import { decodeMessage } from '../../src/core/cloud-events.js';
import { commandOf } from '../../src/core/commands/command.js';
import { COMMAND_NAMES } from '../../src/core/commands/names.js';
import { asyncApi } from '../../src/core/documents/asyncapi.js';
import { messageSchemas } from '../../src/core/documents/schemas.js';
import { EVENT_NAMES } from '../../src/core/events.js';
import { describeApi } from '../../src/http/describe.js';
import { eventsPage, examplesOn, generatedFiles } from '../support/documents.js';
import { exampleMessages } from '../support/example-messages.js';

const page = readFileSync('docs/events.md', 'utf8');

describe('documents of the API', () => {
  it('are accepted by an AsyncAPI parser', async () => {
    const { document, diagnostics } = await new Parser().parse(JSON.stringify(asyncApi()));
    expect(diagnostics.filter(({ severity }) => severity < 2)).toEqual([]);
    expect(document?.operations().all()).toHaveLength(EVENT_NAMES.length + COMMAND_NAMES.length);
  });

  it('are accepted by an OpenAPI validator', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(describeApi()));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  });

  it('stand in docs/ as the code makes them; npm run documents writes them anew', () => {
    const files = generatedFiles();
    for (const [path, content] of files)
      expect(JSON.parse(readFileSync(path, 'utf8')), path).toEqual(JSON.parse(content));
    expect(
      readdirSync('docs/schemas')
        .map((name) => `docs/schemas/${name}`)
        .sort(),
    ).toEqual([...files.keys()].filter((path) => path.startsWith('docs/schemas/')).sort());
  });
});

describe('docs/events.md', () => {
  const examples = examplesOn(page);

  it('has one example of each event and command, and is otherwise as the code makes it', () => {
    expect([...examples.keys()].sort()).toEqual([...EVENT_NAMES, ...COMMAND_NAMES].sort());
    expect(page).toBe(eventsPage(examples));
  });

  it.each(EVENT_NAMES)('has an example of %s that its schema takes', (name) => {
    const event = examples.get(name) as { id: string; type: string };
    expect(() => checkEvent({ id: event.id, type: event.type, json: JSON.stringify(event) })).not.toThrow();
  });

  it.each(COMMAND_NAMES)('has an example of %s that is taken for one', (name) => {
    const body = Buffer.from(JSON.stringify(examples.get(name)));
    const decoded = decodeMessage({ body, contentType: 'application/cloudevents+json', attributes: {} });
    if (!decoded.ok || decoded.events[0] === undefined) throw new Error('no CloudEvent');
    expect(commandOf(decoded.events[0])).toMatchObject({ kind: 'command', command: { name } });
  });
});

describe('messages of a running engine', () => {
  let messages: Map<string, unknown>;
  beforeAll(async () => {
    messages = await exampleMessages();
  }, 60_000);

  it('are of every kind, and what the JSON Schemas say', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const schemas = messageSchemas();
    expect([...messages.keys()].sort()).toEqual(Object.keys(schemas).sort());
    for (const [name, message] of messages) {
      const validate = ajv.compile(schemas[name] as object);
      expect(validate(message), `${name}: ${JSON.stringify(validate.errors)}`).toBe(true);
    }
  });
});
