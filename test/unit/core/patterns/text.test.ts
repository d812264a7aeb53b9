import { describe, expect, it } from 'vitest';
import { normalizeText } from '../../../../src/core/patterns/text.js';

describe('normalizeText', () => {
  it.each([
    ['plain\ntext', 'plain\ntext'],
    ['a\r\nb', 'a\nb'],
    ['a\rb', 'a\nb'],
    ['a\r\r\nb', 'a\n\nb'],
    ['a\n\rb', 'a\n\nb'],
    ['a\u2028b\u2029c', 'a\nb\nc'],
    ['a\u0085b\u000bc\fd', 'a\u0085b\u000bc\fd'],
    ['', ''],
  ])('makes %j into %j', (text, normal) => {
    expect(normalizeText(text)).toBe(normal);
  });
});
