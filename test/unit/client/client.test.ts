import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { BlockReader } from '../../../src/client/server-sent.js';
import { waitBefore } from '../../../src/client/transport.js';
import { ROOT } from '../../support/cli.js';

describe('what programs load that call the API', () => {
  it('is small, and nothing but the client', async () => {
    const { metafile, outputFiles } = await build({
      entryPoints: ['src/client.ts'],
      absWorkingDir: ROOT,
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'neutral',
    });
    for (const file of Object.keys(metafile.inputs)) expect(file).toMatch(/^src\/client(?:\.ts$|\/)/);
    expect(outputFiles[0]?.contents.length).toBeLessThan(50_000);
  });
});

describe('server-sent events', () => {
  const TEXT =
    'retry: 500\n: words\nid: 0-0\n\nid: 1-0\nevent: plan.failed\ndata: {"a":1}\n\ndata:x\r\ndata: y\r\n\r\n: comment\n\nid\n\nunknown: z\n\n';
  const BLOCKS = [
    { retry: 500, id: '0-0' },
    { id: '1-0', event: 'plan.failed', data: '{"a":1}' },
    { data: 'x\ny' },
    {},
    { id: '' },
    {},
  ];

  it.each([1, 2, 3, 7, 1000])('are the same however they come: in pieces of %i', (size) => {
    const reader = new BlockReader();
    const blocks = [];
    for (let at = 0; at < TEXT.length; at += size) blocks.push(...reader.push(TEXT.slice(at, at + size)));
    expect(blocks).toEqual(BLOCKS);
  });

  it('are none before their blank line', () => {
    const reader = new BlockReader();
    expect(reader.push('data: half\n')).toEqual([]);
    expect(reader.push('\n')).toEqual([{ data: 'half' }]);
  });
});

describe('the wait before another try', () => {
  const asked = (header: string) => new Response('', { headers: { 'retry-after': header } });

  it('grows, differs from client to client, and is bounded', () => {
    for (let nth = 1; nth < 40; nth += 1) {
      const ms = waitBefore(nth);
      const full = Math.min(10_000, 200 * 2 ** (nth - 1));
      expect(ms).toBeGreaterThanOrEqual(full / 2);
      expect(ms).toBeLessThanOrEqual(full);
    }
  });

  it.each([
    ['2', 2000],
    ['100000', 60_000],
    ['nonsense', 0],
    ['-5', 0],
  ])('is at least what the server asks: %s', (header, least) => {
    expect(waitBefore(1, asked(header))).toBeGreaterThanOrEqual(least);
    expect(waitBefore(1, asked(header))).toBeLessThanOrEqual(60_000);
  });

  it('takes a date as well', () => {
    const ms = waitBefore(1, asked(new Date(Date.now() + 5000).toUTCString()));
    expect(ms).toBeGreaterThan(3500);
    expect(ms).toBeLessThan(5500);
  });
});
