import { COMMAND_NAMES, type CommandName } from '../commands/names.js';
import { EVENT_NAMES, EVENT_PREFIX, EVENT_VERSION, type EventName } from '../events.js';
import { STRUCTURED_TYPE } from '../http-binding.js';
import { commandAbout, eventAbout } from './about.js';
import { commandJsonSchema, eventJsonSchema, type JsonSchema } from './schemas.js';

/** Of the API as a whole: that of its events, which is in their types, and of its paths. */
const VERSION = '1.0.0';

/** `evaluation.passed` as `evaluationPassed`: how messages and operations are called. */
const camel = (name: string): string =>
  name.replaceAll(/\.([a-z])/g, (_, letter: string) => letter.toUpperCase());

const reference = (...path: string[]) => ({ $ref: `#/${path.join('/')}` });

/** AsyncAPI reads draft 7, of which what is used here is a part, but for its own id. */
function payload({ $schema, $id, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function message(name: string, summary: string, schema: JsonSchema): JsonSchema {
  return {
    name: EVENT_PREFIX + name + EVENT_VERSION,
    title: name,
    summary,
    contentType: STRUCTURED_TYPE,
    payload: payload(schema),
  };
}

function operations(
  names: readonly string[],
  channel: string,
  action: 'send' | 'receive',
  about: Record<string, string>,
): JsonSchema {
  return Object.fromEntries(
    names.map((name) => [
      `${action}${camel(`.${name}`)}`,
      {
        action,
        channel: reference('channels', channel),
        summary: about[name],
        messages: [reference('channels', channel, 'messages', camel(name))],
      },
    ]),
  );
}

function channel(title: string, description: string, names: readonly string[]): JsonSchema {
  const messages = names.map((name) => [camel(name), reference('components', 'messages', camel(name))]);
  return { address: null, title, description, messages: Object.fromEntries(messages) };
}

/**
 * AsyncAPI 3.0 of everything that Sluice sends and takes. Channels have no address: where messages go is in
 * the settings (`sinks`, `sources`).
 */
export function asyncApi(): JsonSchema {
  const messages = Object.fromEntries([
    ...EVENT_NAMES.map((name: EventName) => [
      camel(name),
      message(name, eventAbout[name], eventJsonSchema(name)),
    ]),
    ...COMMAND_NAMES.map((name: CommandName) => [
      camel(name),
      message(name, commandAbout[name], commandJsonSchema(name)),
    ]),
  ]);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Sluice',
      version: VERSION,
      description:
        'CloudEvents 1.0 in JSON format. Each event reaches each sink at least once, with the same id and bytes: ' +
        'drop repeats by id. Commands with the same source and id are one. Later versions may add keys to events.',
      license: { name: 'MIT' },
    },
    defaultContentType: STRUCTURED_TYPE,
    channels: {
      events: channel(
        'Events',
        'What Sluice sends to its sinks: webhooks, NATS, RabbitMQ, MQTT, Redis streams, files.',
        EVENT_NAMES,
      ),
      commands: channel(
        'Commands',
        'What Sluice takes from its sources, and by POST /v1/events over HTTP.',
        COMMAND_NAMES,
      ),
    },
    operations: {
      ...operations(EVENT_NAMES, 'events', 'send', eventAbout),
      ...operations(COMMAND_NAMES, 'commands', 'receive', commandAbout),
    },
    components: { messages },
  };
}
