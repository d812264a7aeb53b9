import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knownSecrets, noSecrets } from '../../../../src/core/mcp/secrets.js';

describe('known secrets', () => {
  it.each<[string, string[], string, string]>([
    ['in a text', ['hunter22'], 'it is hunter22, hunter22', 'it is [redacted], [redacted]'],
    ['that are patterns', ['a.c*+?(x)'], 'abc a.c*+?(x)', 'abc [redacted]'],
    ['of which one holds another', ['hunter', 'hunter22'], 'hunter22 hunter', '[redacted] [redacted]'],
    ['after a scheme', ['Bearer hunter22'], 'token hunter22', 'token [redacted]'],
    ['as JSON has them', ['hun"ter\\22'], '{"a":"hun\\"ter\\\\22"}', '{"a":"[redacted]"}'],
    ['line by line', ['first line\nsecond line'], 'x second line', 'x [redacted]'],
    ['of five characters stay', ['12345'], '12345', '12345'],
  ])('%s', (_, values, text, expected) => {
    expect(knownSecrets(values).hide(text)).toBe(expected);
  });

  it('are hidden in values, keys and numbers', () => {
    const value = { a: ['hunter22', { hunter22: 1 }], b: 12345678, c: 123456789, d: null, e: true };
    expect(knownSecrets(['hunter22', '12345678']).hideDeep(value)).toEqual({
      a: ['[redacted]', { '[redacted]': 1 }],
      b: '[redacted]',
      c: 123456789,
      d: null,
      e: true,
    });
  });

  it('leave what is nested without end to others', () => {
    const text = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(() => knownSecrets(['hunter22']).hideDeep(JSON.parse(text))).not.toThrow();
  });

  it('never stand in what is left, and nothing changes without any', () => {
    const secret = fc.stringMatching(/^[A-Z0-9"\\$^.*]{6,20}$/);
    fc.assert(
      fc.property(fc.jsonValue(), secret, fc.string(), (value, known, text) => {
        const hidden = knownSecrets([known]).hideDeep({
          value,
          text: `${text}${known}${text}`,
          [known]: known,
        });
        expect(JSON.stringify(hidden)).not.toContain(JSON.stringify(known).slice(1, -1));
        expect(noSecrets.hideDeep(value)).toBe(value);
      }),
    );
  });
});
