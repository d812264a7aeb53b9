import { describe, expect, it } from 'vitest';
import { checkEvent } from '../../../src/compose/event-check.js';
import type { BatchRecord } from '../../../src/core/batch.js';
import { batchCompletedEvent } from '../../../src/core/evaluation-events.js';
import { makeEvent } from '../../../src/core/events.js';

const batch: BatchRecord = {
  id: 'b',
  createdAt: 0,
  options: { strict: false, from: 'direct', informationalErrors: 'ignore' },
  scenarios: {},
  retentionMs: 1000,
  state: 'open',
  total: 1,
  accepted: 1,
  decided: 1,
  passed: 1,
  failed: 0,
  errored: 0,
  vacuousPasses: 0,
  completedAt: null,
};

describe('events held to their schemas', () => {
  it('are checked in the tests', () => {
    expect(process.env.SLUICE_CHECK_EVENTS).toBe('1');
  });

  it('pass as they are made', () => {
    expect(() => checkEvent(batchCompletedEvent('f', batch, 5))).not.toThrow();
  });

  it.each([
    ['a key that is not known', { batch: 'b', nonsense: 1 }, /Unrecognized key: "nonsense"/],
    ['a key that is missing', { batch: 'b' }, /data\.decided/],
  ])('are refused for %s', (_, data, message) => {
    const event = makeEvent({
      fleet: 'f',
      name: 'batch.completed',
      subject: 'b',
      revision: '1',
      sequence: 1,
      time: 0,
      data,
    });
    expect(() => checkEvent(event)).toThrow(message);
  });

  it('are refused for a type that has no schema', () => {
    expect(() => checkEvent({ id: 'x', type: 'dev.sluice.other.v1', json: '{}' })).toThrow(/no schema/);
  });
});
