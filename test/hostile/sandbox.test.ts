import { afterAll, expect, it } from 'vitest';
import { newTraces, traces } from '../support/traces.js';

const before = traces();
afterAll(async () => expect(await newTraces(before)).toEqual([]));

it('leaves nothing', () => {
  expect(before.size).toBeGreaterThanOrEqual(0);
});
