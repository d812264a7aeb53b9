import { describe, expect, it } from 'vitest';
import { misplacedNames, readArguments, splitWords } from '../../../src/cli/given-arguments.js';
import { ProblemList } from '../../../src/cli/options.js';
import type { JsonObject } from '../../../src/core/registry/model.js';

const KNOWN = ['--project', '--plan', '--slot', '--args', '--json', '--log-level'];

async function read(schema: JsonObject, words: string[], args?: string) {
  const problems = new ProblemList();
  const given = await readArguments(schema, args, { words, known: KNOWN }, problems);
  return { given, problems: problems.problems };
}

describe('words behind a name', () => {
  it.each<[string[], Record<string, unknown>]>([
    [['--a', '1'], { a: ['1'] }],
    [['--a=1=2', '--b', ''], { a: ['1=2'], b: [''] }],
    [['--a', '--b', '2'], { a: [true], b: ['2'] }],
    [['--a', '-5', '--b', '-.5', '--c', '-'], { a: ['-5'], b: ['-.5'], c: ['-'] }],
    [['--a=-x'], { a: ['-x'] }],
    [['--a', '1', '--a', '2'], { a: ['1', '2'] }],
    [['--', '--json', '1'], { json: ['1'] }],
    [['--a='], { a: [''] }],
  ])('%j are options with their values', (words, expected) => {
    const problems = new ProblemList();
    expect(splitWords(words, problems)).toEqual(expected);
    expect(problems.problems).toEqual([]);
  });

  it.each([[['x']], [['--a', '1', 'x']], [['-a', '1']], [['--=x']]])('%j are refused', (words) => {
    const problems = new ProblemList();
    splitWords(words, problems);
    expect(problems.problems.length).toBeGreaterThan(0);
    expect(problems.problems[0]).toMatchObject({ code: 'USAGE', path: 'arguments' });
  });

  it('may be called what objects have by nature', () => {
    const found = splitWords(['--__proto__', 'x', '--constructor', 'y'], new ProblemList());
    expect(Object.entries(found)).toEqual([
      ['__proto__', ['x']],
      ['constructor', ['y']],
    ]);
  });
});

describe('arguments', () => {
  const schema = {
    type: 'object',
    properties: { max_rows: { type: 'integer' }, path: { type: 'string' } },
  };

  it('are read by the schema, from options and from JSON', async () => {
    const answer = await read(schema, ['--max-rows', '5'], '{"path": "x"}');
    expect(answer).toEqual({ given: { path: 'x', max_rows: 5 }, problems: [] });
  });

  it('are not given twice', async () => {
    const { problems } = await read(schema, ['--path', 'y'], '{"path": "x"}');
    expect(problems).toMatchObject([{ path: '--path', code: 'USAGE' }]);
  });

  it.each(['[1]', '"x"', '{"a": ', '@/no/such/file'])('are refused as --args %s', async (args) => {
    const { problems } = await read(schema, [], args);
    expect(problems).toMatchObject([{ path: '--args', code: 'BAD_ARGUMENTS' }]);
  });

  it.each([
    ['projct', '--project'],
    ['proj', '--project'],
    ['plans', '--plan'],
    ['log_level', '--log-level'],
  ])('called --%s are taken for a slip when any would be accepted', async (key, nearest) => {
    const { problems } = await read({ type: 'object' }, [`--${key}`, 'x']);
    expect(problems).toMatchObject([{ path: `--${key}`, nearest }]);
  });

  it('may be near an option when the schema knows them, and far from all else', async () => {
    const near = { type: 'object', properties: { plans: { type: 'string' } } };
    expect(await read(near, ['--plans', 'x'])).toEqual({ given: { plans: 'x' }, problems: [] });
    expect(await read({ type: 'object' }, ['--path', 'x'])).toEqual({ given: { path: 'x' }, problems: [] });
  });
});

describe('names', () => {
  it('come first', () => {
    const problems = new ProblemList();
    misplacedNames({ resource: '--max', validation: '5' }, problems);
    expect(problems.problems).toMatchObject([{ path: 'resource', code: 'USAGE' }]);
  });
});
