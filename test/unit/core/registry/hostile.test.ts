import { describe, expect, it } from 'vitest';
import { findCallable, findSkill } from '../../../../src/core/registry/lookup.js';
import { CODE, EMPTY, given, problemsOf, refusals, registryOf, TRANSFORM } from './build.js';

const parsed = (text: string): unknown => JSON.parse(text);

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let n = 0; n < levels; n++) value = { a: value };
  return value;
}

function aliased(): unknown {
  let value: unknown[] = ['lol'];
  for (let n = 0; n < 30; n++) value = [value, value];
  return value;
}

const cyclic: Record<string, unknown> = { name: 'c', code: CODE };
cyclic.graph = cyclic;

const moody = {
  name: 'm',
  get code(): string {
    throw new Error('not today');
  },
};

describe('a hostile document', () => {
  it.each<[string, unknown, string[]]>([
    ['too deep', { name: 'd', graph: nested(65) }, ['TOO_DEEP graph.a.a']],
    ['far too deep', { name: 'd', graph: nested(100_000) }, ['TOO_DEEP graph.a.a']],
    ['in a circle', cyclic, ['TOO_DEEP graph.graph']],
    ['too large', { name: 'd', code: 'x'.repeat(300_000) }, ['TOO_LARGE']],
    ['of many small things', { name: 'd', command: Array(200_000).fill('') }, ['TOO_LARGE']],
    ['that is small until its aliases are followed', { name: 'd', graph: { a: aliased() } }, ['TOO_LARGE']],
    ['with a date', { name: 'd', code: CODE, annotations: { at: new Date(0) } }, ['NOT_JSON annotations.at']],
    ['with a function', { name: 'd', code: () => 1 }, ['NOT_JSON code']],
    [
      'with numbers out of range',
      { name: 'd', graph: { a: Number.NaN, b: 1n } },
      ['NOT_JSON graph.a', 'NOT_JSON graph.b'],
    ],
    ['with a class of its own', { name: 'd', graph: new Map() }, ['NOT_JSON graph']],
    ['that throws when it is read', moody, ['NOT_JSON']],
    [
      'with a key __proto__',
      parsed('{"name":"d","code":"x","__proto__":{"a":1}}'),
      ['FORBIDDEN_KEY __proto__'],
    ],
    [
      'with a key __proto__ far inside',
      parsed('{"name":"d","graph":{"a":[{"__proto__":{}}]}}'),
      ['FORBIDDEN_KEY graph.a[0].__proto__'],
    ],
    ['with keys of Object’s own', { name: 'd', code: CODE, constructor: 1 }, ['UNKNOWN_KEY constructor']],
    ['of a kind of Object’s own', { name: 'd', code: CODE, kind: 'toString' }, ['UNKNOWN_KIND kind']],
    ['of a source of Object’s own', { name: 'd', code: CODE, source: 'valueOf' }, ['NOT_ALLOWED source']],
    ['null', null, ['NOT_AN_OBJECT']],
    ['undefined', undefined, ['NOT_JSON']],
    ['a text', 'name: x', ['NOT_AN_OBJECT']],
  ])('%s is refused, and nothing breaks', (_, value, expected) => {
    const told = refusals(given('tool', value));
    expect(told).toHaveLength(expected.length);
    for (const [n, each] of expected.entries()) expect(told[n]?.startsWith(each)).toBe(true);
  });

  it('does no harm by names of Object’s own', () => {
    const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty'];
    const registry = registryOf([
      ...given('tool', ...names.map((name) => ({ name, code: CODE, input_schema: { type: 'object' } }))),
      ...given('validation', {
        name: 'v',
        wraps: 'constructor',
        transform: TRANSFORM,
        argument_mapping: { constructor: { from: 'toString' } },
      }),
    ]);
    expect(registry.entries.size).toBe(5);
    expect(findCallable(EMPTY, 'constructor')).toBeUndefined();
    expect(findCallable(EMPTY, '__proto__')).toBeUndefined();
    expect(findSkill(EMPTY, 'toString')).toBeUndefined();
    expect(refusals(given('skill', { name: 's', tools: ['__proto__'] }))).toEqual(['UNKNOWN_TOOL tools[0]']);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  it('may leave a field undefined, as a library’s callers do', () => {
    expect(
      refusals(given('tool', { name: 'd', code: CODE, timeout: undefined, description: undefined })),
    ).toEqual([]);
  });

  it('at the limits is accepted', () => {
    const annotations = { readOnlyHint: true, ...(nested(62) as object) };
    const remote = { name: 'd', mcp_server: 's', mcp_tool_name: 't', annotations };
    expect(refusals(given('tool', remote))).toEqual([]);
    expect(refusals(given('tool', { name: 'd', code: 'x'.repeat(261_000) }))).toEqual([]);
  });

  it('among thousands is told by its own place', () => {
    const values = Array.from({ length: 2_000 }, (_, n) => ({
      name: `t${n}`,
      code: n === 1_500 ? '' : CODE,
    }));
    const documents = values.map((value, line) => ({ file: 'all.yaml', line, kind: 'tool' as const, value }));
    expect(problemsOf(documents)).toMatchObject([{ line: 1_500, path: 'code' }]);
  });
});
