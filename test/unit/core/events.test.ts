import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventId, makeEvent } from '../../../src/core/events.js';

const input = {
  fleet: 'f',
  name: 'evaluation.passed' as const,
  subject: 's',
  revision: '1',
  sequence: 3,
  time: 1_700_000_000_000,
  data: { a: 1 },
};

describe('event ids', () => {
  it('are a function of aggregate, revision and name, and of nothing else', () => {
    const again = makeEvent({ ...input, time: 5, data: { a: 2 }, sequence: 9, correlation: 'b', fleet: 'g' });
    expect(again.id).toBe(makeEvent(input).id);
    expect(makeEvent(input).id).toMatch(/^[0-9a-f]{32}$/);
  });

  it('stay what they are over releases', () => {
    expect(eventId('s', '1', 'evaluation.passed')).toBe('8f942b90c6e481b8234e007d82f15d18');
  });

  it('differ when any part differs', () => {
    const part = fc.stringMatching(/^[a-z0-9./]{1,12}$/);
    const parts = fc.tuple(part, part, part);
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        fc.pre(a.join('\n') !== b.join('\n'));
        expect(eventId(...a)).not.toBe(eventId(...b));
      }),
    );
  });
});

describe('makeEvent', () => {
  it('is a CloudEvent 1.0 with extensions in [a-z0-9]', () => {
    const event = makeEvent({ ...input, correlation: 'batch', causation: 'cause' });
    expect(JSON.parse(event.json)).toEqual({
      specversion: '1.0',
      id: event.id,
      source: '/sluice/f',
      type: 'dev.sluice.evaluation.passed.v1',
      subject: 's',
      time: '2023-11-14T22:13:20.000Z',
      datacontenttype: 'application/json',
      partitionkey: 's',
      sequence: '3',
      correlationid: 'batch',
      causationid: 'cause',
      data: { a: 1 },
    });
    expect(event.type).toBe('dev.sluice.evaluation.passed.v1');
  });

  it('leaves out what is not known', () => {
    expect(JSON.parse(makeEvent(input).json)).not.toHaveProperty('correlationid');
  });
});
