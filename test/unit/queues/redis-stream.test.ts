import { expect, it } from 'vitest';
import { messageOf } from '../../../queues/redis-stream/source.js';
import { decodeMessage } from '../../../src/core/cloud-events.js';
import { requestedEvent } from '../../support/commands.js';

const entry = (body: unknown) => ({
  id: '1-0',
  fields: ['event', JSON.stringify(body)].map((text) => Buffer.from(text)),
});
const PLACE = { key: 'commands', field: 'event' };

it('an entry of a Redis stream is one CloudEvent, or a batch of them', () => {
  const [one, two] = [requestedEvent('one'), requestedEvent('two')];
  expect(decodeMessage(messageOf(entry(one), PLACE))).toMatchObject({
    isBatch: false,
    events: [{ id: 'one' }],
  });
  expect(decodeMessage(messageOf(entry([one, two]), PLACE))).toMatchObject({
    isBatch: true,
    events: [{ id: 'one' }, { id: 'two' }],
    refused: [],
  });
});
