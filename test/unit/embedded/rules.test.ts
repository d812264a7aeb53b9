import { describe, expect, it } from 'vitest';
import { isRecentEnough } from '../../../src/embedded/binary.js';
import { encodeMessage, parseMessage } from '../../../src/embedded/messages.js';

describe('a server version', () => {
  it.each([
    ['6.0.16', false],
    ['5.9', false],
    ['6.2.0', true],
    ['7.0.15', true],
    ['8.1', true],
  ])('%s is recent enough: %s', (version, enough) => {
    expect(isRecentEnough(version)).toBe(enough);
  });
});

describe('a guard’s message', () => {
  it('survives the wire', () => {
    const message = { status: 'ready', port: 4_000, password: 'secret' } as const;
    expect(parseMessage(encodeMessage(message).trim())).toEqual(message);
  });

  it.each(['', '{', '[]', '{"status":"ready"}', '{"status":"ready","port":0,"password":"x"}'])(
    'that reads %j is nothing',
    (line) => {
      expect(parseMessage(line)).toBeUndefined();
    },
  );
});
