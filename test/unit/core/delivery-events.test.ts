import { describe, expect, it } from 'vitest';
import {
  deliveryDeadEvent,
  deliveryDisabledEvent,
  deliveryEventData,
} from '../../../src/core/delivery-events.js';
import type { OutboxEvent } from '../../../src/core/events.js';

const dataOf = (event: OutboxEvent | undefined) => JSON.parse(event?.json ?? '').data;

describe('events of delivery', () => {
  it('delivery.dead is one event for each event and sink', () => {
    const event = { id: 'e', type: 't', json: '{}' };
    const failed = { reason: 'r', code: 'refused', tries: 3 };
    const [a, b, again] = ['x', 'y', 'x'].map((sink, n) => deliveryDeadEvent('f', sink, event, failed, n));
    expect(a?.id).toBe(again?.id);
    expect(a?.id).not.toBe(b?.id);
    expect(dataOf(a)).toEqual({ sink: 'x', event: 'e', event_type: 't', ...failed });
    expect(deliveryEventData['delivery.dead'].parse(dataOf(a))).toEqual(dataOf(a));
  });

  it('delivery.disabled is another event each time that a sink is disabled', () => {
    const sink = { name: 'hook', kind: 'webhook', target: 'https://example.com' };
    const [a, b, again] = [1, 2, 1].map((now) => deliveryDisabledEvent('f', sink, '410 Gone', now));
    expect(a?.id).toBe(again?.id);
    expect(a?.id).not.toBe(b?.id);
    expect(dataOf(a)).toEqual({ sink: 'hook', kind: 'webhook', target: sink.target, reason: '410 Gone' });
    expect(deliveryEventData['delivery.disabled'].parse(dataOf(a))).toEqual(dataOf(a));
  });
});
