import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, redact, redactDeep } from '../../../src/core/redact.js';

// Put together here so that no scanner takes this file for a leak.
const AWS = `AKIA${'IOSFODNN7EXAMPLE'}`;
const GITHUB = `ghp_${'a1B2'.repeat(9)}`;
const KEY = `-----BEGIN RSA ${'PRIVATE'} KEY-----\nMIIEow\nabc=\n-----END RSA ${'PRIVATE'} KEY-----`;

describe('redact', () => {
  it.each([
    [`id ${AWS} used`, 'id [redacted] used'],
    [`git clone with ${GITHUB}`, 'git clone with [redacted]'],
    [`glpat-${'x'.repeat(20)}`, '[redacted]'],
    [`xoxb-${'1234567890'}-abc`, '[redacted]'],
    ['Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
    ['"authorization": "Basic dXNlcjpwYXNz"', '"authorization": "Basic [redacted]"'],
    ['curl -H "bearer 0123456789abcdef0"', 'curl -H "bearer [redacted]"'],
    ['export DB_PASSWORD=hunter2 && x', 'export DB_PASSWORD=[redacted] && x'],
    ['{"token": "abc def", "n": 1}', '{"token": [redacted], "n": 1}'],
    ['api_key: q1', 'api_key: [redacted]'],
    ['mysql --password hunter2 -u root', 'mysql --password [redacted] -u root'],
    ['postgres://app:s3cret@db/x', 'postgres://app:[redacted]@db/x'],
    [`before ${KEY} after`, 'before [redacted] after'],
    ['aws_secret_access_key = wJalrXUtn/K7MDENG', 'aws_secret_access_key = [redacted]'],
    [`-----BEGIN ${'PRIVATE'} KEY-----\nMIIE`, '[redacted]'],
  ])('%j becomes %j', (text, clean) => {
    expect(redact(text)).toBe(clean);
  });

  it.each([
    'systemctl restart nginx',
    'ls /etc/nginx',
    'http://localhost:8080/a',
    'the token ring was basic',
    'max_tokens: 5',
    '-----BEGIN CERTIFICATE-----',
  ])('leaves %j alone', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('leaves no secret in any arrangement', () => {
    const word = fc.constantFrom(
      'password=',
      'token: ',
      AWS,
      GITHUB,
      KEY,
      '://a:b@c',
      ' ',
      '"',
      'x',
      'bearer ',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const once = redact(words.join(''));
        for (const secret of [AWS, GITHUB, 'MIIEow']) expect(once).not.toContain(secret);
      }),
    );
  });

  it.each(['password="', 'eyJaaaaaaaaaaaa-', '://a:', '-----BEGIN PRIVATE KEY-----', 'bearer    ', 'a'])(
    'takes linear time on many times %j',
    (unit) => {
      const text = unit.repeat(Math.ceil(400_000 / unit.length));
      const start = performance.now();
      redact(text);
      expect(performance.now() - start).toBeLessThan(2000);
    },
  );

  it('takes extra patterns', () => {
    const redactor = createRedactor(['EMP-[0-9]+']);
    expect(redactor.redact('EMP-12 and password=x')).toBe('[redacted] and password=[redacted]');
  });
});

describe('redactDeep', () => {
  it('reaches strings in lists and objects and those under telling keys', () => {
    expect(redactDeep({ a: [`k ${AWS}`], db_password: 'x', n: 1, none: null })).toEqual({
      a: ['k [redacted]'],
      db_password: '[redacted]',
      n: 1,
      none: null,
    });
  });

  it('survives nesting that would exhaust the stack', () => {
    let deep: unknown = 'x';
    for (let i = 0; i < 50_000; i += 1) deep = [deep];
    expect(JSON.stringify(redactDeep(deep))).toContain('nested too deep');
  });
});
