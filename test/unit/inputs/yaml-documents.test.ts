import { describe, expect, it } from 'vitest';
import { type ReadAnswer, readJson, readYaml } from '../../../src/inputs/yaml-documents.js';

const SPLIT = { split: true };
const WHOLE = { split: false };

function documentsOf(answer: ReadAnswer) {
  if ('problems' in answer) throw new Error(JSON.stringify(answer.problems));
  return answer.documents.map(({ line, value }) => ({ line, value }));
}

/** Lines of paths in the last document. */
function linesIn(answer: ReadAnswer, ...paths: string[]) {
  if ('problems' in answer) throw new Error(JSON.stringify(answer.problems));
  return paths.map((path) => answer.documents.at(-1)?.lineOf(path));
}

function problemsOf(answer: ReadAnswer) {
  if ('documents' in answer) throw new Error(`read ${JSON.stringify(answer.documents).slice(0, 200)}`);
  return answer.problems;
}

describe('YAML', () => {
  it('gives each document of a text with its line, and passes over empty ones', () => {
    const text = '# first\nname: a\n---\n---\n# third\n\nname: b\n';
    expect(documentsOf(readYaml(text, SPLIT))).toEqual([
      { line: 2, value: { name: 'a' } },
      { line: 7, value: { name: 'b' } },
    ]);
    expect(documentsOf(readYaml('# only this\n', SPLIT))).toEqual([]);
  });

  it('takes a list for as many documents when it is asked to', () => {
    const text = '- name: a\n- name: b\n';
    expect(documentsOf(readYaml(text, SPLIT)).map(({ line }) => line)).toEqual([1, 2]);
    expect(documentsOf(readYaml(text, WHOLE))).toEqual([{ line: 1, value: [{ name: 'a' }, { name: 'b' }] }]);
  });

  it('knows the line of a key, of an item, and of what is above where something is missing', () => {
    const text =
      'name: z\n---\nname: a\ninput_schema:\n  properties: &p\n    "odd key": 1\nother: *p\nlist:\n  - x\n  - y: 1\n';
    const paths = ['name', 'input_schema.properties["odd key"]', 'input_schema.properties.gone.deep'];
    expect(linesIn(readYaml(text, SPLIT), ...paths)).toEqual([3, 6, 5]);
    const more = ['other["odd key"]', 'list[1].y', 'list[7]', 'gone', ''];
    expect(linesIn(readYaml(text, SPLIT), ...more)).toEqual([7, 10, 8, 3, 3]);
    expect(linesIn(readYaml('- name: a\n- name: b\n  code: 1\n', SPLIT), 'code', '')).toEqual([3, 2]);
  });

  it('follows anchors', () => {
    const text = 'a: &a {x: 1}\nb: *a\n';
    expect(documentsOf(readYaml(text, WHOLE))[0]?.value).toEqual({ a: { x: 1 }, b: { x: 1 } });
  });

  it('keeps words that YAML 1.1 took for booleans, and keys that look like methods', () => {
    const text = 'on: yes\nno: off\nconstructor: x\n__proto__: y\n';
    const [document] = documentsOf(readYaml(text, WHOLE));
    expect(Object.entries(document?.value as object)).toEqual([
      ['on', 'yes'],
      ['no', 'off'],
      ['constructor', 'x'],
      ['__proto__', 'y'],
    ]);
  });

  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]']
    .concat([...'bcdefg'].map((key, n) => `${key}: &${key} [${Array(9).fill(`*${'abcdef'[n]}`)}]`))
    .join('\n');

  it.each([
    ['a key that appears twice', 'a: 1\nb: 2\na: 3\n', 'DUPLICATE_KEY', 3],
    ['a tag of its own', 'a: 1\nb: !secret x\n', 'CUSTOM_TAG', 2],
    ['a tag of a language', 'a: !!js/function "x"\n', 'CUSTOM_TAG', 1],
    ['bytes', 'a: !!binary aGk=\n', 'NOT_JSON', 1],
    ['a date of YAML 1.1', '%YAML 1.1\n---\na: 2001-01-01\n', 'NOT_JSON', 3],
    ['a number that JSON does not have', 'ok: 1\na: .nan\n', 'NOT_JSON', 2],
    ['a number for a key', 'ok: 1\n2: x\n', 'KEY_NOT_TEXT', 2],
    ['a number for a key beside exit codes', 'exit_codes: {1: {2: x}}\n', 'KEY_NOT_TEXT', 1],
    ['an exit code that is no whole number', 'exit_codes: {1.5: fail}\n', 'KEY_NOT_TEXT', 1],
    ['an exit code twice', 'exit_codes:\n  1: fail\n  "1": pass\n', 'DUPLICATE_KEY', 3],
    ['a boolean for a key', 'true: x\n', 'KEY_NOT_TEXT', 1],
    ['a mapping for a key', '? {x: 1}\n: y\n', 'KEY_NOT_TEXT', 1],
    ['an alias for a key', 'a: &a x\n*a : y\n', 'KEY_NOT_TEXT', 2],
    ['aliases that stand for too much', bomb, 'ALIASES', 1],
    ['an alias without an anchor', 'b: *a\n', 'ALIASES', 1],
    ['a list that contains itself', 'a: &a [*a]\n', 'TOO_DEEP', 1],
    ['nesting without end', '['.repeat(5000), 'TOO_DEEP', 1],
    ['deep nesting', `a: ${'['.repeat(300)}${']'.repeat(300)}\n`, 'TOO_DEEP', 1],
    ['keys within keys', '? '.repeat(5000), 'TOO_DEEP', 1],
    ['a tab for indentation', 'a:\n\tb: 1\n', 'SYNTAX', 2],
    ['a bracket that is never closed', 'a: [1\nb: 2\n', 'SYNTAX', 2],
  ])('refuses %s with one code and its line', (_name, text, code, line) => {
    const [problem] = problemsOf(readYaml(text, WHOLE));
    expect(problem).toMatchObject({ code, line });
  });

  it('tells of every document of a text, but not of more than helps', () => {
    const two = problemsOf(readYaml('a: 1\na: 2\n---\nb: !x y\n', WHOLE));
    expect(two.map(({ code }) => code)).toEqual(['DUPLICATE_KEY', 'CUSTOM_TAG']);
    expect(problemsOf(readYaml('a: 1\n'.repeat(1000), WHOLE))).toHaveLength(20);
  });

  it('tells one error of syntax of a document: the others mostly follow from it', () => {
    const text = 'a: [1\nb: "x\nc: }\n';
    expect(problemsOf(readYaml(text, WHOLE)).map(({ code }) => code)).toEqual(['SYNTAX']);
  });

  it('names where in the document a value is that JSON does not have', () => {
    const [problem] = problemsOf(readYaml('a:\n  - b: .inf\n', WHOLE));
    expect(problem).toMatchObject({ path: 'a[0].b', code: 'NOT_JSON' });
  });
});

describe('JSON', () => {
  it('knows the line of each path', () => {
    const text = '{"a": {\n  "b c": [1,\n 2]},\n "d": 1}';
    const paths = ['a', 'a["b c"][1]', 'a.gone', 'd', ''];
    expect(linesIn(readJson(text, WHOLE), ...paths)).toEqual([1, 3, 1, 4, 1]);
    expect(linesIn(readJson('[{"a": 1},\n{\n"a": 2}]', SPLIT), 'a', 'b', '')).toEqual([3, 2, 2]);
  });

  it('gives a list’s items with their lines when it is asked to', () => {
    const text = '\n[\n  {"name": "a"},\n  {\n    "name": "b"\n  }\n]\n';
    expect(documentsOf(readJson(text, SPLIT)).map(({ line }) => line)).toEqual([3, 4]);
    expect(documentsOf(readJson(text, WHOLE))).toMatchObject([{ line: 2 }]);
    expect(documentsOf(readJson('[]', SPLIT))).toEqual([]);
  });

  it.each([
    ['a key that appears twice', '{"a": 1,\n "a": 2}', 'DUPLICATE_KEY', 2],
    ['what is no JSON', '{"a": 1,\n}', 'SYNTAX', 2],
    ['deep nesting', '['.repeat(200), 'TOO_DEEP', 1],
  ])('refuses %s', (_name, text, code, line) => {
    expect(problemsOf(readJson(text, WHOLE))[0]).toMatchObject({ code, line });
  });
});
