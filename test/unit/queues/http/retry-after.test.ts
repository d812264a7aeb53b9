import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../../../queues/http/retry-after.js';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const DAY = 86_400_000;

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['7', 7_000],
    [' 120 ', 120_000],
    ['86400', DAY],
    ['86401', DAY],
    ['999999999999', DAY],
    ['Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
    ['Friday, 02-Jan-26 03:04:35 GMT', 30_000],
    ['Fri Jan  2 03:04:35 2026', 30_000],
    ['Fri, 02 Jan 2026 03:04:00 GMT', 0],
    ['Fri, 02 Jan 2099 00:00:00 GMT', DAY],
  ])('%s asks for %i ms', (header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected);
  });

  it.each([
    undefined,
    '',
    '-5',
    '1.5',
    '1e3',
    'soon',
    '9999999999999999999999',
    '2026-01-02T03:04:35Z',
    'Fri, 99 Jan 2026 03:04:35 GMT',
    '7, 8',
  ])('%s asks for nothing', (header) => {
    expect(retryAfterMs(header, NOW)).toBeUndefined();
  });
});
