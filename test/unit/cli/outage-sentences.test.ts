import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { OutageSentences } from '../../../src/cli/evaluate/outage-sentences.js';

afterEach(() => vi.restoreAllMocks());

describe('what Redis refuses while a batch waits', () => {
  it('is one sentence for each kind every half minute, without the reply of the script', () => {
    const said: string[] = [];
    const logged: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said.push(String(text));
      return true;
    });
    let now = 0;
    const log = pino({ level: 'warn' }, { write: (entry: string) => logged.push(entry) });
    const sentences = new OutageSentences(log, () => now);
    for (const script of ['a', 'b', 'c'])
      sentences.other(new Error(`OOM command not allowed. script: ${script}`));
    sentences.other(new Error('MISCONF Errors writing to the AOF file'));
    now = 30_000;
    sentences.other(new Error('OOM command not allowed. script: d'));
    sentences.other(new Error('boom'));
    expect(said.map((line) => /OOM|MISCONF/.exec(line)?.[0])).toEqual(['OOM', 'MISCONF', 'OOM']);
    expect(said.join('')).not.toContain('script:');
    expect(logged).toEqual([expect.stringContaining('boom')]);
  });
});
