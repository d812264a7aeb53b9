import { describe, expect, it } from 'vitest';
import { groupsOf, messageOf } from '../../../../queues/webhook/message.js';
import { testEvent, testEvents } from '../../../support/bus-events.js';

const STRUCTURED = 'application/cloudevents+json';
const BATCHED = 'application/cloudevents-batch+json';

describe('a message of one event', () => {
  it('is the event as it is in structured mode', () => {
    const event = testEvent(1);
    expect(messageOf('structured', [event])).toEqual({
      id: event.id,
      headers: { 'content-type': STRUCTURED },
      body: event.json,
    });
  });

  it('is its data with its attributes in headers in binary mode', () => {
    const event = testEvent(1, 'é');
    expect(messageOf('binary', [event])).toEqual({
      id: event.id,
      headers: {
        'ce-specversion': '1.0',
        'ce-id': event.id,
        'ce-source': '/sluice/test',
        'ce-type': event.type,
        'ce-subject': 'evaluation-1',
        'ce-time': '2026-01-02T03:04:05.678Z',
        'ce-partitionkey': 'evaluation-1',
        'ce-sequence': '3',
        'content-type': 'application/json',
      },
      body: '{"n":1,"text":"é"}',
    });
  });

  it('encodes attributes, and leaves out what is none', () => {
    const json = JSON.stringify({
      specversion: '1.0',
      id: 'x',
      source: '/a b',
      type: 't',
      big: 7,
      no: null,
      'x-y': 1,
    });
    const { headers, body } = messageOf('binary', [{ id: 'x', type: 't', json }]);
    expect(headers).toEqual({
      'ce-specversion': '1.0',
      'ce-id': 'x',
      'ce-source': '/a%20b',
      'ce-type': 't',
      'ce-big': '7',
      'content-type': 'application/json',
    });
    expect(body).toBe('');
  });

  it('is a list of one in mode batched, under the id of the event', () => {
    const event = testEvent(1);
    const message = messageOf('batched', [event]);
    expect(message).toEqual({ id: event.id, headers: { 'content-type': BATCHED }, body: `[${event.json}]` });
  });

  it.each(['structured', 'binary', 'batched'] as const)(
    'is a projection as the data of the event, in mode %s',
    (mode) => {
      const event = { ...testEvent(1), projected: '{"text":"hi"}' };
      const { headers, body } = messageOf(mode, [event]);
      expect(body).toBe(event.projected);
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'ce-id': event.id,
        'ce-type': event.type,
      });
    },
  );

  it('is a projection that is a CloudEvent as any other event', () => {
    const projected = testEvent(2).json;
    const { headers, body } = messageOf('structured', [{ ...testEvent(1), projected }]);
    expect({ headers, body }).toEqual({ headers: { 'content-type': STRUCTURED }, body: projected });
  });

  it('keeps binary data inside the event', () => {
    const projected = JSON.stringify({
      ...JSON.parse(testEvent(2).json),
      data: undefined,
      data_base64: 'AAE=',
    });
    const { headers, body } = messageOf('binary', [{ ...testEvent(1), projected }]);
    expect({ headers, body }).toEqual({ headers: { 'content-type': STRUCTURED }, body: projected });
  });
});

describe('a message of several events', () => {
  it('has an id that is the same for the same events, and their list as its body', () => {
    const [one, other] = [messageOf('batched', testEvents(3)), messageOf('batched', testEvents(2))];
    expect(one).toEqual(messageOf('batched', testEvents(3)));
    expect(one.id).toMatch(/^[0-9a-f]{32}$/);
    expect(one.id).not.toBe(other.id);
    expect(JSON.parse(one.body)).toEqual(testEvents(3).map(({ json }) => JSON.parse(json)));
  });
});

describe('groups', () => {
  const sizes = (groups: unknown[][]) => groups.map((group) => group.length);
  const bytes = Buffer.byteLength(testEvent(1).json);

  it.each([
    [7, 3, 10_000_000, [3, 3, 1]],
    [3, 1, 10_000_000, [1, 1, 1]],
    [0, 3, 10_000_000, []],
    [4, 100, 2 * bytes + 3, [2, 2]],
    [4, 100, 2 * bytes + 2, [1, 1, 1, 1]],
    [2, 100, 10, [1, 1]],
  ])('%i events, %i at most, of %i bytes: %j', (count, most, mostBytes, expected) => {
    // Numbers of one digit count: all are as long as the first.
    const groups = groupsOf(testEvents(count), most, mostBytes);
    expect(sizes(groups)).toEqual(expected);
    expect(groups.flat()).toEqual(testEvents(count));
    for (const group of groups.filter(({ length }) => length > 1))
      expect(Buffer.byteLength(messageOf('batched', group).body)).toBeLessThanOrEqual(mostBytes);
  });

  it('leave what is no CloudEvent by itself', () => {
    const events = testEvents(4).map((event, n) => (n === 1 ? { ...event, projected: '7' } : event));
    expect(sizes(groupsOf(events, 100, 10_000_000))).toEqual([1, 1, 2]);
  });
});
