import { describe, expect, it } from 'vitest';
import { packsInHand } from '../../../queues/consumers.js';
import { packOptions, withRetry } from '../../../queues/job-options.js';
import { deliveryQueue, flowId, QUEUES, queuePrefix } from '../../../queues/names.js';
import { decidePayloadSchema, deliverPayloadSchema, packPayloadSchema } from '../../../queues/payloads.js';

describe('names of queues and jobs', () => {
  it('carry no colon, which is BullMQ’s own', () => {
    const names = [...Object.values(QUEUES), deliveryQueue('ndjson-0a'), flowId({ id: 'E', attempt: 1 }, 2)];
    for (const name of names) expect(name).not.toContain(':');
    expect(flowId({ id: 'E', attempt: 1 }, 2)).toBe('E-1-2');
  });

  it('keep a fleet on one node of a cluster', () => {
    expect(queuePrefix('f')).toMatch(/\{[^}]+\}/);
  });
});

describe('options of a child job', () => {
  it('release the parent when it fails, and none of those that open gates in silence', () => {
    const options = packOptions('id', 3);
    expect(options).toMatchObject({ jobId: 'id', attempts: 3, ignoreDependencyOnFailure: true });
    for (const banned of [
      'removeOnFail',
      'removeDependencyOnFailure',
      'failParentOnFailure',
      'continueParentOnFailure',
    ])
      expect(options).not.toHaveProperty(banned);
  });
});

describe('a child that failed', () => {
  it('is tried again after a growing pause, or after that which it brought along', () => {
    const job = { opts: packOptions('id', 3) };
    withRetry(job);
    expect(job.opts.backoff).toMatchObject({ type: 'exponential' });
    const own = { opts: { ...packOptions('id', 3), backoff: 7 } };
    withRetry(own);
    expect(own.opts.backoff).toBe(7);
  });
});

describe('payloads', () => {
  const pack = {
    chunk: 'c',
    attempt: 1,
    generation: 1,
    acceptedAt: 1,
    pack: { queue: 'pure', from: 0, to: 1 },
  };
  it.each([
    [packPayloadSchema, pack, true],
    [packPayloadSchema, { ...pack, begun: 2 }, true],
    [packPayloadSchema, { ...pack, pack: { ...pack.pack, queue: 'other' } }, false],
    [packPayloadSchema, { ...pack, pack: { ...pack.pack, from: -1 } }, false],
    [packPayloadSchema, { ...pack, generation: 0 }, false],
    [packPayloadSchema, null, false],
    [decidePayloadSchema, { chunk: 'c', attempt: 1, generation: 1 }, true],
    [decidePayloadSchema, { chunk: '', attempt: 1, generation: 1 }, false],
    [deliverPayloadSchema, { positions: ['1-0'] }, true],
    [deliverPayloadSchema, { positions: [] }, false],
  ])('are parsed on arrival: case %#', (schema, payload, fine) => {
    expect(schema.safeParse(payload).success).toBe(fine);
  });
});

describe('packsInHand', () => {
  it.each([
    [64, 4, 4],
    [1, 4, 64],
    [0, 4, 64],
    [8, 4, 8],
    [1000, 1, 1],
    [64, 80, 80],
  ])('packs of %d evaluations, at least %d: %d', (evaluations, least, packs) => {
    expect(packsInHand(evaluations, least)).toBe(packs);
  });
});
