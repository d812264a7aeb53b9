import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { builtInSinks } from '../../../queues/sinks/built-in.js';
import { builtInSources } from '../../../queues/sources/built-in.js';

const [page = ''] = readFileSync('docs/buses.md', 'utf8').split('\n## ');
const rows = new Map(
  [...page.matchAll(/^\| `([a-z-]+)` \| ([^|]*)\| ([^|]*)\|/gm)].map(
    ([, kind = '', sink = '', source = '']) => [kind, { sink: sink.trim(), source: source.trim() }],
  ),
);

/** Files of a folder that hold a kind: the list, and what only helps, is none. */
const filesIn = (folder: string, helpers: readonly string[] = []) =>
  readdirSync(folder)
    .map((name) => name.replace(/\.ts$/, ''))
    .filter((name) => name !== 'built-in' && !helpers.includes(name))
    .sort();

const names = (kinds: readonly { kind: string }[]) => kinds.map(({ kind }) => kind).sort();

describe('sinks and sources', () => {
  it('are one file and one line each', () => {
    expect(names(builtInSinks)).toEqual(filesIn('queues/sinks'));
    expect(names(builtInSources)).toEqual(filesIn('queues/sources', ['references']));
  });

  it.each(names(builtInSinks))('have the sink %s on their page', (kind) => {
    expect(rows.get(kind)?.sink).toBe('yes');
  });

  it.each(names(builtInSources))('have the source %s on their page', (kind) => {
    expect(rows.get(kind)?.source).toBe('yes');
  });
});
