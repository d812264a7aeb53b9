import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { TextOut } from '../../../src/reports/text-out.js';
import { Collector } from './fixtures.js';

describe('TextOut', () => {
  it('gathers small texts and loses none', async () => {
    const out = new Collector();
    const text = new TextOut(out);
    for (let i = 0; i < 5_000; i += 1) await text.write(`line ${i}\n`);
    expect(out.text.length).toBeLessThan(5_000 * 10);
    await text.flush();
    expect(out.text.split('\n')).toHaveLength(5_001);
    expect(out.listenerCount('error')).toBe(0);
  });

  it.each(['EPIPE', 'ENOSPC'])('rejects on %s, and on every call after it', async (code) => {
    const out = new Writable({
      write(_chunk, _encoding, done) {
        done(Object.assign(new Error(code), { code }));
      },
    });
    out.on('error', () => {});
    const text = new TextOut(out);
    await text.write('a');
    await expect(text.flush()).rejects.toMatchObject({ code });
    await text.write('b');
    await expect(text.flush()).rejects.toThrow();
  });
});
