import { describe, expect, it } from 'vitest';
import { commandLine } from '../../../../src/core/command/line.js';
import type { ToolDocument } from '../../../../src/core/registry/model.js';

const filled = (inside: string) => `\${${inside}}`;
const args = { path: 'a b', n: 3, on: true, list: [1, { a: 'x' }], none: null, empty: '' };
const line = (command: string[], more: Partial<ToolDocument> = {}, given: object = {}) =>
  commandLine({ command, ...more } as ToolDocument, { args, resource: 'repo/main', slot: null, ...given });

describe('the line of a command', () => {
  it.each<[string, string[], string[]]>([
    ['without placeholders is as it stands', ['x', '$HOME', '*', '$(id)'], ['x', '$HOME', '*', '$(id)']],
    ['has texts as one part, spaces and all', ['x', filled('args.path')], ['x', 'a b']],
    [
      'has numbers and booleans as text, and all else as JSON',
      ['x', filled('args.n'), filled('args.on'), filled('args.list'), filled('args.none')],
      ['x', '3', 'true', '[1,{"a":"x"}]', 'null'],
    ],
    ['keeps an argument that is empty', ['x', filled('args.empty')], ['x', '']],
    [
      'leaves out parts for what is not there',
      ['x', filled('args.gone'), filled('slot'), filled('resource')],
      ['x', 'repo/main'],
    ],
    [
      'has nothing within a part for what is not there',
      ['x', `--in=${filled('args.gone')}`, `${filled('slot')}${filled('args.gone')}`],
      ['x', '--in=', ''],
    ],
    [
      'has several values in one part',
      ['x', `${filled('args.n')}/${filled('resource')}!`],
      ['x', '3/repo/main!'],
    ],
    ['has the literal where that is meant', ['x', `$${filled('HOME')}$`], ['x', `${filled('HOME')}$`]],
    ['never leaves out the program', [filled('args.gone'), 'y'], ['', 'y']],
    ['fills in nothing of what was filled in', ['x', filled('args.nested')], ['x', filled('resource')]],
    ['does not find what an object has by nature', ['x', filled('args.toString')], ['x']],
  ])('%s', (_, command, expected) => {
    expect(line(command, {}, { args: { ...args, nested: filled('resource') } })).toEqual(expected);
  });

  it('of a script keeps every part in its place', () => {
    const command = [`echo ${filled('HOME')} $2`, filled('args.gone'), filled('args.path')];
    expect(line(command, { shell: true })).toEqual([
      '/bin/sh',
      '-c',
      `echo ${filled('HOME')} $2`,
      'sh',
      '',
      'a b',
    ]);
  });
});
