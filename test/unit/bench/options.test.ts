import { describe, expect, it } from 'vitest';
import { readOptions, UsageError } from '../../../bench/harness/options.js';

const NAMES = ['batch', 'packing-off', 'latency'];
const read = (...args: string[]) => readOptions(args, NAMES);

describe('the options of the bench', () => {
  it.each([
    [[], { kind: 'run', size: 'full', rows: NAMES }],
    [['--quick'], { kind: 'run', size: 'quick', rows: NAMES }],
    [['--only', 'latency,batch'], { kind: 'run', size: 'full', rows: ['batch', 'latency'] }],
    [
      ['--tiny', '--only', 'batch', '--only', 'latency'],
      { kind: 'run', size: 'tiny', rows: ['batch', 'latency'] },
    ],
    [['--only', 'checks'], { kind: 'run', size: 'full', rows: ['batch', 'packing-off'] }],
    [['compare', 'a.json', 'b.json'], { kind: 'compare', files: ['a.json', 'b.json'] }],
    [['--list'], { kind: 'list' }],
    [['--install-peers'], { kind: 'install-peers' }],
    [['-h'], { kind: 'help' }],
  ])('%j', (args, options) => {
    expect(read(...args)).toEqual(options);
  });

  it.each([
    [
      'every name that is no row, with the nearest',
      ['--only', 'bach,latncy'],
      /bach.*"batch"[\s\S]*latncy.*"latency"/,
    ],
    ['no name at all', ['--only', ''], /names no row/],
    ['an option that there is not', ['--fast'], /--fast/],
    ['a word that there is not', ['compete'], /compete/],
    ['two sizes', ['--quick', '--tiny'], /not both/],
    ['three results', ['compare', 'a', 'b', 'c'], /two files/],
  ])('refuses %s', (_, args, message) => {
    expect(() => read(...args)).toThrow(UsageError);
    expect(() => read(...args)).toThrow(message);
  });
});
