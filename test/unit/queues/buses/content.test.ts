import { describe, expect, it } from 'vitest';
import { contentOf } from '../../../../queues/buses/content.js';
import { withoutLogin } from '../../../../queues/buses/login.js';
import { fillTemplate } from '../../../../queues/buses/template.js';
import { attributesOf } from '../../../../queues/mqtt/message.js';
import { packetBytes } from '../../../../queues/mqtt/packet-size.js';
import { topicOf } from '../../../../queues/mqtt/session.js';

const cloudEvent = (rest: Record<string, unknown>) => ({
  id: 'e1',
  type: 'dev.sluice.plan.failed.v1',
  json: JSON.stringify({ specversion: '1.0', id: 'e1', type: 'dev.sluice.plan.failed.v1', ...rest }),
});

describe('the content of a message', () => {
  it.each<[string, Record<string, unknown>, string, string | undefined]>([
    ['JSON', { datacontenttype: 'application/json', data: { a: [1] } }, '{"a":[1]}', 'application/json'],
    ['data without a type', { data: 'text' }, '"text"', 'application/json'],
    ['bytes', { datacontenttype: 'image/png', data_base64: 'AQID' }, '\u0001\u0002\u0003', 'image/png'],
    ['no data', {}, '', undefined],
  ])('in binary mode is the data: %s', (_, rest, body, contentType) => {
    const content = contentOf(cloudEvent({ ...rest, sequence: 3 }), 'binary');
    expect(content.body.toString()).toBe(body);
    expect(content.contentType).toBe(contentType);
    expect(content.attributes).toEqual({
      specversion: '1.0',
      id: 'e1',
      type: 'dev.sluice.plan.failed.v1',
      sequence: '3',
    });
  });

  it.each(['structured', 'binary'] as const)('is what was projected, in %s mode too', (mode) => {
    const content = contentOf({ ...cloudEvent({}), projected: '"é"' }, mode);
    expect(content).toEqual({ body: Buffer.from('"é"'), contentType: 'application/json', attributes: {} });
  });
});

describe('the address of an event', () => {
  const event = cloudEvent({ subject: 'a/b.c+#' });
  it.each([
    ['{type}', 'plan.failed', 'plan/failed'],
    ['x.{type}.{subject}', 'x.plan.failed.a/b.c+#', 'x.plan/failed.a%2Fb.c%2B%23'],
    ['{subject}{subject}', 'a/b.c+#a/b.c+#', 'a%2Fb.c%2B%23a%2Fb.c%2B%23'],
    ['plain', 'plain', 'plain'],
  ])('%s is filled for AMQP and for MQTT', (template, key, topic) => {
    expect(fillTemplate(template, event)).toBe(key);
    expect(topicOf(template, event)).toBe(topic);
  });

  it('of an event without a subject has nothing in its place', () => {
    expect(fillTemplate('a.{subject}', cloudEvent({}))).toBe('a.');
  });
});

describe('user properties of MQTT', () => {
  it.each<[Record<string, string | string[]>, Record<string, string>]>([
    [
      { specversion: '1.0', id: ['a', 'b'], 'x-trace': 't' },
      { specversion: '1.0', id: 'a' },
    ],
    [{ id: 'a', other: 'b' }, {}],
    [{}, {}],
  ])('%j are the attributes %j', (properties, attributes) => {
    expect(attributesOf(properties)).toEqual(attributes);
  });
});

it.each([
  [0, 1 + 1 + 3 + 2 + 1],
  [121, 1 + 1 + 3 + 2 + 1 + 121],
  [122, 1 + 2 + 3 + 2 + 1 + 122],
  [16_377, 1 + 2 + 3 + 2 + 1 + 16_377],
  [16_378, 1 + 3 + 3 + 2 + 1 + 16_378],
])('a packet of MQTT with a body of %i bytes has %i', (body, bytes) => {
  expect(packetBytes('t', body, { userProperties: {} })).toBe(bytes);
});

it('an answer that repeats user or password is shown without them', () => {
  const text = "access to vhost 'x' refused for user 'robot' with 'robot-secret'";
  expect(withoutLogin(text, { user: 'robot', password: 'robot-secret' })).toBe(
    "access to vhost 'x' refused for user '***' with '***'",
  );
});
