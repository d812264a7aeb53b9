import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../../../queues/http/client.js';
import { outcomeOf } from '../../../../queues/webhook/outcome.js';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const answer = (status: number, body = '', headers: HttpAnswer['headers'] = {}): HttpAnswer => ({
  status,
  statusText: 'Words',
  headers,
  body: Buffer.from(body),
  cut: false,
});
const outcome = (one: HttpAnswer, hide = (text: string) => text) => outcomeOf(one, NOW, hide);

describe('the answer of a receiver', () => {
  it.each([200, 201, 202, 204, 299])('%i delivers, whatever the body says', (status) => {
    expect(outcome(answer(status, '<error>no</error>'))).toBeUndefined();
  });

  it.each([
    [410, 'gone', false],
    [408, 'away', false],
    [425, 'away', false],
    [429, 'away', false],
    [500, 'away', false],
    [502, 'away', false],
    [503, 'away', false],
    [599, 'away', false],
    [413, 'refused', true],
    [400, 'refused', false],
    [401, 'refused', false],
    [403, 'refused', false],
    [404, 'refused', false],
    [409, 'refused', false],
    [422, 'refused', false],
    [301, 'refused', false],
    [304, 'refused', false],
    [101, 'refused', false],
  ])('%i is %s, final: %s', (status, kind, final) => {
    const found = outcome(answer(status, 'told'));
    expect(found?.kind).toBe(kind);
    expect(found?.final ?? false).toBe(final);
    expect(found?.reason).toContain(String(status));
    expect(found?.response).toBe(`HTTP ${status} Words\ntold`);
  });

  it.each([429, 503])('%i may ask for a wait', (status) => {
    expect(outcome(answer(status, '', { 'retry-after': '7' }))?.retryAfterMs).toBe(7000);
    expect(outcome(answer(status, '', { 'retry-after': 'soon' }))).not.toHaveProperty('retryAfterMs');
  });

  it('says where a redirect points to, without its query', () => {
    const found = outcome(answer(302, '', { location: 'http://169.254.169.254/latest?key=hidden' }));
    expect(found?.reason).toBe(
      'the receiver answered 302 and points to http://169.254.169.254/latest; redirects are not followed',
    );
    expect(outcome(answer(302))?.reason).toContain('points to nowhere');
  });

  it('keeps 2 KiB of text, in whole characters', () => {
    const response = outcome(answer(500, '€'.repeat(3000)))?.response ?? '';
    expect(Buffer.byteLength(response)).toBeLessThanOrEqual(2048);
    expect(response.endsWith('€')).toBe(true);
  });

  it('keeps no secrets and nothing that steers a terminal', () => {
    const body = '\u001b[31mtoken=abcdefgh12345 and my-own-secret\u0007\r\nnext';
    const found = outcome(answer(500, body), (text) => text.replaceAll('my-own-secret', '[redacted]'));
    expect(found?.response).toBe('HTTP 500 Words\n[31mtoken=[redacted] and [redacted]\nnext');
  });

  it('keeps bytes that are no text as replacement characters', () => {
    const found = outcome({ ...answer(500), body: Buffer.from([0xff, 0xfe, 0x00, 0x41]) });
    expect(found?.response).toBe('HTTP 500 Words\n\ufffd\ufffdA');
  });
});
